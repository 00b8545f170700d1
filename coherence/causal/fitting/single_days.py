"""Finds the signals that seem to follow hours of a day in a record that shows fewer than two days.

Working hours turn on and off within minutes: no few cycles follow that, and a mean of one day is the signal itself.  A
signal is told apart from one that only remembers by a contest over means of a quarter of an hour: with the hours taken
out that fit it best (one level within, another outside), are its errors of prediction by its own past so much smaller
that the hours are worth their search?  Hours taken out of what wanders add two jumps and make its errors larger.
SOURCE: Schwarz 1978 (the price of a parameter); Yao 1988 (of the time of a change); Huber 1964 (large errors).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.days import DAY

SHORTEST, LONGEST = DAY / 2, 2 * DAY  # s: of a record that may show hours of a day, and no day twice
PARTS = 96  # of a day, at most
FEWEST = 24  # means of parts that are known, at least
PAST = 2  # earlier parts by which a part is predicted
PRICE = 5.5  # times the logarithm of the number of parts: of two times and a height, with a margin for the search
REACH = 4.0  # spreads that an error counts for, at most: one large one is no day
NORMAL = 1.4826  # standard deviation of a normal law over its median of sizes
FAR = 4  # parts that hours last, and that they are away, at least


def hours_of_day(series: Series) -> frozenset[str]:
    """Returns the signals that seem to follow hours of a day; none of a record that shows two days, or under half."""
    span = len(series) * series.step
    count = int(min(PARTS, DAY / series.step + 1e-9))
    if not SHORTEST <= span < LONGEST or span / DAY * count < FEWEST:
        return frozenset()
    part = np.floor(series.times / DAY * count + 1e-9).astype(np.int64)
    part -= part[0]
    means = _means(series.values, part).T
    return frozenset(name for name, mine in zip(series.names, means, strict=True) if _has_hours(mine, count))


def _means(values: Floats, part: npt.NDArray[np.int64]) -> Floats:
    """(parts, signals): the mean of each part; not a number where nothing is known."""
    edges = np.searchsorted(part, np.arange(part[-1] + 1))
    sums = np.add.reduceat(values, edges, axis=0)
    if np.isfinite(sums).all():
        return np.asarray(sums / np.diff([*edges, len(values)])[:, None], np.float64)
    known = np.isfinite(values)
    number = np.add.reduceat(known, edges, axis=0, dtype=np.float64)
    sums = np.add.reduceat(np.where(known, values, 0.0), edges, axis=0)
    return np.asarray(np.divide(sums, number, out=np.full(sums.shape, np.nan), where=number > 0), np.float64)


def gain(means: Floats, count: int) -> float:
    """By how much hours of a day make the errors of prediction smaller, as twice a difference of log-likelihoods."""
    known = np.isfinite(means)
    values = np.where(known, means - means[known].mean(), 0.0) if known.any() else means
    if known.sum() < FEWEST or not values.any():
        return 0.0
    hour = np.arange(len(means)) % count
    sums, number = np.bincount(hour, values, count), np.bincount(hour, known, count)
    inside, held = _turns(sums.astype(np.float64)), _turns(number.astype(np.float64))
    outside = known.sum() - held
    allowed = (held >= FAR) & (outside >= FAR)
    between = np.where(allowed, inside**2 / np.where(allowed, held * outside, 1.0), 0.0)
    first, length = np.unravel_index(int(between.argmax()), between.shape)
    within = (hour - first) % count < length
    if not allowed.any():
        return 0.0
    plain = _errors(values, known)
    beside = min(_errors(values - _fitted(values, known, shape), known) for shape in _shapes(within, hour, count))
    if plain <= 0 or beside <= 0:  # half of the errors are 0, or no row has its past
        return 0.0
    return float(known.sum() * np.log(plain / beside))


def _shapes(within: npt.NDArray[np.bool_], hour: npt.NDArray[np.int64], count: int) -> Iterator[Floats]:
    """Yields the hours with edges that are sharp, and that last an hour and two."""
    day = np.zeros(count)
    day[hour[within]] = 1.0
    for width in sorted({1, count // 24, count // 12}):
        if width:
            yield np.mean([np.roll(day, turn - width // 2) for turn in range(width)], axis=0)[hour]


def _fitted(values: Floats, known: npt.NDArray[np.bool_], shape: Floats) -> Floats:
    """The least squares of values about their mean on a shape; 0 where a value is not known."""
    about = np.where(known, shape - shape[known].mean(), 0.0)
    return np.asarray(about * (values @ about) / max(float(about @ about), 1e-300), np.float64)


def _has_hours(means: Floats, count: int) -> bool:
    return gain(means, count) > PRICE * math.log(max(int(np.isfinite(means).sum()), 2))


def _turns(table: Floats) -> Floats:
    """(first, length): sums over so many parts from the first on, round the day."""
    count = len(table)
    sums = np.concatenate([[0.0], np.cumsum(np.tile(table, 2))])
    first, length = np.arange(count)[:, None], np.arange(count)[None, :]
    return np.asarray(sums[first + length] - sums[first], np.float64)


def _errors(values: Floats, known: npt.NDArray[np.bool_]) -> float:
    """The mean square of what a part's own past does not predict, a large error counted for less."""
    rows = np.lib.stride_tricks.sliding_window_view(values, PAST + 1)
    rows = rows[np.lib.stride_tricks.sliding_window_view(known, PAST + 1).all(axis=1)]
    if len(rows) < FEWEST // 2:
        return 0.0
    left = np.column_stack([np.ones(len(rows)), rows[:, :PAST]])
    slopes = np.linalg.lstsq(left, rows[:, PAST], rcond=None)[0]
    errors = np.abs(rows[:, PAST] - left @ slopes)
    return float(np.mean(np.minimum(errors, REACH * NORMAL * np.median(errors)) ** 2))
