"""Holds the clock fixed: a straight trend, and the day and the week where the record has two of them.

What drifts, or follows the day, agrees with everything else that does, without touching it.  The clocks are columns of
sums of products as signals are, and are taken out of every other column before an estimate is made (Frisch and Waugh),
so that no estimator needs to know of them.
SOURCE: Frisch and Waugh 1933; Lovell 1963 (seasonal adjustment).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Column, Grams

DAY, WEEK = 86_400.0, 604_800.0  # seconds
TURNS = 2  # days that a record needs before what follows the day can be told from a drift
FINEST = 8  # samples of a day, at least
PERIODS: Mapping[str, tuple[float, float]] = {  # name -> (period, the cycle of which the record needs two)
    "day": (DAY, DAY), "half day": (DAY / 2, DAY), "third of a day": (DAY / 3, DAY),
    "week": (WEEK, WEEK), "half week": (WEEK / 2, WEEK), "third of a week": (WEEK / 3, WEEK),
}  # fmt: skip


@dataclass(frozen=True)
class Clocks:
    """The clocks of a record: its trend from `start` over `span` seconds, and the cycles that it shows twice."""

    start: float
    span: float
    cycles: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the clocks add."""
        parts = [f"clock: {name}, {part}" for name in self.cycles for part in ("sine", "cosine")]
        return tuple((name, 0) for name in ("clock: trend", *parts))

    def added(self, series: Series) -> Series:
        """The series with the clocks as further signals."""
        turns = [2 * np.pi * series.times / PERIODS[name][0] for name in self.cycles]
        parts = [part(turn) for turn in turns for part in (np.sin, np.cos)]
        trend = 2 * (series.times - self.start) / self.span - 1
        names = (*series.names, *(name for name, _ in self.columns))
        return Series(names, np.column_stack([series.values, trend, *parts]), series.step, series.start)


def clocks_of(*records: Series) -> Clocks:
    """The clocks that all these records show."""
    span = min(max(len(series), 1) * series.step for series in records)
    step = max(series.step for series in records)
    return clocks_over(min(series.start for series in records), span, step)


def clocks_over(start: float, span: float, step: float) -> Clocks:
    """The clocks of a record of `span` seconds."""
    shown = [name for name, (_, cycle) in PERIODS.items() if span >= TURNS * cycle and step <= DAY / FINEST]
    return Clocks(start, span, tuple(shown))


def held_fixed(products: Grams, sums: Floats, clocks: Sequence[Column]) -> Floats:
    """Sums of products (replicates first) of what the clocks do not explain of each column; means stay."""
    if not clocks:
        return sums
    places = products.index(clocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.nan_to_num(sums[:, 0, places] / sums[:, :1, 0])
    across = sums[:, places, :] - middle[:, :, None] * sums[:, None, 0, :]
    inner = np.linalg.pinv(across[:, :, places], rcond=1e-10, hermitian=True)
    return np.asarray(sums - across.transpose(0, 2, 1) @ inner @ across, np.float64)
