"""Converts a fitted network to a joint distribution in pgmpy and back; holds networks that others published."""
