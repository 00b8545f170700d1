"""Compares a request log with its coordinated twin: the machine that serves the same arrivals without overhead."""
