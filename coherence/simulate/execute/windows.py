"""Keeps window means as running sums, so that an exact run does not add them up again at each instant.

The time axis of a windowed expression is cut where it may change (`Lookback.cuts`).  Between two cuts that are both
over, its mean never changes again: their integrals are kept as prefix sums, so that a mean over a window takes the
difference of two of them and the two ends that the window cuts.  In rationals this is the same number as the sum.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

Num = Any
Level = Callable[[Fraction, Fraction], Num]  # the mean of the expression between two times without a cut between them
MOST = 4096  # cuts that are kept before those that no window reaches any more are dropped


class Sums:
    """The integrals of one expression from its first cut to each later one.

    `since`: from when on all cuts are known.
    """

    __slots__ = ("at", "since", "total")

    def __init__(self, since: Fraction) -> None:
        self.since = since
        self.at: list[Fraction] = []
        self.total: list[Num] = []

    def copy(self) -> Sums:
        """Returns the same sums, to go on from."""
        made = Sums(self.since)
        made.at, made.total = list(self.at), list(self.total)
        return made

    def extend(self, cuts: Iterable[Fraction], level: Level) -> None:
        """More cuts, ascending and later than those known."""
        for cut in cuts:
            last = self.at[-1] if self.at else cut
            self.total.append(self.total[-1] + level(last, cut) * (cut - last) if self.at else Fraction(0))
            self.at.append(cut)

    def integral(self, start: Fraction, end: Fraction, level: Level) -> Num:
        """From `start` (not before `since`) to `end`, up to which all cuts are known."""
        first, last = bisect.bisect_right(self.at, start), bisect.bisect_left(self.at, end) - 1
        if first > last:
            return level(start, end) * (end - start)
        low, high = self.at[first], self.at[last]
        inside = self.total[last] - self.total[first]
        return level(start, low) * (low - start) + inside + level(high, end) * (end - high)

    def forget(self, start: Fraction) -> None:
        """Drop what lies before a time, once it is much; sums begin at 0 again, so that they stay short."""
        first = bisect.bisect_right(self.at, start) - 1
        if len(self.at) > MOST and first > MOST // 2:
            zero = self.total[first]
            self.at, self.total = self.at[first:], [total - zero for total in self.total[first:]]
            self.since = self.at[0]
