"""Reads what follows from single entries of a design: actions, jitter, probes, sends that are counted, omissions."""
