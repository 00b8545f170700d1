"""Writes the arithmetic of a run that recurs as SMT-LIB, so that a solver checks it again."""
