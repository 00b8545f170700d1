"""Asks all questions of all files, and keeps the answers that an edit does not change."""
