"""Computes the mean and percentiles of all requests of all runs, with 95 % intervals that know their dependence.

Time is cut into clusters (batches of a settled run, or whole runs). For a number q to be the quantile of level p, the
residuals p x arrived - (latency <= q) of the clusters must have mean zero; the interval holds every q for which their
t statistic does not contradict that. It needs no density, keeps the range of the data, and counts whoever got no answer
as longer than all. Neighbouring clusters correlate by phi, which widens by (1 + phi) / (1 - phi), and skewness is
removed by Hall's transformation.
SOURCE: Hall, On the removal of skewness by transformation (1992); Tafazzoli, Wilson, Skart: a skewness- and
autoregression-adjusted batch-means procedure (2011); Fieller, Some problems in interval estimation (1954).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coherence.simulate.study.latencies import GAMMA, Latencies

Array = NDArray[Any]
CONFIDENCE = 0.95
BATCHES = 15  # of a settled run
MOST_CORRELATED = 0.9
ENOUGH = 4.0  # independent groups of requests beyond a quantile, below which nothing is said of it
GRID = 401  # values that are tried for a mean, over GRID_WIDTH standard errors on each side
GRID_WIDTH = 10.0
AROUND = 10.0  # standard errors around the level of a quantile in which its interval is looked for
CERTAIN = 1e6  # t where residuals do not differ


@dataclass(frozen=True)
class Clusters:
    """Requests by run and cluster: `arrived`; of those answered `sums` (s), and `within` each of `uppers`.

    `typical`: the mean latency inside each bin (s).
    """

    arrived: Array
    sums: Array
    within: Array
    uppers: Array
    typical: Array

    @property
    def answered(self) -> Array:
        """Answered requests by run and cluster."""
        return self.within[:, :, -1]


@dataclass(frozen=True)
class PooledEstimate:
    """A mean or percentile of all requests, and the ends of its interval.

    `high` is infinite where it lies among requests without an answer, and `value` where the percentile does; `groups`:
    independent groups of requests beyond it (of a mean: on each side), to which the dependent ones amount.
    """

    value: float
    low: float
    high: float
    groups: float

    @property
    def precision(self) -> float:
        """Half the width of the interval, as a share of the value."""
        return (self.high - self.low) / 2 / self.value if 0 < self.value < math.inf else math.inf


def clusters(runs: Sequence[Latencies], batches: int = BATCHES) -> Clusters | None:
    """Returns the requests of all runs in so many clusters a run; None where nobody was answered.

    What is left over by equal clusters is left out at the beginning.
    """
    filled = [run for run in runs if run.counts.shape[1]]
    if not filled:
        return None
    first = min(run.first for run in filled)
    beyond = max(run.first + run.counts.shape[1] for run in filled)
    for run in runs:
        run.cover(first, beyond)
    size = min(len(run.sums) for run in runs) // batches
    counts, sums, arrived = (
        np.stack([_added(getattr(run, name), size, batches) for run in runs]) for name in ("counts", "sums", "arrived")
    )
    weights = np.maximum(sum((run.counts.sum(axis=0) for run in runs), np.zeros(1)), 1)
    typical = sum((run.bin_sums for run in runs), np.zeros(1)) / weights
    return Clusters(arrived, sums, np.cumsum(counts, axis=2), runs[0].uppers, typical)


def _added(table: Array, size: int, batches: int) -> Array:
    latest = table[len(table) - size * batches :]
    added: Array = latest.reshape(batches, size, *table.shape[1:]).sum(axis=1)
    return added


def _student(count: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))


def variance_of_sum(residuals: Array) -> Array:
    """Returns the variance of the sum of residuals by run and cluster, from their own spread and correlation."""
    return _variance(residuals - residuals.mean(axis=(0, 1)))


def _variance(apart: Array) -> Array:
    """Returns the variance of a sum from how far each of its terms is from their mean."""
    runs, batches = apart.shape[:2]
    count = runs * batches
    square = np.einsum("rb...,rb...->...", apart, apart)
    beside = np.einsum("rb...,rb...->...", apart[:, 1:], apart[:, :-1]) * batches / max(batches - 1, 1)
    phi = np.clip(beside / np.where(square > 0, square, 1.0), 0.0, MOST_CORRELATED)
    variance: Array = square * count / max(count - 1, 1) * (1 + phi) / (1 - phi)
    return variance


def _statistic(residuals: Array) -> Array:
    """Returns t of the hypothesis that residuals have mean zero, without skewness where there are batches."""
    count = residuals.shape[0] * residuals.shape[1]
    total = residuals.sum(axis=(0, 1))
    apart = residuals - total / count
    error = np.sqrt(_variance(apart))
    plain: Array = np.where(error > 0, total / np.where(error > 0, error, 1.0), np.sign(total) * CERTAIN)
    if residuals.shape[1] == 1:
        return plain
    square = np.einsum("rb...,rb...->...", apart, apart) / count
    cube = np.einsum("rb...,rb...,rb...->...", apart, apart, apart) / count
    bend = np.where(square > 0, cube / np.where(square > 0, square, 1.0) ** 1.5, 0.0) / math.sqrt(count)
    bent: Array = plain + bend * plain**2 / 3 + bend**2 * plain**3 / 27 + bend / 6
    return bent


def _ends(of: Clusters, arrived: Array, level: float, around: float) -> tuple[float, float]:
    """Returns between which ends of bins the statistic of a quantile does not contradict it.

    Only bins whose share of all is within `around` of the level are tried; what is further is contradicted.
    """
    share = of.within.sum(axis=(0, 1)) / arrived.sum()
    first, last = np.searchsorted(share, [level - around, level + around])
    near = slice(max(int(first) - 1, 0), int(last) + 2)  # the share of a bin may be the level, and no more than that
    statistic, limit = _statistic(level * arrived[:, :, None] - of.within[:, :, near]), _student(arrived.size)
    below, above = np.flatnonzero(statistic > limit), np.flatnonzero(statistic < -limit)
    low = float(of.uppers[near][below[-1]] if len(below) else of.uppers[near][0] / GAMMA)
    return low, float(of.uppers[near][above[0]]) if len(above) else math.inf


def pooled_quantile(of: Clusters, level: float, *, answered: bool = False) -> PooledEstimate:
    """Returns a quantile of all that arrived, or of those that were answered."""
    arrived = of.answered if answered else of.arrived
    total = arrived.sum()
    within = of.within.sum(axis=(0, 1))
    place = int(np.searchsorted(within, math.ceil(level * total - 1e-9)))
    residuals = level * arrived - of.within[:, :, min(place, len(within) - 1)]
    error = math.sqrt(float(variance_of_sum(residuals))) / total
    groups = min(level, 1 - level) * level * (1 - level) / error**2 if error else math.inf
    low, high = _ends(of, arrived, level, AROUND * error) if arrived.size > 1 else (0.0, math.inf)
    if place == len(within):
        return PooledEstimate(math.inf, low, math.inf, groups)
    edge = float(of.uppers[place])
    if answered:
        high = min(high, float(of.uppers[-1]))
    value = float(of.typical[place])
    return PooledEstimate(value, min(low, edge / GAMMA, value), max(high, edge), groups)


def pooled_mean(of: Clusters) -> PooledEstimate:
    """Returns the mean latency of those that were answered."""
    total = of.answered.sum()
    value = float(of.sums.sum() / total)
    rest = of.sums - value * of.answered
    variance = float(variance_of_sum(rest))
    error = math.sqrt(variance) / total
    if of.answered.size < 2 or not error:
        return PooledEstimate(value, value, value, math.inf)
    counts = np.diff(of.within.sum(axis=(0, 1)), prepend=0)
    square = float(counts @ of.typical**2) / total
    tried = value + error * np.linspace(-GRID_WIDTH, GRID_WIDTH, GRID)
    statistic, limit = _statistic(of.sums[:, :, None] - tried * of.answered[:, :, None]), _student(of.answered.size)
    inside = tried[np.abs(statistic) <= limit]
    low, high = (float(inside[0]), float(inside[-1])) if len(inside) else (value, value)
    return PooledEstimate(value, max(0.0, min(low, value)), max(high, value), (square - value**2) / error**2 / 4)
