"""Queueing formulas as demands on the number of servers."""
