"""Measures the period of a swing on a run: the time between passages upward through the middle of it.

>>> rows = [[math.sin(math.tau * k / 40.5) for k in range(400)]]
>>> f"{measured_period(rows, 0.1):.4f}"
'4.0500'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

LEAST = 3  # intervals that must agree
APART = 0.05  # relative: intervals that differ by more (than by the instants of a sampled loop) are of no one period
ARMED = 0.25  # of the swing below the middle: a row that has not been there has not turned


def measured_period(rows: Sequence[Sequence[float]], step: float) -> float | None:
    """Returns the period of rows read every `step` seconds, in their unit; None where no row repeats itself.

    A swing with several passages a period is measured from each to the one that follows after a whole period.  The rows
    with the fewest passages tell: at the instants of a sampled loop a command repeats itself after several swings only.
    Of these the longest, since a product turns twice as often as its factors, as the row whose intervals differ least
    shows it: a command that moves in steps is passed late.
    """
    measured = [fit for row in rows for fit in (_regular(_passages(row)),) if fit is not None]
    fewest = min((turns for turns, _, _ in measured), default=0)
    simple = [(apart, mean) for turns, apart, mean in measured if turns == fewest]
    longest = max((mean for _, mean in simple), default=0.0)
    return min(((apart, mean) for apart, mean in simple if mean >= (1 - APART) * longest))[1] * step if simple else None


def _passages(row: Sequence[float]) -> list[float]:
    """Returns where the row rises through its middle, in steps, with straight lines between its points."""
    low, high = min(row), max(row)
    middle, armed = (low + high) / 2, False
    passages = []
    for k, (a, b) in enumerate(pairwise(row)):
        armed = armed or a < middle - ARMED * (high - low)
        if armed and a < middle <= b:
            passages.append(k + (middle - a) / (b - a))
            armed = False
    return passages


def _regular(passages: Sequence[float]) -> tuple[int, float, float] | None:
    """Returns (passages a period, how much intervals differ, their mean) for the fewest passages that may be one."""
    for turns in range(1, len(passages) - LEAST + 1):
        intervals = [b - a for a, b in zip(passages, passages[turns:], strict=False)]
        mean = math.fsum(intervals) / len(intervals)
        apart = (max(intervals) - min(intervals)) / mean
        if apart <= APART:
            return turns, apart, mean
    return None
