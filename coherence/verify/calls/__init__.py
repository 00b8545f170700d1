"""Deadlines, tries and pauses along the calls of a design, as exact arithmetic."""
