"""Loops as maps: which way they move what they write, and where writers of one field rest."""
