"""Runs a Model at many parameter points at once."""
