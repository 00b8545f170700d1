"""Derives what stated numbers allow: intervals, limits, writers, signs, and whether conditions are satisfiable."""
