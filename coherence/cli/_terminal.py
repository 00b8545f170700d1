"""Decides about colours, and keeps control characters and credentials of foreign text off what is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from coherence.base.outside_text import masked_lines, printable


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


class _Safe:
    """A text stream that shows no credentials; with `escaping` nothing on it moves the cursor, rings, or sets a title.

    The bar of progress moves the cursor, and stands on standard error.
    """

    def __init__(self, stream: TextIO, *, escaping: bool) -> None:
        self._stream, self._escaping = stream, escaping

    def write(self, text: str) -> int:
        """Writes the text with stars for credentials, and unsafe characters as escapes."""
        shown = masked_lines(text)
        self._guarded(lambda: self._stream.write(printable(shown) if self._escaping else shown))
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
def safe_output() -> Iterator[None]:
    """Within, both outputs hide credentials, and standard output shows controls but tabs and colours as escapes."""
    out, error = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Safe(out, escaping=True), _Safe(error, escaping=False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, error
