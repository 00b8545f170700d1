"""Explores the values of a design's numbers: regions, half-spaces, sweeps, smallest repairs of a whole design."""
