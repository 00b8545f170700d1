"""Aligns rows of text as the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

WIDEST = 90  # characters to which a column is widened for a long cell


def aligned_rows(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """Returns one line per row with the cells below each other, two spaces apart; the last cell of a row is free.

    Rows may have different lengths.  Cells longer than WIDEST push the rest of their own row aside.

    >>> aligned_rows([("block", "delay"), ("a long name", "3 s")])
    ['  block        delay', '  a long name  3 s']
    """
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[k]) for row in rows if len(row) > k + 1), default=0) for k in range(count)]
    widths = [min(width, WIDEST) for width in widths]
    padded = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) for row in rows)
    return [f"{indent}{line}".rstrip() for line in padded]
