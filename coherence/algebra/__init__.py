"""Polynomials over the rationals: exact root counts that engines share."""
