"""Computes statistics of a log without each batch of time, the slowdowns of its twin with the same, and intervals.

Row 0 of a vector is the statistic of everything, row b + 1 that without batch b.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from coherence.causal.answers.intervals import Estimate, jackknife
from coherence.causal.data.request_log import Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.twins.coordinated_twin import Twin
from coherence.causal.twins.inversion import FASTEST, SLOWEST, largest_at_least, solve_rising

# of one value for each request -> one for all, one without each batch
Statistic: TypeAlias = Callable[[Floats], Floats]
MOST_STEPS = 8
NORMAL = 1e-6  # of the skewness of a mean: what is below is none
DIRECTIONS = 720  # in which the range of a quotient is looked for
LEFT_OUT = 1e-4  # relative error of gamma where a batch is left out: far below the spread that it measures


def batch_numbers(log: RequestLog, count: int) -> Ints:
    """Returns the batch of each request: its place among those of `count` equal stretches of time with arrivals."""
    numbers: Ints = np.unique(log.parts(count), return_inverse=True)[1].astype(np.int64)
    return numbers


def ratio(above: Floats, below: Floats, batch: Ints) -> Floats:
    """Returns sum(above) / sum(below), whole and without each batch."""
    sums = [np.bincount(batch, column) for column in (above, below)]
    high, low = (np.concatenate([[one.sum()], one.sum() - one]) for one in sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = high / low
    return ratios


def means(batch: Ints) -> Statistic:
    """Returns the statistic that is the mean."""
    ones = np.ones(len(batch))
    return lambda values: ratio(values, ones, batch)


def quantiles(batch: Ints, share: float) -> Statistic:
    """Returns the statistic that is the lowest value which a share of the requests does not exceed."""
    batches = range(int(batch.max()) + 1)

    def statistic(values: Floats) -> Floats:
        order = np.argsort(values, kind="stable")
        ordered, owner = values[order], batch[order]
        picked = [ordered, *(ordered[owner != batch] for batch in batches)]
        return np.array([one[max(0, math.ceil(share * len(one)) - 1)] if len(one) else math.nan for one in picked])

    return statistic


def slowdowns(twin: Twin, statistic: Statistic, observed: Floats, *, smooth: bool = False) -> Floats:
    """Returns gamma at which the twin's delays have each of the observed statistics; `smooth` for one without steps."""
    seen: dict[float, Floats] = {}

    def of(gamma: float, row: int) -> float:
        if gamma not in seen:
            seen[gamma] = statistic(twin.delays(gamma))
        return float(seen[gamma][row])

    whole = solve_rising(lambda gamma: of(gamma, 0), float(observed[0]))
    near = min(max(whole, FASTEST), SLOWEST)
    gammas = [whole]
    for row in range(1, len(observed)):

        def rising(gamma: float, row: int = row) -> float:
            return of(gamma, row)

        wanted = float(observed[row])
        place = _secant(rising, wanted, near) if smooth else None
        gammas.append(solve_rising(rising, wanted, near=near, tolerance=LEFT_OUT) if place is None else place)
    return np.array(gammas)


def _secant(rising: Callable[[float], float], wanted: float, near: float) -> float | None:
    """Returns the place close to `near` where a smooth function has a value; None where a few steps do not reach it.

    Only the second and third places are new: the first two are the same for every row.
    """
    places, gaps = [near, near * 1.01], [rising(near) - wanted, rising(near * 1.01) - wanted]
    while abs(gaps[-1]) > LEFT_OUT * abs(gaps[1] - gaps[0]):  # gaps[1] - gaps[0]: what 1 % of gamma makes
        rise = gaps[-1] - gaps[-2]
        step = gaps[-1] * (places[-1] - places[-2]) / rise if rise else math.inf
        if len(places) > MOST_STEPS or not near / 2 < places[-1] - step < near * 2:
            return None
        places.append(places[-1] - step)
        gaps.append(rising(places[-1]) - wanted)
    return places[-1]


def last_slowdowns(twin: Twin, batch: Ints, observed: Floats) -> Floats:
    """Returns the largest gamma at which the twin still finishes each of the observed shares of work in time."""
    seen: dict[float, Floats] = {}

    def of(gamma: float, row: int) -> float:
        if gamma not in seen:
            seen[gamma] = ratio(twin.needs * twin.in_time(gamma), twin.needs, batch)
        return float(seen[gamma][row])

    whole = largest_at_least(lambda gamma: of(gamma, 0), float(observed[0]), near=1.0)
    near = min(max(whole, FASTEST), SLOWEST)
    rest = [
        largest_at_least(lambda gamma, row=row: of(gamma, row), float(observed[row]), near=near, tolerance=1e-5)  # type: ignore[misc]
        for row in range(1, len(observed))
    ]
    return np.array([whole, *rest])


def log_jackknife_estimate(values: Floats, *, level: float, minus: float = 0.0, inverse: bool = False) -> Estimate:
    """Returns values[0] with its interval by the jackknife of logarithms; 1/value if `inverse`, then less `minus`."""
    sign = -1.0 if inverse else 1.0
    logs = sign * np.log(np.clip(values, FASTEST, SLOWEST))
    low, high, error = (float(one) for one in jackknife(logs[0], logs[1:], level=level))
    middle = math.exp(logs[0])
    spread = middle * error if math.isfinite(error) else math.inf
    return Estimate(middle - minus, _exp(low) - minus, _exp(high) - minus, spread, level)


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf


def jackknife_estimate(values: Floats, *, level: float) -> Estimate:
    """Returns values[0] with its interval by the jackknife."""
    low, high, error = (float(one) for one in jackknife(values[0], values[1:], level=level))
    return Estimate(float(values[0]), low, high, error, level)


def quotient_estimate(above: Floats, below: Floats, *, plus: float, batches: int, level: float) -> Estimate:
    """Returns max(0, above) / (max(0, below) + plus), with the range that it takes where both may be.

    Both may be anywhere in the ellipse of their jackknife covariance whose shadow on any line is the interval of that
    combination (Fieller 1954): a quotient by what may be small has no symmetric interval.  Where few batches carry it,
    the end towards larger ones is moved outwards by their skewness (Hall 1992).  `batches`: those that tell of them.
    The range is infinite where `plus` is 0 and `below` may be nothing.
    """
    value = _quotient(float(above[0]), float(below[0]), plus)
    count = len(above) - 1
    if min(count, batches) < 2:
        return Estimate(value, -math.inf, math.inf, math.inf, level)
    from scipy.special import stdtrit

    apart = np.stack([above[1:], below[1:]])
    apart = apart - apart.mean(axis=1, keepdims=True)
    covariance = (count - 1) / count * apart @ apart.T
    values, ways = np.linalg.eigh(covariance)
    reach = float(stdtrit(batches - 1, (1 + level) / 2))
    turn = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    around = ways @ (np.sqrt(np.maximum(values, 0.0))[:, None] * np.stack([np.cos(turn), np.sin(turn)]))
    taken = [_quotient(above[0] + reach * x, below[0] + reach * y, plus) for x, y in around.T.tolist()]
    low, high = min(*taken, value), max(*taken, value)
    if not math.isfinite(high):
        return Estimate(value, low, high, math.inf, level)
    influence = -(apart[0] - value * apart[1])
    low = value - (value - low) * _stretch(influence, -reach)
    high = value + (high - value) * _stretch(influence, reach)
    error = math.sqrt(max(covariance[0, 0] - 2 * value * covariance[0, 1] + value**2 * covariance[1, 1], 0.0))
    return Estimate(value, max(low, 0.0), high, error / (max(float(below[0]), 0.0) + plus), level)


def _stretch(influence: Floats, reach: float) -> float:
    """Returns by how much further an end lies for the skewness of what batches contribute; at least 1.

    Hall's cubic of the studentised mean, y + c y^2 / 3 + c^2 y^3 / 27 + c / 6 with c = skewness / sqrt(batches), is
    solved for the quantile of the other side.
    """
    spread = float(np.sqrt((influence**2).mean()))
    if not spread > 0:
        return 1.0
    skewed = float((influence**3).mean()) / spread**3 / math.sqrt(len(influence))
    if abs(skewed) < NORMAL:
        return 1.0
    solved = (float(np.cbrt(1 + skewed * (-reach - skewed / 6))) - 1) * 3 / skewed
    return max(1.0, -solved / reach)


def _quotient(above: float, below: float, plus: float) -> float:
    most, least = max(float(above), 0.0), max(float(below), 0.0) + plus
    return most / least if least > 0 else math.inf


def clipped_estimate(found: Estimate, low: float, high: float = math.inf) -> Estimate:
    """Returns an estimate with its interval cut to what the quantity can take."""
    value, lowest, highest = (min(max(one, low), high) for one in (found.value, found.low, found.high))
    return Estimate(value, lowest, highest, found.error, found.level)
