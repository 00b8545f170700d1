"""Follows runs in numbers that are known up to rounding."""
