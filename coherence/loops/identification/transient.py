"""Estimates period and decay of a transient after a step or a failure, with intervals.

y = c + exp(-t / decay) (a cos wt + b sin wt) + first-order noise, by least squares of whitened residuals; the
linear part is solved for inside (variable projection).  Intervals are Student's on logarithmic scales.
SOURCE: Golub and Pereyra 1973 (variable projection); Cochrane and Orcutt 1949 (whitening).
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

ROUNDS = 6  # of whitening
GRID = 15  # points per side on which the extent of the likelihood is measured
MOST_CORRELATION = 0.98


@dataclass(frozen=True)
class RingDown:
    """`period` and `decay_time` in s (negative decay time: the swing grows); `amplitude` at the first sample.

    `noise`: correlation of the residuals from one sample to the next.
    """

    period: IntervalEstimate
    decay_time: IntervalEstimate
    amplitude: IntervalEstimate
    level: IntervalEstimate
    noise: float


def ring_down(series: ArrayLike, interval: float, *, confidence: float = 0.95) -> RingDown:
    """Fits one transient scraped every `interval` seconds.  Raises UsageError for a constant series."""
    x = cleaned(series)
    if not interval > 0 or x.std() <= 1e-12 * max(1.0, abs(float(x.mean()))):
        raise UsageError("the series is constant, or the scrape interval is not > 0")
    correlation, best = 0.0, np.zeros(2)
    for _ in range(ROUNDS):
        best = _fitted(x, correlation)
        left = x - _basis(best, len(x)) @ _linear(best, x, correlation)
        before, correlation = correlation, float(np.clip(left[1:] @ left[:-1] / (left @ left), 0, MOST_CORRELATION))
        if abs(correlation - before) < 1e-4:
            break
    return _ring_down(x, best, correlation, interval, confidence)


def _basis(p: Array, n: int) -> Array:
    """Returns the columns 1, exp(-dk) cos(ok), exp(-dk) sin(ok) for (decay, angle) per sample."""
    k = np.arange(n)
    fade = np.exp(np.clip(-p[0] * k, -700, 50))
    return np.column_stack([np.ones(n), fade * np.cos(p[1] * k), fade * np.sin(p[1] * k)])


def _whitened(columns: Array, correlation: float) -> Array:
    first = columns[:1] * math.sqrt(1 - correlation**2)
    return np.concatenate([first, columns[1:] - correlation * columns[:-1]])


def _linear(p: Array, x: Array, correlation: float) -> Array:
    basis, target = _whitened(_basis(p, len(x)), correlation), _whitened(x, correlation)
    return np.asarray(np.linalg.lstsq(basis, target, rcond=None)[0])


def _residual(p: Array, x: Array, correlation: float) -> Array:
    left = x - _basis(p, len(x)) @ _linear(p, x, correlation)
    return _whitened(left, correlation)


def _fitted(x: Array, correlation: float) -> Array:
    from scipy.optimize import least_squares

    n = len(x)
    starts = _starts(x, correlation)
    box = ([-3.0 / n, math.pi / n / 2], [3.0, math.pi * (1 - 0.5 / n)])
    fits = [
        least_squares(_residual, np.clip(p, [box[0][0] * 0.99, box[0][1] * 1.01], np.array(box[1]) * 0.999), bounds=box,
                      args=(x, correlation), x_scale=[1 / n, 1 / n])
        for p in starts
    ]  # fmt: skip
    return np.asarray(min(fits, key=lambda fit: fit.cost).x)


def _starts(x: Array, correlation: float) -> list[Array]:
    """Returns angles of the highest places of the periodogram of the first half and of all, slow and fast decay."""
    starts = []
    for part in (x, x[: max(len(x) // 2, 8)], x[: max(len(x) // 4, 8)]):
        power = np.abs(np.fft.rfft(part - part.mean(), 4 * len(part)))
        angle = float(2 * np.pi * max(int(power.argmax()), 1) / (4 * len(part)))
        starts += [np.array([decay / len(x), angle]) for decay in (0.5, 4.0, 20.0)]
    starts.sort(key=lambda p: float(np.sum(_residual(p, x, correlation) ** 2)))
    return starts[:3]


def _ring_down(x: Array, p: Array, correlation: float, interval: float, confidence: float) -> RingDown:
    from scipy.stats import t

    n = len(x)
    linear = _linear(p, x, correlation)
    whole = np.concatenate([p, linear])
    jacobian = np.column_stack([_slope(whole, i, n, correlation) for i in range(5)])
    left = _residual(p, x, correlation)
    variance = float(left @ left) / max(n - 6, 1)
    error = np.sqrt(np.diag(np.linalg.pinv(jacobian.T @ jacobian)) * variance)
    quantile = float(t.ppf((1 + confidence) / 2, max(n * (1 - correlation) / (1 + correlation) - 5, 2.0)))
    (decay_low, decay_high), (turn_low, turn_high) = _extent(x, p, error[:2], correlation, quantile)
    swing, level = math.hypot(linear[1], linear[2]), float(linear[0])
    spread = quantile * math.hypot(linear[1] * error[3], linear[2] * error[4]) / swing
    wide = quantile * float(error[2])
    return RingDown(
        IntervalEstimate(_turns(p[1], interval), _turns(turn_high, interval), _turns(turn_low, interval), confidence),
        IntervalEstimate(
            interval / float(p[0]) if p[0] else math.inf,
            interval / decay_high if decay_high > 0 else -math.inf,
            interval / decay_low if decay_low > 0 else math.inf,
            confidence,
        ),
        IntervalEstimate(swing, max(swing - spread, 0.0), swing + spread, confidence),
        IntervalEstimate(level, level - wide, level + wide, confidence),
        correlation,
    )


def _turns(angle: float, interval: float) -> float:
    return math.tau / float(angle) * interval if angle > 0 else math.inf


def _extent(x: Array, p: Array, error: Array, correlation: float, quantile: float) -> list[tuple[float, float]]:
    """Returns per parameter how far its profile stays within the F threshold: the region's extents on a grid around p.

    SOURCE: Bates and Watts, Nonlinear Regression Analysis (1988), 6.1 (profile t intervals).
    """
    least = float(np.sum(_residual(p, x, correlation) ** 2))
    limit = least * (1 + quantile**2 / max(len(x) - 6, 1))
    marks = np.linspace(-1, 1, GRID)
    reach = np.maximum(error, 1e-12) * quantile * 1.3
    axes: list[Array] = []
    inside = np.zeros((0, 0), dtype=bool)
    for _ in range(3):
        axes = [p[i] + reach[i] * marks for i in range(2)]
        inside = np.array([[float(np.sum(_residual(np.array([a, b]), x, correlation) ** 2)) <= limit for b in axes[1]]
                           for a in axes[0]])  # fmt: skip
        edges = np.array([inside[0].any() or inside[-1].any(), inside[:, 0].any() or inside[:, -1].any()])
        if not edges.any():
            break
        reach = np.where(edges, reach * 2, reach)
    extents = []
    for i in range(2):
        held = axes[i][inside.any(axis=1 - i)]
        step = reach[i] * 2 / (GRID - 1) / 2
        extents.append((float(min(held.min(initial=p[i]) - step, p[i] - quantile * error[i])),
                      float(max(held.max(initial=p[i]) + step, p[i] + quantile * error[i]))))  # fmt: skip
    return extents


def _slope(whole: Array, i: int, n: int, correlation: float) -> Array:
    h = 1e-6 * max(abs(whole[i]), 1e-3)
    ends = []
    for sign in (1, -1):
        moved = whole.copy()
        moved[i] += sign * h
        ends.append(_basis(moved[:2], n) @ moved[2:])
    return _whitened((ends[0] - ends[1]) / (2 * h), correlation)
