"""Runs one call: its tries start, end and pause one after the other, in exact seconds.

This is the referee of the closed forms: nothing is summed ahead, every pause grows out of the one
before it, and a nested layer begins its pauses anew in each try of the layer around it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

Send = tuple[int, Fraction, Fraction | None]  # (number from 1, start, end; None: it never ends)


@dataclass(frozen=True)
class Pauses:
    """Pauses after tries 1, 2, ...: `first`, then `factor` times the one before, each cut at `cap`."""

    first: Fraction = Fraction(0)
    factor: Fraction = Fraction(1)
    cap: Fraction | None = None

    def __iter__(self) -> Iterator[Fraction]:
        pause = self.first
        while True:
            yield pause if self.cap is None else min(pause, self.cap)
            if self.cap is None or pause < self.cap:
                pause *= self.factor


def sends(tries: tuple[int | None, ...], takes: Fraction | None, pauses: Pauses) -> Iterator[Send]:
    """Yields the sends of one call: `tries` by layer, outermost first (None: endless); each takes `takes` and fails."""
    now: Fraction | None = Fraction(0)
    for number, gap in enumerate(_gaps(tries, pauses), 1):
        if now is None:
            return
        now = now + gap
        end = None if takes is None else now + takes
        yield number, now, end
        now = end


def _gaps(tries: tuple[int | None, ...], pauses: Pauses) -> Iterator[Fraction]:
    """Yields the pause before each send, 0 before the first."""
    if not tries:
        yield Fraction(0)
        return
    turns = itertools.repeat(None) if tries[0] is None else itertools.repeat(None, tries[0])
    waits = itertools.chain((Fraction(0),), pauses)
    for _, wait in zip(turns, waits, strict=False):
        inner = _gaps(tries[1:], pauses)
        yield wait + next(inner)
        yield from inner
