"""Limit cycles of loops that switch, exactly."""
