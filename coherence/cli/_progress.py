"""Draws a progress bar on standard error: one line, redrawn in place, only on a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from coherence.cli._terminal import draws

WIDTH = 30
_EVERY = 0.1  # s between drawings


class Progress:
    """`with Progress("simulating") as bar: bar(0.25)`: draws nothing where standard error is no terminal."""

    def __init__(self, label: str) -> None:
        self.label, self.shown = label, draws(sys.stderr)
        self.begun = self.drawn = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, share: float, label: str = "") -> None:
        """Draws the share done, from 0 to 1, and the seconds that are left."""
        now = time.monotonic()
        if not self.shown or now - self.drawn < _EVERY:
            return
        self.drawn = now
        share = min(1.0, max(0.0, share))
        full = round(share * WIDTH)
        left = (now - self.begun) * (1 - share) / share if share else 0.0
        line = f"{label or self.label} [{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%}, {left:.0f} s left"
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
