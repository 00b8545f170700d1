"""Finds where proportional writers of one field rest, and states in which two of them never rest together.

A scaler moves x to ceil(x * y / s), y the signal and s its setpoint, unless |y / s - 1| <= tolerance,
and then into its bounds.  At a signal y it rests on an interval of x; two scalers agree where their
intervals meet.  SOURCE: Kubernetes documentation, Horizontal Pod Autoscaling, Algorithm details.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Tree
from coherence.model.laws import recommended, scaled

MOST_MEMBERS = 64  # up to which count the search over loads goes


@dataclass(frozen=True)
class Scaler:
    """A proportional law between `low` and `high`; `setpoint` > 0; `whole`: it rounds up to whole members."""

    signal: Tree
    setpoint: Fraction
    tolerance: Fraction
    low: Fraction
    high: Fraction
    whole: bool

    @property
    def pinned(self) -> bool:
        return self.low == self.high

    def next(self, x: Fraction, y: Fraction) -> Fraction:
        """Returns where it moves x when it reads y."""
        wanted = recommended(scaled(self.tolerance, whole=self.whole), x, y / self.setpoint)
        return min(self.high, max(self.low, Fraction(wanted)))

    def rests(self, y: Fraction) -> tuple[Fraction, Fraction]:
        """Returns the smallest and the largest x that it leaves alone while it reads y (all whole x between them too).

        An x of 0 that is asked for more counts as left by whatever activates it.
        """
        ratio = y / self.setpoint
        if abs(ratio - 1) <= self.tolerance:
            return self.low, self.high
        if ratio > 1:
            return self.high, self.high
        stuck = Fraction(math.ceil(1 / (1 - ratio)) - 1) if self.whole else self.low  # x (1 - ratio) < 1
        return self.low, max(self.low, min(self.high, stuck))


def agree(first: Scaler, second: Scaler, y: Fraction) -> bool:
    """Decides whether some x is left alone by both while both read y."""
    (a, b), (c, d) = first.rests(y), second.rests(y)
    return max(a, c) <= min(b, d)


def same(first: Scaler, second: Scaler) -> bool:
    """Decides whether they are the same map."""
    return first == second or (first.pinned and second.pinned and first.low == second.low)


def fighting_signal(first: Scaler, second: Scaler) -> Fraction | None:
    """Returns a value of the signal that both read at which no x is left alone by both; None where none was found.

    The resting intervals change only at the edges of the tolerances and shrink towards smaller signals
    between them, so values just above each edge, one near zero and one beyond all edges suffice.
    """
    edges = sorted({s.setpoint * (1 + sign * s.tolerance) for s in (first, second) for sign in (-1, 1)})
    for low, y in _candidates(edges):
        if not agree(first, second, y):
            plain = _simplest(low, y)
            return y if agree(first, second, plain) else plain
    return None


def _candidates(edges: list[Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields (edge, signal just above it); fewer x are left alone the closer the signal is to the edge."""
    for low, high in itertools.pairwise(edges):
        yield from ((low, low + (high - low) / share) for share in (2, 4, 16, 1024))
    yield (edges[-1], edges[-1] * 2)
    yield (Fraction(0), max(edges[0], Fraction(0)) / 1024)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Returns the number with the smallest denominator in (low, high], up to 1000."""
    for denominator in range(1, 1001):
        candidate = Fraction(math.floor(low * denominator) + 1, denominator)
        if candidate <= high:
            return candidate
    return high


def fighting_load(first: Scaler, second: Scaler) -> Fraction | None:
    """Returns a load, shared evenly by x members (each reads load / x), at which no x is left alone by both."""
    low, high = max(first.low, second.low, Fraction(1)), min(first.high, second.high, Fraction(MOST_MEMBERS))
    shares = [s.setpoint * (1 + sign * s.tolerance) for s in (first, second) for sign in (-1, 0, 1)]
    ordered = sorted({share * n for share in shares for n in _counts(low, high)})
    between = ((a + b) / 2 for a, b in itertools.pairwise(ordered))
    return next((load for load in between if load > 0 and not _settled(first, second, load)), None)


def _counts(low: Fraction, high: Fraction) -> range:
    return range(math.ceil(low), math.floor(high) + 1)


def _settled(first: Scaler, second: Scaler, load: Fraction) -> bool:
    """Decides whether some number of members is left alone by both.  Beyond `most` each of them would reduce it."""
    if max(first.tolerance, second.tolerance) >= 1:
        return True
    low = max(first.low, second.low, Fraction(1))
    most = max(low, *(Fraction(math.ceil(load / s.setpoint / (1 - s.tolerance)) + 1) for s in (first, second)))
    members = _counts(low, min(first.high, second.high, most))
    return any(first.next(Fraction(n), load / n) == n == second.next(Fraction(n), load / n) for n in members)
