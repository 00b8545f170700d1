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
        return max((0.0, *self._ends)) if self.shrinks else math.inf

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

    beside: what is held fixed, a column each (load, the day).  What is remembered is filtered out of both sides;
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
    memory, walks = _memory_of(level - design @ line)
    left, right = _less_its_past(design, memory), _less_its_past(level, memory)
    whole = np.isfinite(right)
    if not walks:
        return _drift(left[whole], right[whole])
    last = np.flatnonzero(known)[-1]
    beside_now = design[last, 1:].copy()
    beside_now[0] = 0.0  # the margin is that of the last sample, at the load of the last few
    walk = _drift(left[whole][:, 1:], right[whole], at=0, last=(float(margins[last]), -beside_now))
    if walk is None:
        return None
    own, shared = walk.doubt  # if it is no walk, the margin may as well be that of the line
    return replace(walk, doubt=(own + (walk.margin - float(line[0])) ** 2, shared))


def _less_its_past(values: Floats, memory: Floats) -> Floats:
    steps, count = len(memory), len(values)
    kept = (share * values[steps - back : count - back] for back, share in enumerate(memory, start=1))
    return np.asarray(values[steps:] - sum(kept), np.float64)


def _memory_of(noise: Floats) -> tuple[Floats, bool]:
    """Returns how much of each of its last values a noise around a line keeps, and whether it may be a random walk."""
    past, now = _steps_of(noise, _steps_that_tell(noise))
    if len(now) < FEWEST - 2 or np.abs(now).max() <= ROUNDING * np.nanmax(np.abs(noise), initial=0.0):
        return np.zeros(2), False
    answer = _least(past, now)
    back, again = float(answer[0]), answer[1:]
    rest = now - past @ answer
    free = len(now) - len(answer)
    spread = math.sqrt(float(rest @ rest) / free * float(np.linalg.pinv(past.T @ past)[0, 0]))
    walks = back > DICKEY_FULLER * spread
    # least squares around a line find too little
    keeps = 1.0 if walks else min(1 + back + (2 + 4 * (1 + back)) / len(now), 0.999)
    memory = np.concatenate([again, [0.0]]) - np.concatenate([[0.0], again])
    memory[0] += keeps
    return memory, walks


def _steps_of(noise: Floats, many: int) -> tuple[Floats, Floats]:
    """Returns the value before each step beside so many steps before it, and the step; rows without a gap."""
    steps = np.diff(noise)
    count = len(steps) - many
    rows = np.column_stack([noise[many:-1], *(steps[many - k : many - k + count] for k in range(1, many + 1))])
    now = steps[many:]
    whole = np.isfinite(rows).all(axis=1) & np.isfinite(now)
    return rows[whole], now[whole]


def _steps_that_tell(noise: Floats) -> int:
    """Returns how many earlier steps tell of the next one (Akaike), of no more than leave half of the rows whole."""
    rows, now = _steps_of(noise, 1)
    most = 1
    # SOURCE: Schwert 1989 (12 at a hundred values), and no more than one for twenty values
    for many in range(2, math.floor(min(12 * (len(noise) / 100) ** 0.25, len(noise) / 20)) + 1):
        longer = _steps_of(noise, many)
        if 2 * len(longer[1]) < len(now) or len(longer[1]) < 2 * FEWEST:
            break
        most = many
    rows, now = _steps_of(noise, most)
    if most == 1:
        return 1

    def worth(many: int) -> float:
        rest = now - rows[:, : many + 1] @ _least(rows[:, : many + 1], now)
        return len(now) * math.log(max(float(rest @ rest), 1e-300)) + 2 * many

    return min(range(1, most + 1), key=worth)


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
