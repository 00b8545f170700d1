"""Splits measured losses into floors, schemes and a rest, and composes floors of a whole from those of its parts."""
