"""Sampled loops of several rates: one lap as a matrix, and its multipliers."""
