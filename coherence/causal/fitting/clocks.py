"""Holds the clock fixed: a straight trend, the day and the week, and the seasons that signals have in common.

What drifts, or follows the day, agrees with everything else that does, without touching it.  A part of a day is held
fixed as well, for the record need not show a cycle to bend with it, and the day's finer shape where it recurs.  The
clocks are columns of sums of products as signals are, and are taken out of every other column before an estimate is
made (Frisch and Waugh), so that no estimator needs to know of them.

Shifts and nightly jobs start within a minute, and no few cycles follow that.  From two days on the day of each signal
(`days`) is a column too, beside each delay at which an equation uses the signal: of a cause with the size of each date,
for a weekend or a holiday has less of it, so that what is left of the cause has nothing in common with any shape of a
day; of the effect the mean day alone, for sizes that follow the effect's own noise would take a part of what its causes
do.  Where the shape changes, as when clocks are put forward, each part of the record has days of its own.  A signal
whose changes have no day is not given one: the mean day of what drifts is its drift, which ends at each midnight in all
signals alike; a trend has its mean day held as well.  Of a record that is read twice the mean days are taken out as it
is read, and only sizes that vary are columns.
SOURCE: Frisch and Waugh 1933; Lovell 1963 (seasonal adjustment); Mundlak 1978 (means in the place of constants).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.day_breaks import day_breaks, shows_day
from coherence.causal.fitting.days import DAY, DayShapes, day_shapes
from coherence.causal.fitting.gram import Column, Grams
from coherence.causal.fitting.seasons import shared_periods

WEEK = 7 * DAY  # seconds
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
MEAN_DAY, DATED_DAY = "clock: mean day of ", "clock: day of "
DAY_OF_TREND: Column = ("clock: mean day of the trend", 0)  # beside days: what a trend adds to the mean of each hour


@dataclass(frozen=True)
class Clocks:
    """The clocks of a record: its trend from `start` over `span` seconds, and the cycles of which it shows a part.

    `seasons`: further periods in s; their sines may grow and drift with the record, for their period is an estimate.
    `step` in s; `rows`: how many there are, where the day of each signal is held fixed too; else 0.  `taken`: the days
    of a record that is read in stretches, which are taken out of it.  `breaks`: the times (s) from which on days have
    another shape; `averaged`: what share of chance the mean days of one record take along; `shown`: the signals that
    have a day.
    """

    start: float
    span: float
    cycles: tuple[str, ...] = ()
    seasons: tuple[float, ...] = ()
    rows: int = 0
    step: float = math.inf
    taken: DayShapes | None = field(default=None, compare=False)
    breaks: tuple[float, ...] = ()
    averaged: float = 0.0
    shown: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the clocks add for every equation."""
        parts = [f"clock: {name}, {part}" for name in self.cycles for part in ("sine", "cosine")]
        for period in self.seasons:
            parts += [f"clock: {period!r} s, {part}" for part in ("sine", "cosine", "growing sine", "growing cosine")]
        return tuple((name, 0) for name in ("clock: trend", *parts))

    def beside(self, columns: Iterable[Column], effect: str) -> tuple[Column, ...]:
        """The columns that the clocks add for an equation of these columns."""
        every = tuple(dict.fromkeys(columns))
        if self.rows < 2 * len(every) * ROWS_EACH:
            return self.columns
        if self.taken is not None:
            dated = set(self.taken.dated)
            of_causes = days_of((name, lag) for name, lag in every if name in dated and name != effect)
            return (*self.columns, *of_causes, DAY_OF_TREND)
        days = days_of(((name, lag) for name, lag in every if name in self.shown), effect)
        return (*self.columns, *days, DAY_OF_TREND) if days else self.columns

    def held_days(self, held: Sequence[Column]) -> bool:
        """Decides whether days are among what an equation holds fixed."""
        return self.taken is not None or len(held) > len(self.columns)

    @property
    def recurs(self) -> bool:
        """Whether the record shows a day often enough, and finely enough, to have a mean day."""
        return self.span >= RECURS and self.step <= DAY / FINEST

    @property
    def spread(self) -> float:
        """The factor of standard errors: a day that is the mean of so many takes its part of what is by chance."""
        return 1 / math.sqrt(1 - (self.averaged or DAY / self.span)) if self.rows else 1.0

    def added(self, series: Series) -> Series:
        """The series with the clocks as further signals."""
        trend = 2 * (series.times - self.start) / self.span - 1
        turns = [2 * np.pi * (series.times - self.start) / PERIODS[name] for name in self.cycles]
        parts = [part(turn) for turn in turns for part in (np.sin, np.cos)]
        for period in self.seasons:
            turn = 2 * np.pi * (series.times - self.start) / period
            parts += [np.sin(turn), np.cos(turn), trend * np.sin(turn), trend * np.cos(turn)]
        names = [*series.names, *(name for name, _ in self.columns)]
        values = series.values
        if self.rows and self.taken is None:
            mean, more = self._days(series)
            parts += [*mean.T, *(mean + more).T]
            names += [f"{kind}{name}" for kind in (MEAN_DAY, DATED_DAY) for name in series.names if name in self.shown]
        elif self.taken is not None:
            mean, more = self.taken.of(series)
            values = values - np.where([name in self.taken.follow for name in series.names], 0.0, mean)
            parts += [more[:, self.taken.names.index(name)] for name in self.taken.dated]
            names += [f"{DATED_DAY}{name}" for name in self.taken.dated]
        if self.rows:
            parts.append(self._day_of_trend(series.times))
            names.append(DAY_OF_TREND[0])
        return Series(tuple(names), np.column_stack([values, trend, *parts]), series.step, series.start)

    def _days(self, series: Series) -> tuple[Floats, Floats]:
        """(times, signals that have a day): its mean in each part of the record, and what dates have beside it."""
        series = series.of(name for name in series.names if name in self.shown)
        mean, more = np.zeros(series.values.shape), np.zeros(series.values.shape)
        edges = [0, *np.searchsorted(series.times, self.breaks).tolist(), len(series)]
        for first, last in pairwise(edges):
            if last > first:
                start = float(series.times[first])
                part = Series(series.names, series.values[first:last], series.step, start)
                mean[first:last], more[first:last] = _shapes(part)
        return mean, more

    def _day_of_trend(self, times: Floats) -> Floats:
        """The mean of the trend at the time of day of each row, in its part of the record."""
        edges = np.array([-np.inf, *self.breaks, np.inf])
        part = np.searchsorted(edges, times, side="right")
        first = np.maximum(edges[part - 1], self.start)
        last = np.minimum(edges[part], self.start + self.span) - self.step / 2
        since = (times - first) % DAY
        days_after = np.floor(np.maximum(last - first - since, 0.0) / DAY)  # of the first row at this time of the day
        return np.asarray(2 * (first + since + DAY * days_after / 2 - self.start) / self.span - 1, np.float64)


def clocks_of(*records: Series) -> Clocks:
    """The clocks that these records show."""
    step, rows = max(series.step for series in records), min(max(len(series), 1) for series in records)
    clocks = clocks_over(min(series.start for series in records), rows, step)
    named = [PERIODS[name] for name in clocks.cycles]
    width = 1 / clocks.span
    other = [p for p in shared_periods(*records) if all(abs(1 / p - 1 / q) > width for q in named)]
    if not clocks.recurs:
        return replace(clocks, seasons=tuple(other))
    breaks = [day_breaks(record) for record in records]
    averaged = max((1 + len(own)) * DAY / (len(one) * one.step) for own, one in zip(breaks, records, strict=True))
    every = tuple(sorted({time for own in breaks for time in own}))
    shown = frozenset(name for record in records for name in record.names if shows_day(record, name))
    return replace(clocks, seasons=tuple(other), rows=rows, breaks=every, averaged=averaged, shown=shown)


def _shapes(part: Series) -> tuple[Floats, Floats]:
    return day_shapes(lambda: [part]).of(part)


def days_of(columns: Iterable[Column], effect: str = "") -> tuple[Column, ...]:
    """Returns the columns that hold the days of signals, at the delays at which these are used."""
    return tuple(dict.fromkeys((f"{MEAN_DAY if name == effect else DATED_DAY}{name}", lag) for name, lag in columns))


def clocks_over(start: float, rows: int, step: float) -> Clocks:
    """The clocks of a record of `rows` rows, without the seasons that only its signals show."""
    span = rows * step
    least = {name: RECURS if name in SHAPE else PART * period for name, period in PERIODS.items()}
    finest = {name: min(DAY / FINEST, period / SAMPLES) for name, period in PERIODS.items()}
    shown = [name for name in PERIODS if span >= least[name] and step <= finest[name]]
    return Clocks(start, span, tuple(shown[: rows // (2 * ROWS_EACH)]), step=step)


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
