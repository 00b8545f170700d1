"""Runs the ticker of a probe: when each probe is sent, and when the last of its misses is known.

SOURCE: kubelet's prober keeps one tick of a ticker and waits for the answer of a probe before it takes
the next; probe k+1 is sent at the later of its tick and the end of probe k (conditions T5).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction


def probes(first: Fraction, every: Fraction, waits: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields (sent, given up) of probes that nothing answers: ticks every `every` from `first`, each waits `waits`."""
    tick = free = first
    while True:
        sent = max(tick, free)
        free = sent + waits
        yield sent, free
        tick += every
        while tick + every <= free:  # a ticker keeps one tick: what it could not deliver is lost
            tick += every


def fires(first: Fraction, every: Fraction, misses: int, waits: Fraction) -> Fraction:
    """Returns when the last of `misses` probes in a row is given up."""
    for count, (_, end) in enumerate(probes(first, every, waits), 1):
        if count == misses:
            return end
    raise AssertionError("a ticker never stops")
