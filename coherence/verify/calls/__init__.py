"""Computes deadlines, tries and pauses along the calls of a design, exactly."""
