"""Answers of the causal engine: tables, numbers and intervals."""
