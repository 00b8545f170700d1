"""Encodes a Model as a piecewise-affine transition system, the one input of the unbounded prover."""
