"""Inverts functions of the slowdown gamma that grow, or fall by steps: by doubling a bracket, then closing it."""

from __future__ import annotations

import math
from collections.abc import Callable

FASTEST, SLOWEST = 1e-12, 1e12  # slowdowns that are looked at
MOST_STEPS = 200


def bracket(high: Callable[[float], bool], *, near: float = 1.0) -> tuple[float, float]:
    """Returns (low, high) around the place where `high(gamma)`, false then true, turns; by doubling from `near`.

    (0, x) where it is true for every positive gamma, (x, inf) where it is true for none.
    """
    if high(near):
        step, upper = 1.02, near
        while upper > FASTEST:
            lower = upper / step
            if not high(lower):
                return lower, upper
            upper, step = lower, step * step
        return 0.0, upper
    step, lower = 1.02, near
    while lower < SLOWEST:
        upper = lower * step
        if high(upper):
            return lower, upper
        lower, step = upper, step * step
    return lower, math.inf


def solve_rising(
    rising: Callable[[float], float], wanted: float, *, near: float = 1.0, tolerance: float = 1e-10
) -> float:
    """Returns gamma with rising(gamma) = wanted, for a continuous function that grows; 0 and inf where none is finite.

    Bracketed false position (Illinois), bisection where it stalls: relative error of gamma <= tolerance.
    """
    seen: dict[float, float] = {}

    def gap(gamma: float) -> float:
        if gamma not in seen:
            seen[gamma] = rising(gamma) - wanted
        return seen[gamma]

    low, high = bracket(lambda gamma: gap(gamma) >= 0, near=near)
    if low == 0.0 or high == math.inf:
        return low if low == 0.0 else high
    return _between(gap, low, high, tolerance)


def _between(gap: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    below, above, side = gap(low), gap(high), 0
    for step in range(MOST_STEPS):
        if above == 0.0 or high - low <= tolerance * high:
            return high
        middle = (low * above - high * below) / (above - below) if step % 3 < 2 else (low + high) / 2
        if not low < middle < high:
            middle = (low + high) / 2
            if not low < middle < high:
                return high
        middle_gap = gap(middle)
        if middle_gap >= 0:
            high, above, below = middle, middle_gap, below / 2 if side > 0 else below
            side = 1
        else:
            low, below, above = middle, middle_gap, above / 2 if side < 0 else above
            side = -1
    return high


def largest_at_least(
    falling: Callable[[float], float], wanted: float, *, near: float, tolerance: float = 1e-9
) -> float:
    """Returns the largest gamma with falling(gamma) >= wanted of a function falling by steps; inf where all have it."""
    return _turn(lambda gamma: falling(gamma) < wanted, near, tolerance)[0]


def smallest_at_most(
    falling: Callable[[float], float], wanted: float, *, near: float, tolerance: float = 1e-9
) -> float:
    """Returns the smallest gamma with falling(gamma) <= wanted; 0 where all have it, inf where none has."""
    return _turn(lambda gamma: falling(gamma) <= wanted, near, tolerance)[1]


def _turn(high: Callable[[float], bool], near: float, tolerance: float) -> tuple[float, float]:
    lower, upper = bracket(high, near=near)
    if lower == 0.0:
        return 0.0, 0.0
    if upper == math.inf:
        return math.inf, math.inf
    while upper - lower > tolerance * upper:
        middle = (lower + upper) / 2
        if high(middle):
            upper = middle
        else:
            lower = middle
    return lower, upper
