"""Breaks lines at the width of the terminal; what goes to a file or a pipe keeps its lines."""

from __future__ import annotations

import shutil
import sys

NARROWEST = 40


def terminal_width() -> int | None:
    """Returns the columns of the terminal on standard output (at least 40), or None where it is none."""
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def wrapped(text: str, width: int | None) -> str:
    """Returns the text with lines of at most so many columns, words kept whole; what goes on is indented further."""
    return text if width is None else "\n".join(_line(line, width) for line in text.split("\n"))


def _line(line: str, width: int) -> str:
    import textwrap

    indent = line[: len(line) - len(line.lstrip())]
    more = f"{indent}  "
    return textwrap.fill(line.strip(), width, initial_indent=indent, subsequent_indent=more, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip
