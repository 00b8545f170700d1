"""Turns queueing formulas into demands on the number of servers."""
