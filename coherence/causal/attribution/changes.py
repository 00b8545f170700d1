"""Detects when the level of a series changed, by self-normalised segmentation: the memory need not be estimated.

The record is cut into blocks.  For every place k the means before and after it, over all nested windows around it,
are compared; the squared contrast is divided by a normaliser made of the same partial sums,

    D = (k - s)(e - k) / (e - s)^1.5 * (mean(s, k) - mean(k, e)),
    V = the sum of the squares of this contrast inside each side,

so that the long-run variance, whatever the autocorrelation is, cancels.  Where the largest D^2 / V exceeds its 95 %
point under "nothing changed" the record is split there, and each part is asked again.  A regime shorter than a tenth
of the record is not seen.  What returns each day is no change: the mean day is taken away where the record has one.
SOURCE: Shao and Zhang 2010; Zhao, Jiang and Shao 2022 (nested windows).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import clocks_over
from coherence.causal.fitting.days import day_shapes

# blocks -> (blocks on each side of a change, 97 % point of the largest D^2 / V over independent normal blocks)
BLOCKS = {50: (5, 147.0), 25: (3, 245.0)}
FEWEST = 100  # samples
OUTLASTS = 5  # times the memory of the series that a block must last
STRETCHES = 8  # in which the memory is measured, so that changes of level do not count as memory


@dataclass(frozen=True)
class Change:
    """A new regime from `time` (seconds) on, at sample `row`; levels before and after; how far above the threshold."""

    signal: str
    row: int
    time: float
    before: float
    after: float
    excess: float  # statistic over threshold


def change_points(values: Floats) -> tuple[tuple[int, float], ...]:
    """(row, statistic over threshold) of each change of level, in order.  Missing values count in no block.

    Raises UsageError for fewer than 100 samples, or too few against the memory of the series.
    """
    there = np.flatnonzero(np.isfinite(values))
    if len(there) < FEWEST:
        raise UsageError(f"{len(there)} samples are too few to look for a change of level: {FEWEST} are needed")
    present = values[there]
    if np.ptp(present) <= 1e-12 * max(float(np.abs(present).max()), 1e-300):
        return ()
    count = _blocks(present)
    edges = np.linspace(0, len(present), count + 1).astype(int)
    sizes = np.diff(edges)
    blocks = np.add.reduceat(present, edges[:-1]) / sizes
    nearest, threshold = BLOCKS[count]
    statistics_at: dict[int, float] = {}
    waiting = [(0, count)]
    while waiting:
        start, end = waiting.pop()
        if np.ptp(blocks[start:end]) <= 1e-10 * np.abs(present).max():
            continue  # constant to rounding
        scores = statistics(blocks[start:end], nearest)
        if len(scores) and scores.max() > threshold:
            place = start + int(scores.argmax())
            statistics_at[place] = float(scores.max() / threshold)
            waiting += [(start, place), (place, end)]
    bounds = [0, *sorted(statistics_at), count]
    points, reach = [], 3 * int(sizes.max())
    for before, place, after in zip(bounds, bounds[1:], bounds[2:], strict=False):
        start, middle, end = (int(edges[bound]) for bound in (before, place, after))
        low = middle - reach if before == 0 else (start + middle) // 2 + 1
        high = middle + reach if after == count else (middle + end) // 2
        row = _refined(present[start:end], max(middle - reach, low) - start, min(middle + reach, high) - start)
        points.append((int(there[start + row]), statistics_at[place]))
    return tuple(points)


def _blocks(values: Floats) -> int:
    """The largest number of blocks each of which outlasts the memory of the series.  Raises UsageError if too few."""
    lasting = OUTLASTS * memory(values)
    for count in BLOCKS:
        if len(values) >= count * lasting:
            return count
    needed = int(np.ceil(min(BLOCKS) * lasting))
    raise UsageError(f"{len(values)} samples of so slow a signal tell nothing of its level: about {needed} are needed")


def memory(values: Floats) -> float:
    """Integrated autocorrelation time in samples (1: none), over the positive part of the autocorrelation.

    The median over stretches of the record, each about its own mean.  SOURCE: Geyer 1992 (initial positive sequence).
    """
    times = [correlation_time(part) for part in np.array_split(values, STRETCHES) if len(part) and np.ptp(part) > 0]
    return max(1.0, float(np.median(times))) if times else 1.0


def correlation_time(values: Floats) -> float:
    """The same of one stretch about its own mean; a random walk has a fifth of its length."""
    off = values - values.mean()
    size = len(off)
    moved = np.fft.rfft(off, 2 * size)
    rho = np.fft.irfft(np.abs(moved) ** 2)[:size]
    rho = rho / rho[0]
    pairs = rho[1 : size - 1 : 2] + rho[2:size:2]
    below = np.flatnonzero(pairs <= 0)
    return 1 + 2 * float(pairs[: below[0] if len(below) else len(pairs)].sum())


def statistics(blocks: Floats, nearest: int) -> Floats:
    """For every place of a stretch, the largest D^2 / V over windows around it; 0 near its ends."""
    count = len(blocks)
    sums = np.concatenate([[0.0], np.cumsum(blocks - blocks.mean())])
    maxima = np.zeros(count)
    nothing = 1e-20 * count * float(np.ptp(blocks)) ** 2 if count else 0.0  # rounding
    for k in range(nearest, count - nearest + 1):
        starts, ends = range(k - nearest, -1, -nearest), range(k + nearest, count + 1, nearest)
        left = {s: _inside(sums, s, k) for s in starts}
        right = {e: _inside(sums, k, e) for e in ends}
        for s in starts:
            for e in ends:
                gap = (sums[k] - sums[s]) / (k - s) - (sums[e] - sums[k]) / (e - k)
                contrast = ((k - s) * (e - k) * gap) ** 2 / (e - s) ** 3
                spread = (left[s] + right[e]) / (e - s) ** 2
                if contrast > nothing:
                    maxima[k] = max(maxima[k], contrast / spread if spread > 0 else np.inf)
    return maxima


def _inside(sums: Floats, low: int, high: int) -> float:
    """Sum of the squared contrasts inside one side of a window."""
    i = np.arange(low + 1, high)
    first, second = i - low, high - i
    gap = (sums[i] - sums[low]) / first - (sums[high] - sums[i]) / second
    return float(((first * second * gap) ** 2).sum()) / (high - low) ** 2


def _refined(values: Floats, first: int, last: int) -> int:
    """The row from `first` to `last` at which two levels fit best (least squares)."""
    rows = np.arange(max(1, first), min(len(values) - 1, last) + 1)
    sums = np.cumsum(values - values.mean())
    gained = sums[rows - 1] ** 2 * (1 / rows + 1 / (len(values) - rows))
    return int(rows[int(gained.argmax())])


def changes(series: Series, *, signals: tuple[str, ...] | None = None) -> Mapping[str, tuple[Change, ...]]:
    """The changes of level of each signal (default: all), beside its mean day."""
    changes_by_signal: dict[str, tuple[Change, ...]] = {}
    recurs = len(series) > 0 and clocks_over(series.start, len(series), series.step).recurs
    for name in signals if signals is not None else series.names:
        values = series[name] - _mean_day(series.of([name])) if recurs else series[name]
        points = change_points(values)
        bounds = [0, *(row for row, _ in points), len(values)]
        levels = [float(np.nanmean(values[low:high])) for low, high in pairwise(bounds)]
        changes_by_signal[name] = tuple(
            Change(name, row, series.start + series.step * row, levels[n], levels[n + 1], excess)
            for n, (row, excess) in enumerate(points)
        )
    return changes_by_signal


def _mean_day(alone: Series) -> Floats:
    return np.asarray(day_shapes(lambda: [alone]).of(alone)[0][:, 0], np.float64)
