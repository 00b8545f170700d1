"""Draws a progress bar on standard error: one line, redrawn in place, only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from coherence.cli._terminal import draws

WIDTH = 30
_EVERY = 0.1  # s between drawings
_SILENT = 1.0  # s after which the line is drawn again where nothing was heard, so that it shows how long that is


class Progress:
    """`with Progress("simulating") as bar: bar(0.25)`: draws nothing where standard error is no terminal."""

    def __init__(self, label: str) -> None:
        self.label, self.shown, self.share = label, draws(sys.stderr), 0.0
        self.begun = self.drawn = time.monotonic()

    def __enter__(self) -> Self:
        if self.shown:
            import threading

            self._over, self._lock = threading.Event(), threading.RLock()
            self._ticks = threading.Thread(target=self._tick, daemon=True)
            self._ticks.start()
        return self

    def __call__(self, share: float, label: str = "") -> None:
        """Draws the share done, from 0 to 1, and the seconds that are left."""
        self.share, self.label = min(1.0, max(0.0, share)), label or self.label
        if self.shown and time.monotonic() - self.drawn >= _EVERY:
            self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        full, spent = round(self.share * WIDTH), now - self.begun
        rest = f"{spent * (1 - self.share) / self.share:.0f} s left" if self.share else f"{spent:.0f} s"
        with self._lock:
            self.drawn = now
            line = f"{self.label} [{'#' * full}{'.' * (WIDTH - full)}] {self.share:4.0%}, {rest}"
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()

    def _tick(self) -> None:
        while not self._over.wait(_SILENT):
            if time.monotonic() - self.drawn >= _SILENT:
                self._draw()

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Takes the line away while something is printed."""
        if not self.shown:
            yield
            return
        with self._lock:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            yield

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            self._over.set()
            self._ticks.join()
            with self.cleared():
                pass
