"""Reads loops as maps: the direction in which they move a signal, and where writers of one field rest."""
