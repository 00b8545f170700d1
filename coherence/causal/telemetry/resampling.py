"""Samples of one signal at the times of a regular clock; a gap stays a gap.

A gauge is its last sample of the step that ends at the time, or its mean over that step weighted by time.  A counter is
its increase since the time before over the time between the two samples: a fall is a reset, after which it counted from
zero, unless the width at which it wraps is stated.  A sample stands for half its own spacing around it: times that
jitter about the clock by less are neither lost nor taken twice.

SOURCE: Prometheus documentation, Functions: rate, resets (without its extrapolation to the ends of the window).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats
from coherence.simulate.telemetry.contract import Samples

COVERED = 0.5  # of a step, for a mean over it


@dataclass(frozen=True)
class Grid:
    """Times `start + k * step`, k = 0 .. count - 1."""

    start: float
    step: float
    count: int

    def times(self) -> Floats:
        """Seconds."""
        return self.start + self.step * np.arange(self.count, dtype=np.float64)


def slack(spacing: float, step: float) -> float:
    """How far after a time of the clock a sample may come and still belong to it (s)."""
    return min(spacing, step) / 2


def latest(times: Floats, grid: Grid, late: float) -> np.ndarray:
    """Index of the last sample of each step (time - step + late, time + late]; -1 where there is none."""
    edges = grid.times() + late
    edges += 1e-9 * grid.step + np.spacing(np.abs(edges))  # a sample on the edge is inside, whatever the rounding
    place = np.searchsorted(times, edges, "right") - 1
    if not len(times):
        return np.full(grid.count, -1)
    stale = times[place] <= edges - grid.step
    return np.where((place < 0) | stale, -1, place)


def sampled(values: Floats, index: np.ndarray) -> Floats:
    """Values at indices; NaN where the index is -1."""
    if not len(values):
        return np.full(len(index), np.nan)
    return np.where(index < 0, np.nan, values[index])


def mean(samples: Samples, grid: Grid, spacing: float) -> Floats:
    """Mean over each step that ends at a time of the clock.

    A value holds until the next sample, one and a half spacings at most; NaN where less than half the step is held.
    """
    if not len(samples):
        return np.full(grid.count, np.nan)
    known = np.isfinite(samples.values)
    ends = np.minimum(np.append(samples.times[1:], np.inf), samples.times + 1.5 * spacing)
    length = np.where(known, ends - samples.times, 0.0)
    origin = float(samples.values[known][0]) if known.any() else 0.0  # sums of differences from it round less
    area = np.cumsum(np.where(known, samples.values - origin, 0.0) * length)
    held = np.cumsum(length)
    at = np.stack([samples.times, ends], 1).ravel()
    areas, helds = (np.stack([np.append(0.0, total[:-1]), total], 1).ravel() for total in (area, held))
    edges = np.append(grid.start - grid.step, grid.times())
    over, part = np.diff(np.interp(edges, at, areas)), np.diff(np.interp(edges, at, helds))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(part >= COVERED * grid.step, origin + over / part, np.nan)


def resets(values: Floats) -> int:
    """How often a counter falls."""
    return int((np.diff(values[np.isfinite(values)]) < 0).sum())


def increases(values: Floats, wraps: int | None = None) -> Floats:
    """A counter without its resets: it begins at 0 and never falls.  `wraps`: bits after which it goes on from 0."""
    steps = np.diff(values)
    after = values[1:] + (2.0**wraps - values[:-1] if wraps else 0.0)
    return np.concatenate([np.zeros(min(1, len(values))), np.cumsum(np.where(steps < 0, after, steps))])


def rate(samples: Samples, grid: Grid, late: float, wraps: int | None = None) -> Floats:
    """Increase a second between the samples of two neighbouring times; NaN for the first, and beside every gap."""
    known = np.isfinite(samples.values)
    times, values = (samples.times, samples.values) if known.all() else (samples.times[known], samples.values[known])
    index = latest(times, grid, late)
    total, at = sampled(increases(values, wraps), index), sampled(times, index)
    with np.errstate(invalid="ignore"):
        return np.append(np.nan, np.diff(total) / np.diff(at)) if grid.count else np.zeros(0)
