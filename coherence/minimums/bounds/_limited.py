"""Loops with delay: exact root counts of x[t+1] = x[t] - k (h0 x[t] + h1 x[t-1] + ...), and the largest stable gain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from coherence.errors import UsageError

SIDES = Fraction(1, 10**9)
LEAST = Fraction(1, 10**6)  # share of the total weight: the gain below which a delayed loop is looked at first


def characteristic(weights: Sequence[Fraction], gain: Fraction) -> list[Fraction]:
    """z^(d+1) - z^d + k (h0 z^d + ... + hd), highest power first."""
    shape = [Fraction(1), Fraction(-1), *[Fraction(0)] * (len(weights) - 1)]
    return [a + (gain * weights[i - 1] if i else 0) for i, a in enumerate(shape)]


def stable(weights: Sequence[Fraction], gain: Fraction) -> bool:
    """Are all roots inside the unit circle?  By exact counts."""
    from coherence.algebra.polynomials import count_roots

    found = count_roots(characteristic(weights, gain))
    return found.on == found.outside == 0


def largest_radius(weights: Sequence[float], gain: float) -> float:
    """The largest modulus of a root, in floats."""
    import numpy as np

    polynomial = [1.0, -1.0, *[0.0] * (len(weights) - 1)]
    for i, weight in enumerate(weights):
        polynomial[i + 1] += gain * weight
    return float(max(abs(np.roots(polynomial)), default=0.0))


def largest_gain(weights: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """(stable, not stable) around the first gain at which the loop is lost, 1e-9 apart relatively; both by exact counts.

    For weights with a positive sum small gains are stable and large ones are not.  Raises UsageError otherwise.
    """
    total = sum(weights, Fraction(0))
    if total <= 0:
        raise UsageError("a loop whose readings follow its command with a sum of weights <= 0 has no stable gain")
    low = LEAST / total
    high = next((g for g in (low * Fraction(5, 4) ** n for n in range(400)) if not stable(weights, g)), None)
    if high is None or high == low:
        raise UsageError("no edge of stability between 1e-6 and 1e30 times the inverse of the sum of the weights")
    low = high * Fraction(4, 5)
    while high - low > SIDES * high:
        middle = ((low + high) / 2).limit_denominator(10**15)
        low, high = (middle, high) if stable(weights, middle) else (low, middle)
    return low, high


def delayed(steps: int) -> tuple[Fraction, ...]:
    """All weight on the reading that is `steps` decisions old."""
    return (*[Fraction(0)] * steps, Fraction(1))


def bisected(reached: partial[bool], low: float, high: float) -> float:
    """The point at which a monotone condition begins to hold."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
