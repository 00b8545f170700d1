"""Computes when timers fire, which event comes first, and what recurs."""
