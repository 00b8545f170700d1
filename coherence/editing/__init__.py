"""Helps whoever writes a design in an editor: words of keys, completions, findings while typing, repairs."""
