"""Finds the dates from which on the days of signals have another shape, as where clocks are put forward.

A mean day over both shapes follows neither, and what is left at their edges agrees in all signals that have them.  Each
date is asked for whether the means of an hour before it and from it on differ, beside the size of each day: a test of
Student for the hour that differs most, whose variance is drawn to that of all hours, held for all hours.  Two signals
must agree, as in a season that they share, held for all pairs and dates; then both sides are asked again.
SOURCE: Kovács et al. 2023 (seeded binary segmentation); Smyth 2004 (moderated t); Bonferroni.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.days import DAY, HOURS, changes_with_day

LEAST, SHORTEST = 2, 12  # dates on each side; dates of which halves are looked at as well
LEVEL = 1e-4  # of a break where there is none
DRAWN = 24  # dates that the variance of all hours counts for, beside those of an hour


def day_breaks(series: Series) -> tuple[float, ...]:
    """Returns the times, in s as those of the series, at which the shape of the day of two signals changes."""
    first = float(series.times[0] // DAY) if len(series) else 0.0
    count = int(min(HOURS, DAY / series.step + 1e-9))
    if len(series.names) < 2 or len(series) * series.step < 2 * LEAST * DAY:
        return ()
    hours = np.stack([_hours(series, name, count) for name in series.names])
    return tuple(float((first + date) * DAY) for date in sorted(_breaks(hours, 0)))


def _hours(series: Series, name: str, count: int) -> Floats:
    """(dates, hours): the mean of a signal in each hour of each date; not a number where none is known."""
    values, known = series[name], np.isfinite(series[name])
    hour = np.minimum((series.times % DAY / DAY * count + 1e-9).astype(np.int64), count - 1)
    cell = ((series.times // DAY).astype(np.int64) - int(series.times[0] // DAY)) * count + hour
    size = (int(cell[-1]) // count + 1) * count
    number = np.bincount(cell[known], minlength=size)
    sums = np.bincount(cell[known], values[known], size)
    means = np.divide(sums, number, out=np.full(size, np.nan), where=number > 0)
    return np.asarray(means.reshape(-1, count), np.float64)


def shows_day(series: Series, name: str) -> bool:
    """Decides whether the changes of a signal from hour to hour, or from sample to sample, have a day."""
    finest = max(int(DAY / series.step + 1e-9), 1)
    return any(changes_with_day(_hours(series, name, count)) for count in {min(HOURS, finest), finest})


def _breaks(hours: Floats, first: int) -> list[int]:
    """The dates at which the shape of the day changes, of (signals, dates, hours)."""
    spans = list(_spans(hours.shape[1]))
    if not spans:
        return []
    tests = sum(len(span) - 2 * LEAST + 1 for span in spans)
    chance, date = min(_least_chance(hours[:, span.start : span.stop], span.start) for span in spans)
    if not (len(hours) * chance) ** 2 / 2 * tests <= LEVEL:  # any pair, at any date of any span
        return []
    return [*_breaks(hours[:, :date], first), first + date, *_breaks(hours[:, date:], first + date)]


def _spans(dates: int) -> Iterator[range]:
    """Yields all dates, then halves that overlap, and halves of these: a shape that returns is seen in short ones."""
    length = dates
    while length >= 2 * LEAST:
        starts = np.linspace(0, dates - length, 2 * math.ceil(dates / length) - 1).astype(int)
        yield from (range(start, start + length) for start in dict.fromkeys(starts.tolist()))
        length = length // 2 if length >= SHORTEST else 0


def _least_chance(means: Floats, start: int) -> tuple[float, int]:
    """How probable so large a difference of an hour would be without a break, in the second signal, and its date."""
    from scipy.special import stdtr

    left = _beside_its_size(means)
    known = np.isfinite(left)
    values = np.where(known, left, 0.0)
    inner = slice(LEAST - 1, means.shape[1] - LEAST)
    number, sums = (np.cumsum(one, axis=1)[:, inner] for one in (known.astype(float), values))
    later, rest = known.sum(axis=1, keepdims=True) - number, values.sum(axis=1, keepdims=True) - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        between = sums**2 / number + rest**2 / later
        own, free = (values**2).sum(axis=1, keepdims=True) - between, np.maximum(number + later - 2, 0.0)
        spread = (own + DRAWN * own.sum(axis=2, keepdims=True) / free.sum(axis=2, keepdims=True)) / (free + DRAWN)
        t = (sums / number - rest / later) / np.sqrt(spread * (1 / number + 1 / later))
    compared = np.isfinite(t) & (number >= LEAST) & (later >= LEAST)
    chances = 2 * stdtr(free + DRAWN, -np.abs(np.where(compared, t, 0.0)))
    second = np.sort(np.minimum(chances.min(axis=2) * t.shape[2], 1.0), axis=0)[1]
    return float(second.min()), start + LEAST + int(second.argmin())


def _beside_its_size(means: Floats) -> Floats:
    """What is left of the hours of each date beside its own mean and its size times the mean day."""
    known = np.isfinite(means)
    number = np.maximum(known.sum(axis=2, keepdims=True), 1)
    level = np.where(known, means - np.where(known, means, 0.0).sum(axis=2, keepdims=True) / number, 0.0)
    shape = level.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    weight = np.where(known, shape, 0.0)
    power = np.maximum((weight**2).sum(axis=2, keepdims=True), 1e-300)
    size = (weight * level).sum(axis=2, keepdims=True) / power
    return np.where(known, level - size * shape, np.nan)
