"""Counts effective samples of correlated series, and gives means with honest intervals.

Successive scrapes of a queue repeat each other; n of them carry the information of far fewer.
SOURCE: Bayley and Hammersley 1946, The "effective" number of independent observations in an autocorrelated
time series, JRSS Suppl. 8; spectral density at zero from an autoregression: Heidelberger and Welch 1981.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.simulate.telemetry.measures import IntervalEstimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

MOST_ORDER = 40

LARGEST = 1e100  # of a value: its powers stay within floating point


@dataclass(frozen=True)
class Autoregression:
    """x[k] = sum of coefficients x[k-1], x[k-2], ... + noise of this variance, around the mean."""

    coefficients: tuple[float, ...]
    noise: float


def effective_size(series: ArrayLike) -> float:
    """Returns independent values whose mean is as good as that of the series:
    n variance / (spectral density at zero).
    """
    x = cleaned(series)
    model = autoregression(x)
    long_run = model.noise / (1 - sum(model.coefficients)) ** 2
    return float(len(x) * x.var() / long_run) if long_run > 0 else float(len(x))


def mean(series: ArrayLike, *, confidence: float = 0.95) -> IntervalEstimate:
    """Returns the mean with Student's interval of the effective sample size."""
    from scipy.stats import t

    x = cleaned(series)
    size = effective_size(x)
    spread = x.std() * math.sqrt(len(x) / (len(x) - 1))
    half = float(t.ppf((1 + confidence) / 2, max(size - 1, 1.0)) * spread / math.sqrt(size))
    middle = float(x.mean())
    return IntervalEstimate(middle, middle - half, middle + half, confidence)


def autoregression(series: ArrayLike, *, most: int | None = None) -> Autoregression:
    """Fits by Burg's method, which is always stable, with the order of least BIC up to `most` (default 10 log10 n).

    SOURCE: Burg 1967; Brockwell and Davis, Time Series, 8.2.
    """
    x = cleaned(series)
    x = x - x.mean()
    n = len(x)
    most = min(most or int(10 * math.log10(n)), MOST_ORDER, n // 4)
    forward, backward, noise = x.copy(), x.copy(), float(x @ x) / n
    coefficients: Array = np.zeros(0)
    best, score = Autoregression((), noise), n * math.log(noise or 1e-300)
    for order in range(1, most + 1):
        f, b = forward[1:], backward[:-1]
        size = float(f @ f + b @ b)
        if size <= 1e-14 * n * noise or noise <= 0:
            break
        k = 2 * float(f @ b) / size
        coefficients = np.append(coefficients - k * coefficients[::-1], k)
        forward, backward = f - k * b, b - k * f
        noise *= 1 - k * k
        if noise <= 0:
            break
        bic = n * math.log(noise) + order * math.log(n)
        if bic < score:
            best, score = Autoregression(tuple(map(float, coefficients)), noise), bic
    return best


def cleaned(series: ArrayLike) -> Array:
    """Returns the series as numbers.  Raises UsageError for too few or for numbers that are not finite."""
    try:
        x = np.asarray(series, dtype=float).ravel()
    except (TypeError, ValueError):
        raise UsageError("the series holds something that is no number: give numbers alone") from None
    if len(x) and np.abs(x).max(initial=0.0) > LARGEST:
        raise UsageError(f"the series holds numbers above {LARGEST:g}: give it in a larger unit")
    if len(x) < 8 or not np.isfinite(x).all():
        raise UsageError(f"a series of {len(x)} values: give at least 8, all finite (fill or cut gaps first)")
    return x
