"""Measures a run, with intervals: percentiles, means, amplification, attempts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult

Array = NDArray[Any]
BATCHES = 32


@dataclass(frozen=True)
class IntervalEstimate:
    """A number with its interval, and the confidence of the interval."""

    value: float
    low: float
    high: float
    confidence: float = 0.99

    def holds(self, number: float) -> bool:
        """Returns whether a number lies in the interval."""
        return self.low <= number <= self.high


def percentile(values: Array, q: float, *, confidence: float = 0.99) -> tuple[float, float, float]:
    """Returns the q-th percentile (0 to 100) and its distribution-free interval from order statistics.

    The interval runs from the k-th to the m-th smallest of n independent values, where a Binomial(n, q)
    lies outside [k, m - 1] with at most the error on each side; its ends are infinite where n is too small.
    SOURCE: David and Nagaraja, Order Statistics (2003), section 7.1.
    """
    from scipy.stats import binom

    if not 0 <= q <= 100:
        raise UsageError(f"percentile {q!r}; help: give a number from 0 to 100")
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    count, share, error = ordered.size, q / 100, (1 - confidence) / 2
    if not count:
        return math.nan, -math.inf, math.inf
    low, high = int(binom.ppf(error, count, share)), int(binom.ppf(1 - error, count, share)) + 1
    estimate = float(ordered[min(count - 1, max(0, math.ceil(share * count) - 1))])
    below = float(ordered[low - 1]) if low >= 1 else -math.inf
    above = float(ordered[high - 1]) if high <= count else math.inf
    return estimate, below, above


def mean(values: Array, *, confidence: float = 0.99, batches: int = BATCHES) -> IntervalEstimate:
    """Returns the mean of a stationary series in order of time, with the interval from the means of batches.

    Successive values depend on each other; means of long batches hardly do.  Student's t with batches - 1
    degrees of freedom.  SOURCE: Law, Simulation Modeling and Analysis (2015), section 9.5.3.
    """
    from scipy.stats import t as student

    series = np.asarray(values, dtype=np.float64)
    size = series.size // batches
    if size == 0:
        return IntervalEstimate(float(series.mean()) if series.size else math.nan, -math.inf, math.inf, confidence)
    means = series[: size * batches].reshape(batches, size).mean(axis=1)
    half = float(student.ppf((1 + confidence) / 2, batches - 1) * means.std(ddof=1) / math.sqrt(batches))
    middle = float(means.mean())
    return IntervalEstimate(middle, middle - half, middle + half, confidence)


def share(hits: Array, *, confidence: float = 0.99) -> IntervalEstimate:
    """Returns the share of true values in a series in order of time, with the interval from batches."""
    return mean(np.asarray(hits, dtype=np.float64), confidence=confidence)


def _total(result: RequestResult, count: str) -> int:
    return sum(result.counters[f"{route.name}.{count}"] for route in result.program.routes)


def amplification(result: RequestResult, route: str | None = None) -> float:
    """Tries sent for each call, on one route or on all: 1 without retries and hedges."""
    if route is not None:
        tries, calls = result.counters[f"{route}.tries"], result.counters[f"{route}.calls"]
    else:
        tries, calls = _total(result, "tries"), _total(result, "calls")
    return tries / calls if calls else math.nan


def attempts(result: RequestResult) -> dict[int, int]:
    """Returns how many finished requests sent so many tries themselves."""
    numbers, counts = np.unique(result.requests.tries, return_counts=True)
    return {int(number): int(count) for number, count in zip(numbers, counts, strict=True)}
