"""Assesses a design as a whole for people: the answers of all engines on one page that stands alone."""
