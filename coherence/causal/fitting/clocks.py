"""Holds the clock fixed: a straight trend, the day and the week, and the seasons that signals have in common.

What drifts, or follows the day, agrees with everything else that does, without touching it.  A part of a day is held
fixed as well, for the record need not show a cycle to bend with it, and the day's finer shape where it recurs.  The
clocks are columns of sums of products as signals are, and are taken out of every other column before an estimate is
made (Frisch and Waugh), so that no estimator needs to know of them.

Shifts and nightly jobs start within a minute, and no few cycles follow that.  From two days on each signal's own mean
day is a column too, beside each delay at which an equation uses the signal: what is left of it then has nothing in
common with any shape of a day, as if there were a constant for each time of the day.  So is that day at the size which
each date gives it, for a weekend or a holiday has less of it.
SOURCE: Frisch and Waugh 1933; Lovell 1963 (seasonal adjustment); Mundlak 1978 (means in the place of constants).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

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
MEAN_DAY, SIZED_DAY, SIZE_OF_DAY = "clock: mean day of ", "clock: sized day of ", "clock: size of days of "


@dataclass(frozen=True)
class Clocks:
    """The clocks of a record: its trend from `start` over `span` seconds, and the cycles of which it shows a part.

    `seasons`: further periods in s; their sines may grow and drift with the record, for their period is an estimate.
    `rows`: how many there are, where the mean day of each signal is held fixed too; else 0.
    """

    start: float
    span: float
    cycles: tuple[str, ...] = ()
    seasons: tuple[float, ...] = ()
    rows: int = 0

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the clocks add for every equation."""
        parts = [f"clock: {name}, {part}" for name in self.cycles for part in ("sine", "cosine")]
        for period in self.seasons:
            parts += [f"clock: {period!r} s, {part}" for part in ("sine", "cosine", "growing sine", "growing cosine")]
        return tuple((name, 0) for name in ("clock: trend", *parts))

    def beside(self, columns: Iterable[Column]) -> tuple[Column, ...]:
        """The columns that the clocks add for an equation of these columns."""
        every = tuple(dict.fromkeys(columns))
        return (*self.columns, *(days_of(every) if self.rows >= 2 * len(every) * ROWS_EACH else ()))

    @property
    def spread(self) -> float:
        """The factor of standard errors: a day that is the mean of so many takes its part of what is by chance."""
        days = self.span / DAY
        return math.sqrt(days / (days - 1)) if self.rows else 1.0

    def added(self, series: Series) -> Series:
        """The series with the clocks as further signals."""
        trend = 2 * (series.times - self.start) / self.span - 1
        turns = [2 * np.pi * (series.times - self.start) / PERIODS[name] for name in self.cycles]
        parts = [part(turn) for turn in turns for part in (np.sin, np.cos)]
        for period in self.seasons:
            turn = 2 * np.pi * (series.times - self.start) / period
            parts += [np.sin(turn), np.cos(turn), trend * np.sin(turn), trend * np.cos(turn)]
        names = [*series.names, *(name for name, _ in self.columns)]
        if self.rows:
            shapes, sized, sizes = zip(*(days(series, name) for name in series.names), strict=True)
            parts += [part for both in zip(shapes, sized, strict=True) for part in both] + list(sizes)
            names += [name for name, _ in days_of((name, 0) for name in series.names)]
        return Series(tuple(names), np.column_stack([series.values, trend, *parts]), series.step, series.start)


def clocks_of(*records: Series) -> Clocks:
    """The clocks that these records show."""
    step, rows = max(series.step for series in records), min(max(len(series), 1) for series in records)
    clocks = clocks_over(min(series.start for series in records), rows, step)
    named = [PERIODS[name] for name in clocks.cycles]
    width = 1 / clocks.span
    other = [p for p in shared_periods(*records) if all(abs(1 / p - 1 / q) > width for q in named)]
    recurs = clocks.span >= RECURS and step <= DAY / FINEST
    return replace(clocks, seasons=tuple(other), rows=rows if recurs else 0)


def days_of(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Returns the columns that hold the days of signals, at the delays at which these are used."""
    every = tuple(columns)
    shapes = [(f"{part}{name}", lag) for name, lag in every for part in (MEAN_DAY, SIZED_DAY)]
    return (*shapes, *dict.fromkeys((f"{SIZE_OF_DAY}{name}", 0) for name, _ in every))


def days(series: Series, name: str) -> tuple[Floats, Floats, Floats]:
    """Returns the mean day of a signal less its mean, the same at the size that each day has, and these sizes.

    The size of a day is how many times the mean day it shows: 0 where people rest.
    """
    count = max(int(DAY / series.step + 1e-9), 1)
    slots = np.floor(series.times % DAY / DAY * count + 1e-9).astype(np.int64) % count
    dates = (series.times // DAY).astype(np.int64)
    dates -= dates[0] if len(dates) else 0
    values = series[name]
    known = np.isfinite(values)
    middle = float(values[known].mean()) if known.any() else 0.0
    means = _ratio(np.bincount(slots[known], values[known] - middle, count), np.bincount(slots[known], minlength=count))
    shape = means[slots]
    weight, number = np.where(known, shape, 0.0), int(dates.max(initial=0)) + 1
    level = _ratio(np.bincount(dates, weight, number), np.bincount(dates[known], minlength=number))[dates]
    weight = np.where(known, shape - level, 0.0)
    product = np.bincount(dates[known], (weight * values)[known], number)
    sizes = _ratio(product, np.bincount(dates, weight**2, number))[dates]
    return shape, sizes * shape, sizes


def _ratio(sums: npt.NDArray[Any], weights: npt.NDArray[Any]) -> Floats:
    return np.asarray(np.divide(sums, weights, out=np.zeros(len(sums)), where=weights > 0), np.float64)


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
