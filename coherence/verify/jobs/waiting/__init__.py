"""Decides whether jobs wait for ever: for each other, each holding a part, or while others come again."""
