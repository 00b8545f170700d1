"""Estimates how fast the margin of a promise shrinks, at equal load, and when nothing of it is left.

    margin = a + slope * t + b * load + noise,     time to breach = margin now / -slope

The slope has a Newey-West interval (Bartlett weights), so that neighbours that resemble each other count as fewer.
SOURCE: Newey, West, A simple, positive semi-definite, heteroskedasticity and autocorrelation consistent covariance
matrix, 1987; definitions 4 (SLA drift without breach).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats

FEWEST = 24  # blocks
WIDTH = 1.96


@dataclass(frozen=True)
class MarginDrift:
    """The margin now (s), its slope (s per s) with its interval, and the time to breach (s) with its interval.

    The time is infinite where the slope may be 0 or upwards.
    """

    margin: float
    slope: float
    low: float
    high: float

    @property
    def shrinks(self) -> bool:
        """Returns whether the whole interval of the slope lies below 0."""
        return self.high < 0

    @property
    def breach(self) -> tuple[float, float, float]:
        """Returns the time to breach and its interval (s)."""
        return _time(self.margin, self.slope), _time(self.margin, self.low), _time(self.margin, self.high)


def _time(margin: float, slope: float) -> float:
    if margin <= 0:
        return 0.0
    return margin / -slope if slope < 0 else math.inf


def margin_drift(times: Floats, margins: Floats, loads: Floats) -> MarginDrift | None:
    """Returns the drift over some blocks; None of too few."""
    known = np.isfinite(margins) & np.isfinite(loads)
    if known.sum() < FEWEST:
        return None
    at, level, load = (times - times[-1])[known], margins[known], loads[known]
    columns = [np.ones(len(at)), at]
    if float(np.ptp(load)) > 1e-9 * max(1.0, float(np.abs(load).max())):
        columns.append(load - load[-6:].mean())
    design = np.column_stack(columns)
    answer, _, rank, _ = np.linalg.lstsq(design, level, rcond=None)
    if rank < design.shape[1]:
        return None
    error = _slope_error(design, level - design @ answer)
    slope = float(answer[1])
    return MarginDrift(float(answer[0]), slope, slope - WIDTH * error, slope + WIDTH * error)


def _slope_error(design: Floats, residuals: Floats) -> float:
    count, width = design.shape
    scores = design * residuals[:, None]
    lags = math.floor(4 * (count / 100) ** (2 / 9)) + 2
    middle = scores.T @ scores
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        middle += (1 - lag / (lags + 1)) * (product + product.T)
    inverse = np.linalg.inv(design.T @ design)
    return math.sqrt(max(float((inverse @ middle @ inverse)[1, 1]), 0.0) * count / (count - width))
