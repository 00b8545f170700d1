"""Finds the day of each signal: its mean at each time of the day, and by how much that is more or less on each date.

    day(date, time) = mean(time) + size(date) bend(time)

`size` is by how much a date shows more or less of the mean day than dates do on the average: it is less on a weekend.
`mean` and `bend` are the least squares of the signal at each time of the day on a constant and that size, so what is
left of the signal has nothing in common with any shape of a day, nor with any shape at the size of its dates.  Sums by
time of the day and by date are enough, so a record that is larger than memory is read twice.
SOURCE: Lovell 1963 (seasonal adjustment); Mandel 1961 (rows that are linear in a size of their own).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats, Series

DAY = 86_400.0  # seconds
FINEST, BINS = 86_400, 96  # times of a day, and parts of a day by which its size is found, at most
EVIDENCE = 0.05  # chance that a day of the same size on all dates seems to vary: a size in vain costs a column
HOURS, LEAST, SHOWN = 24, 2, 0.01  # parts and dates by which changes have a day; the chance that they seem to
NOTHING = 1e-9  # share of its variance: a signal with less of it follows its day alone
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DayShapes:
    """The days of signals: `mean` and `bend` (times of the day, signals), `size` (dates from `first` on, signals).

    `middle`: the mean of each signal; `follow`: those that are their mean day and nothing else; `shown`: those whose
    changes have a day.
    """

    names: tuple[str, ...]
    step: float
    first: int
    mean: Floats
    bend: Floats
    size: Floats
    middle: Floats
    follow: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    def of_shown(self) -> DayShapes:
        """The same without the mean days of signals whose changes have none: these drift."""
        kept = np.array([name in self.shown for name in self.names], np.float64)
        return replace(self, mean=self.mean * kept, bend=self.bend * kept)

    @property
    def dated(self) -> tuple[str, ...]:
        """The signals whose day has another size on some dates."""
        return tuple(name for name, bend in zip(self.names, self.bend.T, strict=True) if bend.any())

    def of(self, series: Series) -> tuple[Floats, Floats]:
        """(times, signals of the series): the mean day, and what dates have beside it; 0 on the mean of the record."""
        chosen = [self.names.index(name) for name in series.names]
        slots, dates = places(series, len(self.mean))
        dates = np.clip(dates - self.first, 0, len(self.size) - 1)
        return self.mean[slots][:, chosen], (self.size[dates] * self.bend[slots])[:, chosen]


def places(series: Series, count: int) -> tuple[Ints, Ints]:
    """Returns the time of the day, of `count`, and the date of each row."""
    slots = np.floor(series.times % DAY / DAY * count + 1e-9).astype(np.int64) % count
    return slots, (series.times // DAY).astype(np.int64)


def day_shapes(read: Callable[[], Iterable[Series]]) -> DayShapes:
    """The days of all signals of a record whose stretches `read` gives in their order, each time anew."""
    sizes = _Sizes(read())
    size, moves = sizes.varying()
    sums = _Sums(sizes, size, read())
    mean, about = _ratio(sums.values, sums.known), _ratio(sums.sizes, sums.known)
    bend = _ratio(sums.products - about * sums.values, sums.squares - about * sums.sizes)
    bend = np.where(moves, bend, 0.0)
    alone = sums.total - (sums.known * mean**2).sum(axis=0) <= NOTHING * sums.total
    follow = tuple(name for name, nothing in zip(sizes.names, alone.tolist(), strict=True) if nothing)
    shown = tuple(name for place, name in enumerate(sizes.names) if sizes.shows(place))
    return DayShapes(sizes.names, sizes.step, sizes.first, mean - about * bend, bend, size, sizes.middle, follow, shown)


def changes_with_day(means: Floats) -> bool:
    """Decides of (dates, parts of the day) whether the changes from part to part differ by the time of the day.

    What drifts has no day in its changes, though the means of its hours differ.
    """
    from scipy.special import ndtri

    count = means.shape[1]
    changes = np.diff(means.ravel(), prepend=np.nan)
    known = np.isfinite(changes)
    part = np.arange(len(changes))[known] % count
    number = np.bincount(part, minlength=count)
    usual = np.bincount(part, changes[known], count) / np.maximum(number, 1)
    spread = float(((changes[known] - usual[part]) ** 2).sum()) / max(len(part) - count, 1)
    drift = float(usual[number > 0].mean()) if known.any() else 0.0
    far = float((np.abs(usual - drift) * np.sqrt(number * (number >= LEAST))).max(initial=0.0))
    return far > (-ndtri(SHOWN / count / 2) * math.sqrt(spread) if spread > 0 else 0.0)


def _ratio(sums: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> Floats:
    some = np.abs(weights) > 1e-9
    return np.asarray(np.divide(sums, weights, out=np.zeros(sums.shape), where=some), np.float64)


def _added(into: Floats, rows: Ints, values: Floats) -> None:
    """Adds each row of values to a row of a table."""
    for column in range(values.shape[1]):
        into[:, column] += np.bincount(rows, values[:, column], len(into))


class _Sizes:
    """How large the day of each date is, from sums over parts of each date."""

    def __init__(self, stretches: Iterable[Series]) -> None:
        self.names: tuple[str, ...] = ()
        by_date: dict[int, tuple[Floats, Floats]] = {}
        for stretch in stretches:
            if not self.names:
                self.names, self.step = stretch.names, stretch.step
                self.count = min(max(int(DAY / stretch.step + 1e-9), 1), FINEST)
                self.bins = min(self.count, BINS)
                self.offset = _means(stretch.values)
            slots, dates = places(stretch, self.count)
            parts = slots * self.bins // self.count
            values = stretch.of(self.names).values - self.offset
            known = np.isfinite(values)
            values = np.where(known, values, 0.0)
            for date in np.unique(dates).tolist():
                mine = dates == date
                empty = np.zeros((self.bins, len(self.names)))
                totals, counts = by_date.setdefault(date, (empty, empty.copy()))
                _added(totals, parts[mine], values[mine])
                _added(counts, parts[mine], known[mine].astype(np.float64))
        self.first = min(by_date)
        dates_seen = range(self.first, max(by_date) + 1)
        none = np.zeros((self.bins, len(self.names)))
        self.totals = np.stack([by_date[date][0] if date in by_date else none for date in dates_seen])
        self.counts = np.stack([by_date[date][1] if date in by_date else none for date in dates_seen])
        self.middle = self.offset + _ratio(self.totals.sum(axis=(0, 1)), self.counts.sum(axis=(0, 1)))

    def shows(self, place: int) -> bool:
        """Decides whether the changes of a signal from hour to hour, or from part to part, have a day."""
        coarse = math.gcd(self.bins, HOURS)
        totals, counts = (table[:, :, place] for table in (self.totals, self.counts))
        every = [(totals, counts)]
        every.append((_coarser(totals, coarse), _coarser(counts, coarse)))
        return any(changes_with_day(np.where(number > 0, _ratio(total, number), np.nan)) for total, number in every)

    def varying(self) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Returns (dates, signals) the sizes about their mean, and for which signals they vary beyond chance."""
        from scipy.special import chdtri

        known = self.counts > 0
        level = _ratio(self.totals.sum(axis=(0, 1)), self.counts.sum(axis=(0, 1)))
        values = np.where(known, _ratio(self.totals, self.counts) - level, 0.0)
        shape = _ratio(values.sum(axis=0), known.sum(axis=0).astype(np.float64))  # bins, signals
        about = _ratio((known * shape).sum(axis=1), known.sum(axis=1).astype(np.float64))
        weight = np.where(known, shape - about[:, None, :], 0.0)
        lengths = (weight**2).sum(axis=1)  # dates, signals
        size = _ratio((weight * values).sum(axis=1), lengths)
        usual = _ratio((lengths * size).sum(axis=0), lengths.sum(axis=0))
        left = np.where(known, values - shape - (size - usual)[:, None, :] * (shape - about[:, None, :]), 0.0)
        free = np.maximum(known.sum(axis=(0, 1)) - 2 * self.bins, 1)
        noise = (left**2).sum(axis=(0, 1)) / free
        beyond = (lengths * (size - usual) ** 2).sum(axis=0) > chdtri(max(len(size) - 1, 1), EVIDENCE) * noise
        return np.asarray(size - usual, np.float64), np.asarray(beyond & (len(size) > 2), np.bool_)


class _Sums:
    """Sums by time of the day: of rows, values, sizes, their squares and products, each (times, signals)."""

    def __init__(self, sizes: _Sizes, size: Floats, stretches: Iterable[Series]) -> None:
        shape = sizes.count, len(sizes.names)
        self.known, self.values, self.sizes, self.squares, self.products = (np.zeros(shape) for _ in range(5))
        self.total = np.zeros(len(sizes.names))
        for stretch in stretches:
            slots, dates = places(stretch, sizes.count)
            values = stretch.of(sizes.names).values - sizes.middle
            known = np.isfinite(values)
            values, weight = np.where(known, values, 0.0), np.where(known, size[dates - sizes.first], 0.0)
            self.total += (values**2).sum(axis=0)
            for table, part in (
                (self.known, known.astype(np.float64)), (self.values, values), (self.sizes, weight),
                (self.squares, weight**2), (self.products, weight * values),
            ):  # fmt: skip
                _added(table, slots, part)


def _coarser(table: Floats, count: int) -> Floats:
    return np.asarray(table.reshape(len(table), count, -1).sum(axis=2), np.float64)


def _means(values: Floats) -> Floats:
    known = np.isfinite(values)
    return _ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))
