"""Explores jobs, gangs, evictors and placers as finite relations, exactly."""
