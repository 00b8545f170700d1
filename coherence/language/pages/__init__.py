"""Renders the language for people and editors: the words of its keys, the pages of its parts, its JSON Schema."""
