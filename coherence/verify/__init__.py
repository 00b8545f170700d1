"""Conflicting policies and proofs: which loops disturb each other, and why the others never will."""
