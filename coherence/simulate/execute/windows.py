"""Keeps what windows look at, and means as running sums, so that no run evaluates the past again at each instant.

The time axis of a windowed expression is cut where it may change (`Lookback.cuts`).  Between two cuts that are both
over, its mean and its largest value never change again and are kept; so are the integrals as prefix sums, so that a
mean over a window takes the difference of two of them and the two ends that the window cuts.  In rationals this is the
same number as the sum; in floats the pieces are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from coherence.base.bisection import Moments

Num = Any
Levels = tuple[Num, Num]  # the mean and the largest value of the expression
Level = Callable[[Fraction, Fraction], Levels]  # between two times without a cut between them
MOST = 4096  # cuts that are kept before those that no window reaches any more are dropped


class Sums:
    """The integrals of one expression from its first cut to each later one, and its levels between two of them.

    `since`: from when on all cuts are known.
    """

    __slots__ = ("between", "moments", "since", "total")

    def __init__(self, since: Fraction) -> None:
        self.since = since
        self.moments = Moments()  # of the cuts
        self.total: list[Num] = []
        self.between: list[Levels] = []

    def copy(self) -> Sums:
        """Returns the same sums, to go on from."""
        made = Sums(self.since)
        made.moments, made.total, made.between = self.moments.since(0), list(self.total), list(self.between)
        return made

    @property
    def at(self) -> list[Fraction]:
        """Returns the cuts."""
        return self.moments.exact

    def extend(self, cuts: Iterable[Fraction], level: Level) -> None:
        """More cuts, ascending and later than those known."""
        for cut in cuts:
            if self.at:
                self.between.append(level(self.at[-1], cut))
                self.total.append(self.total[-1] + self.between[-1][0] * (cut - self.at[-1]))
            else:
                self.total.append(Fraction(0))
            self.moments.append(cut)

    def pieces(self, start: Fraction, end: Fraction, level: Level) -> Iterator[tuple[Fraction, Num, Num]]:
        """Yields (length, mean, largest) of each piece from `start` (not before `since`) to `end`."""
        first, last = self.moments.until(start), self.moments.before(end) - 1
        if first > last:
            yield (end - start, *level(start, end))
            return
        yield (self.at[first] - start, *level(start, self.at[first]))
        for k in range(first, last):
            yield (self.at[k + 1] - self.at[k], *self.between[k])
        yield (end - self.at[last], *level(self.at[last], end))

    def integral(self, start: Fraction, end: Fraction, level: Level) -> Num:
        """From `start` (not before `since`) to `end`, up to which all cuts are known."""
        first, last = self.moments.until(start), self.moments.before(end) - 1
        if first > last:
            return level(start, end)[0] * (end - start)
        low, high = self.at[first], self.at[last]
        inside = self.total[last] - self.total[first]
        return level(start, low)[0] * (low - start) + inside + level(high, end)[0] * (end - high)

    def forget(self, start: Fraction) -> None:
        """Drop what lies before a time, once it is much; sums begin at 0 again, so that they stay short."""
        first = self.moments.until(start) - 1 if len(self.at) > MOST else 0
        if first > MOST // 2:
            zero = self.total[first]
            self.moments, self.total = self.moments.since(first), [total - zero for total in self.total[first:]]
            self.between = self.between[first:]
            self.since = self.at[0]
