"""Texts of values of a design, for tests that compare them."""

from __future__ import annotations


def text(value: object) -> str:
    """Returns a value as it was written: a quantity without its place."""
    return str(getattr(value, "text", value))
