"""Holds the clock fixed: a straight trend, the day and the week, and the seasons that signals have in common.

What drifts, or follows the day, agrees with everything else that does, without touching it.  A part of a day is held
fixed as well, for the record need not show a cycle to bend with it, and the day's finer shape where it recurs.  The
clocks are columns of sums of products as signals are, and are taken out of every other column before an estimate is
made (Frisch and Waugh), so that no estimator needs to know of them.
SOURCE: Frisch and Waugh 1933; Lovell 1963 (seasonal adjustment).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Column, Grams
from coherence.causal.fitting.seasons import shared_periods

DAY, WEEK = 86_400.0, 604_800.0  # seconds
PART = 0.5  # of a cycle: a record that shows less of it sees a bend that faster cycles follow
FINEST, SAMPLES = 8, 2.5  # samples of a day, and of each cycle, at least
ROWS_EACH = 12  # rows for each column of the clock, at least: the slowest cycles are held first
SLOW: Mapping[str, float] = {
    "day": DAY, "half day": DAY / 2, "third of a day": DAY / 3,
    "week": WEEK, "half week": WEEK / 2, "third of a week": WEEK / 3,
}  # fmt: skip
SHAPE: Mapping[str, float] = {"quarter of a day": DAY / 4, "fifth of a day": DAY / 5, "sixth of a day": DAY / 6}
RECURS = 2 * DAY  # from which a day has a shape: what people do turns on and off within an hour or two
PERIODS = {**SLOW, **SHAPE}


@dataclass(frozen=True)
class Clocks:
    """The clocks of a record: its trend from `start` over `span` seconds, and the cycles of which it shows a part.

    `seasons`: further periods in s; their sines may grow and drift with the record, for their period is an estimate.
    """

    start: float
    span: float
    cycles: tuple[str, ...] = ()
    seasons: tuple[float, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the clocks add."""
        parts = [f"clock: {name}, {part}" for name in self.cycles for part in ("sine", "cosine")]
        for period in self.seasons:
            parts += [f"clock: {period!r} s, {part}" for part in ("sine", "cosine", "growing sine", "growing cosine")]
        return tuple((name, 0) for name in ("clock: trend", *parts))

    def added(self, series: Series) -> Series:
        """The series with the clocks as further signals."""
        trend = 2 * (series.times - self.start) / self.span - 1
        turns = [2 * np.pi * (series.times - self.start) / PERIODS[name] for name in self.cycles]
        parts = [part(turn) for turn in turns for part in (np.sin, np.cos)]
        for period in self.seasons:
            turn = 2 * np.pi * (series.times - self.start) / period
            parts += [np.sin(turn), np.cos(turn), trend * np.sin(turn), trend * np.cos(turn)]
        names = (*series.names, *(name for name, _ in self.columns))
        return Series(names, np.column_stack([series.values, trend, *parts]), series.step, series.start)


def clocks_of(*records: Series) -> Clocks:
    """The clocks that these records show."""
    step, rows = max(series.step for series in records), min(max(len(series), 1) for series in records)
    clocks = clocks_over(min(series.start for series in records), rows, step)
    named = [PERIODS[name] for name in clocks.cycles]
    width = 1 / clocks.span
    other = [p for p in shared_periods(*records) if all(abs(1 / p - 1 / q) > width for q in named)]
    return replace(clocks, seasons=tuple(other))


def clocks_over(start: float, rows: int, step: float) -> Clocks:
    """The clocks of a record of `rows` rows, without the seasons that only its signals show."""
    span = rows * step
    least = {name: RECURS if name in SHAPE else PART * period for name, period in PERIODS.items()}
    finest = {name: min(DAY / FINEST, period / SAMPLES) for name, period in PERIODS.items()}
    shown = [name for name in PERIODS if span >= least[name] and step <= finest[name]]
    return Clocks(start, span, tuple(shown[: rows // (2 * ROWS_EACH)]))


def held_fixed(products: Grams, sums: Floats, clocks: Sequence[Column]) -> Floats:
    """Sums of products (replicates first) of what the clocks do not explain of each column; means stay."""
    if not clocks:
        return sums
    places = products.index(clocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.nan_to_num(sums[:, 0, places] / sums[:, :1, 0])
    across = sums[:, places, :] - middle[:, :, None] * sums[:, None, 0, :]
    inner = np.linalg.pinv(across[:, :, places], rcond=1e-10, hermitian=True)
    held = across.transpose(0, 2, 1) @ inner @ across
    return np.asarray(np.subtract(sums, held, out=held), np.float64)  # sums are large: no copy of them is made
