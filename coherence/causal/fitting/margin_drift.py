"""Estimates how fast the margin of a promise shrinks, at equal load, and when nothing of it is left.

    margin = a + slope * t + b * load + noise,     time to breach = margin now / -slope

The slope has a Newey-West interval (Bartlett weights), so that neighbours that resemble each other count as fewer.
SOURCE: Newey, West, A simple, positive semi-definite, heteroskedasticity and autocorrelation consistent covariance
matrix, 1987; Fieller 1954 (interval of a ratio); Dickey, Fuller 1979 (1 % point with a trend); definitions 4 (SLA
drift without breach).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.data.series import Floats

FEWEST = 24  # blocks, or samples
WIDTH = 1.96
DICKEY_FULLER = -3.96  # errors below 0, from which noise around a line is no random walk
ROUNDING = 1e-9


@dataclass(frozen=True)
class MarginDrift:
    """The margin now, its slope (per s) with its interval, and the time to breach (s) with its interval.

    `doubt`: the variance of the margin, and its covariance with the slope.  The time is when the line meets 0, with the
    interval of Fieller; it is infinite where the slope may be 0 or upwards.
    """

    margin: float
    slope: float
    low: float
    high: float
    doubt: tuple[float, float] = (0.0, 0.0)

    @property
    def shrinks(self) -> bool:
        """Returns whether the whole interval of the slope lies below 0."""
        return self.high < 0

    @property
    def breach(self) -> tuple[float, float, float]:
        """Returns the time to breach and its interval (s): the times at which the line may be 0."""
        likely = 0.0 if self.margin <= 0 else self.margin / -self.slope if self.slope < 0 else math.inf
        return likely, min(self._early, likely), max(self._late, likely)

    @property
    def _early(self) -> float:
        own, _ = self.doubt
        if self.margin <= WIDTH * math.sqrt(own):
            return 0.0
        return min((time for time in self._ends if time > 0), default=math.inf)

    @property
    def _late(self) -> float:
        return max(0.0, *self._ends) if self.shrinks else math.inf

    @property
    def _ends(self) -> tuple[float, ...]:
        """Returns the times at which the line is its interval away from 0: margin + slope t = -+ 1.96 errors there."""
        own, shared = self.doubt
        reach = (self.slope - self.low) ** 2
        square, line, rest = (
            self.slope**2 - reach, self.margin * self.slope - WIDTH**2 * shared, self.margin**2 - WIDTH**2 * own,
        )  # fmt: skip
        inside = line**2 - square * rest
        if square == 0 or inside < 0:
            return (rest / (-2 * line),) if square == 0 and line else ()
        return (-line - math.sqrt(inside)) / square, (-line + math.sqrt(inside)) / square


def margin_drift(times: Floats, margins: Floats, loads: Floats) -> MarginDrift | None:
    """Returns the drift over some blocks, of which neighbours are nearly independent; None of too few."""
    known = np.isfinite(margins) & np.isfinite(loads)
    if known.sum() < FEWEST:
        return None
    at, level, load = (times - times[-1])[known], margins[known], loads[known]
    columns = [np.ones(len(at)), at]
    if float(np.ptp(load)) > 1e-9 * max(1.0, float(np.abs(load).max())):
        columns.append(load - load[-6:].mean())
    return _drift(np.column_stack(columns), level, lags=math.floor(4 * (len(at) / 100) ** (2 / 9)) + 2)


def filtered_drift(times: Floats, margins: Floats, beside: Floats) -> MarginDrift | None:
    """Returns the drift of samples that remember earlier ones; None of too few.

    beside: what is held fixed, a column each (load, the day).  Two steps of memory are filtered out of both sides;
    where a test does not tell the noise from a random walk it is taken as one, and differences are read.
    """
    known = np.isfinite(margins) & np.isfinite(beside).all(axis=1)
    if known.sum() < FEWEST:
        return None
    moving = np.ptp(beside[known], axis=0) > 1e-9 * np.abs(beside[known]).max(axis=0)
    recent = np.flatnonzero(known)[-6:]
    columns = [np.ones(len(times)), times - times[-1], *(beside - beside[recent].mean(axis=0)).T[moving]]
    design = np.where(known[:, None], np.column_stack(columns), np.nan)
    level = np.where(known, margins, np.nan)
    line = _least(design[known], level[known])
    first, second = _memory_of(level - design @ line)
    left, right = _less_its_past(design, first, second), _less_its_past(level, first, second)
    whole = np.isfinite(right)
    if first + second < 1:
        return _drift(left[whole], right[whole])
    last = np.flatnonzero(known)[-1]
    beside_now = design[last, 1:].copy()
    beside_now[0] = 0.0  # the margin is that of the last sample, at the load of the last few
    walk = _drift(left[whole][:, 1:], right[whole], at=0, last=(float(margins[last]), -beside_now))
    if walk is None:
        return None
    own, shared = walk.doubt  # if it is no walk, the margin may as well be that of the line
    return replace(walk, doubt=(own + (walk.margin - float(line[0])) ** 2, shared))


def _less_its_past(values: Floats, first: float, second: float) -> Floats:
    return np.asarray(values[2:] - first * values[1:-1] - second * values[:-2], np.float64)


def _memory_of(noise: Floats) -> tuple[float, float]:
    """Returns how much of its last two values a noise around a line keeps; (1, 0): it may be a random walk."""
    steps = np.diff(noise)
    past = np.column_stack([noise[1:-1], steps[:-1]])
    rows = np.isfinite(past).all(axis=1) & np.isfinite(steps[1:])
    past, now = past[rows], steps[1:][rows]
    if len(now) < FEWEST - 2 or np.abs(now).max() <= ROUNDING * np.nanmax(np.abs(noise), initial=0.0):
        return 0.0, 0.0
    back, again = _least(past, now)
    rest = now - past @ (back, again)
    spread = math.sqrt(float(rest @ rest) / (len(now) - 2) * float(np.linalg.pinv(past.T @ past)[0, 0]))
    if back > DICKEY_FULLER * spread:
        return 1.0, 0.0
    keeps = min(1 + back + (2 + 4 * (1 + back)) / len(now), 0.999)  # least squares around a line find too little
    return float(keeps + again), float(-again)


def _drift(
    design: Floats, level: Floats, *, at: int = 1, lags: int = 0, last: tuple[float, Floats] | None = None
) -> MarginDrift | None:
    """Returns the least-squares fit; the slope is column `at`.

    The margin is the column before it, or `last`: a level, and the weights of the columns in what is added to it.
    """
    if len(level) < FEWEST - 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    answer = _least(design, level)
    start, weights = last if last is not None else (0.0, np.eye(len(answer))[at - 1])
    spread = _covariance(design, level - design @ answer, lags)
    slope, error = float(answer[at]), math.sqrt(max(float(spread[at, at]), 0.0))
    doubt = max(float(weights @ spread @ weights), 0.0), float(weights @ spread[at])
    margin = start + float(weights @ answer)
    return MarginDrift(margin, slope, slope - WIDTH * error, slope + WIDTH * error, doubt)


def _least(design: Floats, level: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(design, level, rcond=None)[0], np.float64)


def _covariance(design: Floats, residuals: Floats, lags: int) -> Floats:
    """Returns the covariance of the coefficients, of Newey and West."""
    count, width = design.shape
    scores = design * residuals[:, None]
    middle = scores.T @ scores
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        middle += (1 - lag / (lags + 1)) * (product + product.T)
    inverse = np.linalg.inv(design.T @ design)
    return np.asarray(inverse @ middle @ inverse * count / (count - width), np.float64)
