"""Runs of jobs, evictors and placers, event by event."""
