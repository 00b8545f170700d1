"""Renders lines of coloured segments with ANSI codes."""

from __future__ import annotations

from collections.abc import Iterable

Segment = tuple[str, str]  # (text, style)
Line = list[Segment]

STYLES = {
    "plain": "",
    "bold": "1",
    "dim": "2",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "undecided": "1;36",
    "note": "1;36",
    "proved": "1;32",
    "gutter": "1;34",
    "other": "1;34",
    "removed": "31",
    "added": "32",
}


def paint(line: Iterable[Segment], *, colour: bool) -> str:
    """Returns the line as text, with ANSI codes only when asked; no space at its end."""
    if not colour:
        return "".join(text for text, _ in line).rstrip()
    return "".join(f"\x1b[{STYLES[style]}m{text}\x1b[0m" if STYLES[style] else text for text, style in line).rstrip()


class Canvas:
    """One line of cells that can be written at any column."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: Line = []

    def put(self, column: int, text: str, style: str) -> None:
        """Writes `text` from `column` (counted from 0), over what stood there."""
        self.cells += [(" ", "plain")] * (column + len(text) - len(self.cells))
        self.cells[column : column + len(text)] = [(character, style) for character in text]

    def line(self) -> Line:
        """Returns the line, with neighbouring cells of one style joined to a segment."""
        joined: Line = []
        for text, style in self.cells:
            if joined and joined[-1][1] == style:
                joined[-1] = (joined[-1][0] + text, style)
            else:
                joined.append((text, style))
        return joined
