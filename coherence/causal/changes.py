"""When did the level of a series change?  Self-normalised segmentation: no estimate of the memory is needed.

The record is cut into blocks.  For every place k the means before and after it, over all nested windows around it,
are compared; the squared contrast is divided by a normaliser made of the same partial sums,

    D = (k - s)(e - k) / (e - s)^1.5 * (mean(s, k) - mean(k, e)),    V = sum of squares of the same contrast inside each side,

so that the long-run variance, whatever the autocorrelation is, cancels.  Where the largest D^2 / V exceeds its 95 %
point under "nothing changed" the record is split there, and each part is asked again.  A regime shorter than a tenth
of the record is not seen.  SOURCE: Shao and Zhang 2010; Zhao, Jiang and Shao 2022 (nested windows).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coherence.causal.series import Floats, Series
from coherence.errors import UsageError
from coherence.values import value

BLOCKS = 50
FEWEST = 2 * BLOCKS  # samples
NEAREST = 5  # blocks on each side of a change: a tenth of the record
THRESHOLD = 0.0


@value
class Change:
    """A new regime from `time` (seconds) on, at sample `row`; levels before and after; how far above the threshold."""

    signal: str
    row: int
    time: float
    before: float
    after: float
    excess: float  # statistic over threshold


def change_points(values: Floats, *, threshold: float = THRESHOLD) -> tuple[tuple[int, float], ...]:
    """(row, statistic over threshold) of each change of level, in order.  Missing values count in no block.

    Raises UsageError for fewer than 100 samples.
    """
    there = np.flatnonzero(np.isfinite(values))
    if len(there) < FEWEST:
        raise UsageError(f"{len(there)} samples are too few to look for a change of regime: {FEWEST} are needed")
    kept = values[there]
    if np.ptp(kept) <= 1e-12 * max(float(np.abs(kept).max()), 1e-300):
        return ()
    edges = np.linspace(0, len(kept), BLOCKS + 1).astype(int)
    sizes = np.diff(edges)
    blocks = np.add.reduceat(kept, edges[:-1]) / sizes
    found: dict[int, float] = {}
    waiting = [(0, BLOCKS)]
    while waiting:
        start, end = waiting.pop()
        scores = statistics(blocks[start:end])
        if len(scores) and scores.max() > threshold:
            place = start + int(scores.argmax())
            found[place] = float(scores.max() / threshold)
            waiting += [(start, place), (place, end)]
    bounds = [0, *sorted(found), BLOCKS]
    made = []
    for before, place, after in zip(bounds, bounds[1:], bounds[2:], strict=False):
        row = _refined(kept[edges[before] : edges[after]], edges[place] - edges[before], 3 * int(sizes.max()))
        made.append((int(there[edges[before] + row]), found[place]))
    return tuple(made)


def statistics(blocks: Floats) -> Floats:
    """For every place of a stretch, the largest D^2 / V over windows around it; 0 near its ends."""
    count = len(blocks)
    sums = np.concatenate([[0.0], np.cumsum(blocks - blocks.mean())])
    made = np.zeros(count)
    for k in range(NEAREST, count - NEAREST + 1):
        starts = range(k - NEAREST, -1, -NEAREST)
        ends = range(k + NEAREST, count + 1, NEAREST)
        left = {s: _inside(sums, s, k) for s in starts}
        right = {e: _inside(sums, k, e) for e in ends}
        for s in starts:
            for e in ends:
                gap = (sums[k] - sums[s]) / (k - s) - (sums[e] - sums[k]) / (e - k)
                contrast = ((k - s) * (e - k) * gap) ** 2 / (e - s) ** 3
                spread = (left[s] + right[e]) / (e - s) ** 2
                made[min(k, count - 1)] = max(made[min(k, count - 1)], contrast / spread if spread > 0 else np.inf)
    return made


def _inside(sums: Floats, low: int, high: int) -> float:
    """Sum of the squared contrasts inside one side of a window."""
    i = np.arange(low + 1, high)
    first, second = i - low, high - i
    gap = (sums[i] - sums[low]) / first - (sums[high] - sums[i]) / second
    return float(((first * second * gap) ** 2).sum()) / (high - low) ** 2


def _refined(values: Floats, near: int, reach: int) -> int:
    """The row near a place at which two levels fit best (least squares)."""
    rows = np.arange(max(1, near - reach), min(len(values), near + reach + 1))
    rows = rows[rows < len(values)]
    sums = np.cumsum(values - values.mean())
    gained = sums[rows - 1] ** 2 * (1 / rows + 1 / (len(values) - rows))
    return int(rows[int(gained.argmax())])


def changes(series: Series, *, signals: tuple[str, ...] | None = None) -> Mapping[str, tuple[Change, ...]]:
    """The changes of level of each signal (default: all)."""
    found: dict[str, tuple[Change, ...]] = {}
    for name in signals if signals is not None else series.names:
        values = series[name]
        points = change_points(values)
        bounds = [0, *(row for row, _ in points), len(values)]
        levels = [float(np.nanmean(values[low:high])) for low, high in zip(bounds, bounds[1:], strict=False)]
        found[name] = tuple(
            Change(name, row, series.start + series.step * row, levels[n], levels[n + 1], excess)
            for n, (row, excess) in enumerate(points)
        )
    return found
