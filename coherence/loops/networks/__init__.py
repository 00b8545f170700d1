"""Verdicts on networks of blocks with exact delays, continuous or sampled."""
