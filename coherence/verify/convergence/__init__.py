"""Proofs of `eventually`: chains of sets, and Lyapunov functions."""
