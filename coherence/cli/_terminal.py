"""Decides about colours, and keeps control characters of foreign text off standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from coherence.base.outside_text import printable


def is_coloured(stream: TextIO) -> bool:
    """Returns whether colours are wanted: on a terminal that has some, unless NO_COLOR; FORCE_COLOR wins.

    SOURCE: https://no-color.org, https://force-color.org (a variable that is empty counts as absent).
    """
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and not os.environ.get("NO_COLOR") and draws(stream)


def draws(stream: TextIO) -> bool:
    """Returns whether the stream is a terminal that understands more than lines."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class _Printable:
    """A text stream on which nothing moves the cursor, rings, or sets a title."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes the text with unsafe characters as escapes."""
        self._guarded(lambda: self._stream.write(printable(text)))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream."""
        self._guarded(self._stream.flush)

    def _guarded(self, act: Callable[[], object]) -> None:
        """Acts; where nobody reads any more, what is written from now on is dropped, and the command goes on."""
        try:
            act()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def printable_output() -> Iterator[None]:
    """Within, standard output shows every control character but ends of lines, tabs and colours as an escape."""
    stream = sys.stdout
    sys.stdout = _Printable(stream)
    try:
        yield
    finally:
        sys.stdout = stream
