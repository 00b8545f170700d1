"""Proves safety without a bound: invariants are guessed in floats and proved in rationals."""
