"""Maps over settings: regions, half-spaces, sweeps, and the smallest change of a whole design."""
