"""Proofs without a bound: invariants guessed in floats and proved in rationals."""
