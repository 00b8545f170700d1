"""Splits a loss over its causes: declared mechanisms, exact Shapley shares, loops off, windows, changes, variance."""
