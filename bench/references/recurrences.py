"""Recurrences by their characteristic polynomial: the verdict of the package about one, and what bounds its growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from coherence.base import sturm
from coherence.base.polynomials import (
    Matrix,
    characteristic_polynomial,
    count_roots,
    distinct_non_zero,
    narrowed,
    radius_bracket,
)
from coherence.loops.networks.sampled_verdict import SampledVerdict, _verdict, dominant_root

TOLERANCE = Fraction(1, 10**6)


def polynomial_verdict(coefficients: Sequence[Fraction | int]) -> SampledVerdict:
    """Returns the verdict on the recurrence with this characteristic polynomial (highest degree first).

    A repeated root on the circle makes it unstable.  Raises ValueError for the zero polynomial.
    """
    counts = count_roots(coefficients)
    p = sturm.primitive(coefficients)
    grows = counts.outside > 0 or counts.repeated_on
    return _verdict(p, counts, grows=grows, dead_beat=None if any(p[1:]) else len(p) - 1)


def delayed_integrator(gain: Fraction | int, delay_steps: int) -> tuple[Fraction, ...]:
    """Returns z^(d+1) - z^d + k: the characteristic polynomial of x[k+1] = x[k] - gain * x[k - d].

    Stable for 0 < gain < 2 sin(pi / (2 (2d + 1))), where it oscillates with period 2 (2d + 1) steps.
    SOURCE: Levin & May 1976, A note on difference-delay equations.  Raises ValueError for negative d.
    """
    if delay_steps < 0:
        raise ValueError(f"delay_steps(={delay_steps}) must be >= 0")
    coefficients = [Fraction(0)] * (delay_steps + 2)
    coefficients[0] = Fraction(1)
    coefficients[1] -= 1
    coefficients[-1] += gain
    return tuple(coefficients)


def companion(coefficients: Sequence[Fraction | int]) -> tuple[tuple[Fraction, ...], ...]:
    """Returns the companion matrix of a polynomial (highest degree first, leading coefficient not 0)."""
    lead, n = Fraction(coefficients[0]), len(coefficients) - 1
    first = tuple(-c / lead for c in coefficients[1:])
    return (first, *(tuple(Fraction(i == j) for j in range(n)) for i in range(n - 1))) if n else ()


def spectral_radius_bound(matrix: Matrix, *, tolerance: Fraction = TOLERANCE) -> Fraction:
    """Returns a rational r >= the spectral radius of A, at most a factor 1/(1 - tolerance) above it;
    proved by exact counts.

    r < 1 exactly where all roots lie inside the unit circle, r = 1 exactly where the spectral radius
    is 1, r = 0 where A is nilpotent.  As a contraction factor: |A^k| <= C r^k for all k with some C
    that depends on A, if r is larger than the spectral radius (always, but for 0 and 1).
    """
    return root_radius_bound(characteristic_polynomial(matrix), tolerance=tolerance)


def root_radius_bound(polynomial: Sequence[Fraction | int], *, tolerance: Fraction = TOLERANCE) -> Fraction:
    """Returns a bound as `spectral_radius_bound` does, of the roots of a polynomial."""
    p = distinct_non_zero(polynomial)
    if len(p) == 1:
        return Fraction(0)
    low, high = radius_bracket(p, tolerance, *_beside(dominant_root(p).modulus, tolerance))
    while low < 1 <= high:
        low, high = narrowed(p, low, high, (low + high) / 2)
    return high


def _beside(guess: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
    """Returns short rationals closely below and above the guess."""
    grain = guess * tolerance / 16
    unit = Fraction(2) ** (grain.numerator.bit_length() - grain.denominator.bit_length() - 1)
    return math.floor(guess * (1 - tolerance / 4) / unit) * unit, math.ceil(guess * (1 + tolerance / 4) / unit) * unit
