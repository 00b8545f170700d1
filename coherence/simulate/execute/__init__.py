"""Runs a Model alone: exactly, over rationals, or in floats with events."""
