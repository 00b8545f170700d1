"""Reads text as a Design: the vocabulary, every value with its place, names, dimensions, parts."""
