"""Estimates the frequency of a steady tone, one that lasts as long as the series.

A constant and one sinusoid are fitted by least squares; the frequency is where the rest is least.  What is left over
about the line (drift of the phase, noise, a second tone) sets the interval.

    var(angle) = 24 S / (A^2 N^3),  S the power of the rest near the line, A the amplitude

SOURCE: B. Quinn and E. Hannan, The Estimation and Tracking of Frequency, Cambridge 2001, theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LINES, GRID = 3, 97  # widths of a line on each side in which it is looked for; angles tried
NEAR = 8  # bins on each side over which the rest is averaged, at least
FLOOR = 1e-9  # of the angle: what rounding leaves


@dataclass(frozen=True)
class Tone:
    """`angle` per sample with its standard error; `share` of the variance that the sinusoid explains."""

    angle: float
    error: float
    share: float


def tone(x: Array, near: float) -> Tone:
    """Returns the sinusoid near an angle (radians per sample) that explains the series best."""
    from scipy.optimize import minimize_scalar

    line = 2 * math.pi / len(x)
    low, high = max(near - LINES * line, line / 4), min(near + LINES * line, math.pi - line / 8)
    tried = np.linspace(low, high, GRID) if low < high else np.array([near])
    losses = [float((_rest(x, angle) ** 2).sum()) for angle in tried]
    best = int(np.argmin(losses))
    ends = (float(tried[max(best - 1, 0)]), float(tried[min(best + 1, len(tried) - 1)]))
    angle = float(tried[best])
    if ends[0] < ends[1]:
        options = {"xatol": FLOOR * angle}
        angle = float(
            minimize_scalar(lambda w: float((_rest(x, w) ** 2).sum()), bounds=ends, method="bounded", options=options).x
        )
    rest = _rest(x, angle)
    total = float(((x - x.mean()) ** 2).sum())
    explained = max(total - float(rest @ rest), 1e-300)
    amplitude = math.sqrt(2 * explained / len(x))
    variance = 24 * _power(rest, angle) / (amplitude**2 * len(x) ** 3)
    return Tone(angle, math.sqrt(variance) + FLOOR * angle, explained / max(total, 1e-300))


def _rest(x: Array, angle: float) -> Array:
    k = np.arange(len(x)) - (len(x) - 1) / 2
    basis = np.column_stack([np.ones(len(x)), np.cos(angle * k), np.sin(angle * k)])
    return np.asarray(x - basis @ np.linalg.lstsq(basis, x, rcond=None)[0])


def _power(rest: Array, angle: float) -> float:
    """Returns the mean periodogram of the rest about the line."""
    values = np.abs(np.fft.rfft(rest)) ** 2 / len(rest)
    middle, width = round(angle * len(rest) / (2 * math.pi)), max(NEAR, len(rest) // 32)
    return float(values[max(middle - width, 0) : middle + width + 1].mean())
