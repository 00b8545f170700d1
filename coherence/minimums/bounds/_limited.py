"""Loops with delay: exact root counts of x[t+1] = x[t] - k (h0 x[t] + h1 x[t-1] + ...), and the largest stable gain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from coherence.base.bisection import halved
from coherence.base.errors import UsageError

SIDES = Fraction(1, 10**9)
LEAST = Fraction(1, 10**6)
STEP = Fraction(51, 50)  # of the search for the edge; an unstable island that is narrower is not seen


def characteristic(weights: Sequence[Fraction], gain: Fraction) -> list[Fraction]:
    """z^(d+1) - z^d + k (h0 z^d + ... + hd), highest power first."""
    shape = [Fraction(1), Fraction(-1), *[Fraction(0)] * (len(weights) - 1)]
    return [a + (gain * weights[i - 1] if i else 0) for i, a in enumerate(shape)]


def stable(weights: Sequence[Fraction], gain: Fraction) -> bool:
    """Decides by exact counts whether all roots lie inside the unit circle."""
    from coherence.base.polynomials import count_roots

    roots = count_roots(characteristic(weights, gain))
    return roots.on == roots.outside == 0


def largest_radius(weights: Sequence[float], gain: float) -> float:
    """Returns the largest modulus of a root, in floats."""
    import numpy as np

    polynomial = [1.0, -1.0, *[0.0] * (len(weights) - 1)]
    for i, weight in enumerate(weights):
        polynomial[i + 1] += gain * weight
    return float(max(abs(np.roots(polynomial)), default=0.0))


def largest_gain(weights: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """(stable, not stable) around the first gain at which the loop is lost, 1e-9 apart relatively; exact counts.

    For weights with a positive sum small gains are stable and large ones are not.  Raises UsageError otherwise.
    """
    total = sum(weights, Fraction(0))
    if total <= 0:
        raise UsageError("a loop whose readings follow its command with a sum of weights <= 0 has no stable gain")
    low, high = _bracket(weights, 1 / (2 * len(weights) * total))

    def middle(low: Fraction, high: Fraction) -> Fraction:
        return ((low + high) / 2).limit_denominator(10**15)

    def near(low: Fraction, high: Fraction) -> bool:
        return high - low <= SIDES * high

    return halved(lambda gain: stable(weights, gain), low, high, near=near, middle=middle)


def _bracket(weights: Sequence[Fraction], start: Fraction) -> tuple[Fraction, Fraction]:
    """One step of the search: roots in floats find the edge, exact counts confirm both ends."""
    while not stable(weights, start):
        start /= 10
        if start < LEAST / 10**6:
            raise UsageError("no small gain of this loop is stable")
    rounded = [float(w) for w in weights]
    low = high = start
    while largest_radius(rounded, float(high)) < 1:
        low, high = high, (high * STEP).limit_denominator(10**12)
    while not stable(weights, low):
        low /= STEP
    while stable(weights, high):
        high *= STEP
    return low, high


def delayed(steps: int) -> tuple[Fraction, ...]:
    """Returns all weight on the reading that is `steps` decisions old."""
    return (*[Fraction(0)] * steps, Fraction(1))


def bisected(reached: partial[bool], low: float, high: float) -> float:
    """Returns the point at which a monotone condition begins to hold."""
    return halved(reached, high, low)[0]
