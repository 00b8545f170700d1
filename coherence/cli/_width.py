"""Breaks lines at the width of the terminal; what goes to a file or a pipe keeps its lines."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator

NARROWEST = 40
KEPT = re.compile(r"\s*\d*\s*\||.*\S {2,}[^\s(]")  # a line of the source with its margin, or a row of a table
FENCE = "```"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def terminal_width() -> int | None:
    """Returns the columns of the terminal on standard output (at least 40), or None where it is none."""
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def wrapped(text: str, width: int | None) -> str:
    """Returns the text with lines of at most so many columns, words kept whole; what goes on is indented further.

    Lines of source, rows of tables and what stands between fences are as they were.
    """
    return text if width is None else "\n".join(_lines(text, width))


def print_text(text: str, *, nl: bool = True) -> None:
    """Prints text for people: on a terminal at its width.  nl: ends with a new line."""
    sys.stdout.write(wrapped(text, terminal_width()) + ("\n" if nl else ""))


def _lines(text: str, width: int) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.startswith(FENCE)
        plain = COLOUR.sub("", line)
        yield line if fenced or len(plain) <= width or KEPT.match(plain) else _broken(line, width)


def _broken(line: str, width: int) -> str:
    """Returns a line as several; colours take no room."""
    margin = " " * (len(line) - len(line.lstrip()))
    lines, room = [margin], width - len(margin)
    for word in line.split():
        size = len(COLOUR.sub("", word))
        if lines[-1].strip() and size + 1 > room:
            lines.append(f"{margin}  ")
            room = width - len(margin) - 2
        gap = " " if lines[-1].strip() else ""
        lines[-1] += gap + word
        room -= size + len(gap)
    return "\n".join(lines)
