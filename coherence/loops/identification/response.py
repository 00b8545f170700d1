"""Estimates gain, delay and time constant of a tier from its input and output series, with intervals.

y(t) = c + gain u(t - delay) passed through a first-order lag + first-order noise, with the input held between
scrapes: the delay need not be a multiple of the scrape interval.  Output-error least squares of whitened
residuals.  Where the input is itself a reaction to the output's noise (a closed loop without outside
excitation) any such fit is biased.  SOURCE: Ljung, System Identification, 2nd ed., 4.2 and 13.4;
Astrom and Wittenmark, Computer-Controlled Systems, 3rd ed., 3.3 (fractional delay).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.identification.effective_samples import cleaned
from coherence.simulate.telemetry.measures import IntervalEstimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

ROUNDS = 5
FASTEST = 0.05  # time constant in scrape intervals below which a lag cannot be told from none


@dataclass(frozen=True)
class TierResponse:
    """`gain` (output per input at rest), `delay` and `time_constant` in s; `fit`: share of the variance explained."""

    gain: IntervalEstimate
    delay: IntervalEstimate
    time_constant: IntervalEstimate
    fit: float
    noise: float


def response(
    given: ArrayLike, seen: ArrayLike, interval: float, *, most_delay: float, confidence: float = 0.95
) -> TierResponse:
    """Fits series scraped every `interval` seconds, for delays from 0 to `most_delay` seconds."""
    u, y = cleaned(given), cleaned(seen)
    if len(u) != len(y) or not interval > 0 or not 0 <= most_delay < interval * len(u) / 2:
        raise UsageError("the two series must be equally long, the interval > 0 and the delay below half their length")
    if u.std() <= 1e-12 * max(1.0, abs(float(u.mean()))):
        raise UsageError("the input never moves: it tells nothing about gain or delay")
    u = u - u.mean()
    most = most_delay / interval
    correlation, p = 0.0, _coarse(u, y, most)
    for _ in range(ROUNDS):
        p = _fitted(p, u, y, most, correlation)
        left = y - _columns(p, u) @ _linear(p, u, y, correlation)
        before, correlation = (
            correlation,
            float(np.clip(left[1:] @ left[:-1] / max(float(left @ left), 1e-300), 0, 0.98)),
        )
        if abs(correlation - before) < 1e-4:
            break
    return _response_of(p, u, y, correlation, interval, most_delay, confidence)


def _columns(p: Array, u: Array) -> Array:
    """Returns the columns 1 and lagged, delayed input for (delay, log time constant), both in scrape intervals."""
    from scipy.signal import lfilter

    delay, lag = max(float(p[0]), 0.0), math.exp(float(p[1]))
    whole, part = int(delay), delay - int(delay)
    keep = math.exp(-1 / lag)
    late = math.exp(-(1 - part) / lag)
    moved = lfilter([0.0, 1 - late, late - keep], [1.0, -keep], u)
    shifted = np.concatenate([np.full(min(whole, len(u)), 0.0), moved])[: len(u)]
    return np.column_stack([np.ones(len(u)), shifted])


def _whitened(columns: Array, correlation: float) -> Array:
    return np.asarray(columns[1:] - correlation * columns[:-1])


def _linear(p: Array, u: Array, y: Array, correlation: float) -> Array:
    return np.asarray(np.linalg.lstsq(_whitened(_columns(p, u), correlation), _whitened(y, correlation), rcond=None)[0])


def _residual(p: Array, u: Array, y: Array, correlation: float) -> Array:
    return _whitened(y - _columns(p, u) @ _linear(p, u, y, correlation), correlation)


def _coarse(u: Array, y: Array, most: float) -> Array:
    """Returns the best of a grid of delays and time constants."""
    lags = np.log([0.2, 1.0, 3.0, 10.0, max(len(u) / 20, 12.0)])
    grid = [np.array([delay, lag]) for delay in np.linspace(0, most, min(int(most * 2) + 1, 81)) for lag in lags]
    return min(grid, key=lambda p: float(np.sum(_residual(p, u, y, 0.0) ** 2)))


def _fitted(start: Array, u: Array, y: Array, most: float, correlation: float) -> Array:
    """Fits least squares from the start and from the neighbouring whole delays: the error has a corner at each."""
    from scipy.optimize import least_squares

    box = ([-1e-9, math.log(FASTEST)], [most + 1e-6, math.log(len(u) * 2.0)])
    fits = []
    for shift in (0.0, -0.5, 0.5):
        p = np.clip(start + np.array([shift, 0.0]), np.array(box[0]) + 1e-6, np.array(box[1]) - 1e-6)
        fits.append(least_squares(_residual, p, bounds=box, args=(u, y, correlation)))
    return np.asarray(min(fits, key=lambda fit: fit.cost).x)


def _response_of(
    p: Array, u: Array, y: Array, correlation: float, interval: float, most: float, confidence: float
) -> TierResponse:
    from scipy.stats import t

    linear = _linear(p, u, y, correlation)
    left = _residual(p, u, y, correlation)
    h = 1e-4
    slopes = [
        _whitened((_columns(p + d, u) - _columns(p - d, u)) @ linear / (2 * h), correlation) for d in np.eye(2) * h
    ]
    jacobian = np.column_stack([*slopes, _whitened(_columns(p, u), correlation)])
    variance = float(left @ left) / max(len(left) - 5, 1)
    error = np.sqrt(np.maximum(np.diag(np.linalg.pinv(jacobian.T @ jacobian)), 0) * variance)
    quantile = float(t.ppf((1 + confidence) / 2, max(len(y) * (1 - correlation) / (1 + correlation) - 4, 2.0)))
    delay, lag = max(float(p[0]), 0.0) * interval, math.exp(float(p[1])) * interval
    wide, fade, gain = float(quantile * error[0] * interval), min(float(quantile * error[1]), 700.0), float(linear[1])
    total = y - _columns(p, u) @ linear
    return TierResponse(
        IntervalEstimate(gain, gain - quantile * float(error[3]), gain + quantile * float(error[3]), confidence),
        IntervalEstimate(delay, max(delay - wide, 0.0), min(delay + wide, most), confidence),
        IntervalEstimate(lag, lag * math.exp(-fade), lag * math.exp(fade), confidence),
        1 - float(total.var() / y.var()) if y.var() else 0.0,
        correlation,
    )
