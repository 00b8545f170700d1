"""Decides string stability of a chain of tiers: whether a disturbance grows from hop to hop.

A `Hop` maps what happens at one tier to what happens at the next.  A chain is string stable if no frequency
grows over a hop: sup |G| <= 1.  For rational hops that is a polynomial inequality and is decided exactly, also
where the bound is attained (a hop that passes slow changes unchanged has |G(0)| = 1).
SOURCE: Swaroop and Hedrick 1996, String stability of interconnected systems; Feng et al. 2019 (survey).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base import sturm
from coherence.base.errors import UsageError
from coherence.base.polynomials import count_roots
from coherence.loops.multirate.sampled_system import Number, exactly

Poly = list[Fraction]


@dataclass(frozen=True)
class Hop:
    """numerator / denominator * delay, descending powers of s (`step` None) or of z (`step`: seconds per sample)."""

    name: str
    numerator: tuple[Number, ...]
    denominator: tuple[Number, ...]
    delay: float = 0.0
    step: float | None = None

    def at(self, frequency: Any) -> Any:
        """Returns the gain and phase at frequencies in rad/s, without its delay."""
        import numpy as np

        point = 1j * np.asarray(frequency, dtype=float)
        point = point if self.step is None else np.exp(point * self.step)
        top, bottom = ([float(c) for c in side] for side in (self.numerator, self.denominator))
        return np.polyval(top, point) / np.polyval(bottom, point)


@dataclass(frozen=True)
class StringVerdict:
    """`verdict`: stable (no frequency grows), unstable (some does, or a hop by itself is) or undecided, and why."""

    verdict: str
    reason: str


def checked(hop: Hop) -> Hop:
    """Returns the hop without leading zeros.  Raises UsageError for one that differentiates or has no denominator."""
    top, bottom = (tuple(side[_leading(side) :]) for side in (hop.numerator, hop.denominator))
    if not all(math.isfinite(c) for c in (*top, *bottom)) or not bottom:
        raise UsageError(f"{hop.name}: coefficients must be finite and the denominator not zero")
    if len(top) > len(bottom):
        raise UsageError(f"{hop.name} differentiates: add a lag to its denominator")
    if hop.delay < 0 or (hop.step is not None and not hop.step > 0):
        raise UsageError(f"{hop.name}: delay must be >= 0 and step > 0")
    return Hop(hop.name, top or (0,), bottom, hop.delay, hop.step)


def _leading(side: Sequence[Number]) -> int:
    return next((i for i, c in enumerate(side) if c), len(side))


def closed_loop(numerator: Sequence[Number], denominator: Sequence[Number], *, name: str = "hop") -> Hop:
    """Returns L / (1 + L) of the open loop L = numerator / denominator: a tier that follows the one before it."""
    size = max(len(numerator), len(denominator))
    top, bottom = ([Fraction(0)] * (size - len(x)) + _rational(x) for x in (numerator, denominator))
    return checked(Hop(name, tuple(top), tuple(a + b for a, b in zip(top, bottom, strict=True))))


def _rational(numbers: Sequence[Number]) -> Poly:
    return [exactly(c) for c in numbers]


def unstable_poles(hop: Hop) -> int:
    """Returns poles of the hop that do not decay: on or right of the axis, on or outside of the circle; exact."""
    polynomial = _rational(checked(hop).denominator)
    if hop.step is None:
        polynomial = _onto_circle(polynomial)
        lost = len(checked(hop).denominator) - 1 - (len(sturm.primitive(polynomial)) - 1)
        counts = count_roots(polynomial)
        return counts.on + counts.outside + lost
    counts = count_roots(polynomial)
    return counts.on + counts.outside


def _onto_circle(p: Poly) -> Poly:
    """Returns (z + 1)^n p(s) with s = (z - 1) / (z + 1): the left half plane becomes the disc."""
    n = len(p) - 1
    total = [Fraction(0)] * (n + 1)
    for k, c in enumerate(p):
        term = [c]
        for factor in [-1] * (n - k) + [1] * k:
            term = [a + factor * b for a, b in zip([*term, Fraction(0)], [Fraction(0), *term], strict=True)]
        total = [a + b for a, b in zip(total, term, strict=True)]
    return total


def string_stability(hops: Hop | Sequence[Hop]) -> StringVerdict:
    """Returns the verdict on a chain of hops, each judged by itself; exact.

    A chain of different hops of which some amplify and some damp is undecided: ask for its `peak`.  UsageError: a chain
    without hops.
    """
    chain = [hops] if isinstance(hops, Hop) else list(hops)
    if not chain:
        raise UsageError("a chain without hops: give at least one")
    for hop in chain:
        if unstable_poles(hop):
            return StringVerdict("unstable", f"{hop.name} alone does not settle")
    growing = [hop.name for hop in chain if not passes_nothing_above(hop, Fraction(1))]
    if not growing:
        return StringVerdict("stable", "no frequency grows over any hop (exact)")
    if len(growing) == len(chain):
        return StringVerdict("unstable", f"some frequency grows over every hop of {', '.join(dict.fromkeys(growing))}"
                             if len(chain) > 1 else f"some frequency grows over {growing[0]}")  # fmt: skip
    return StringVerdict("undecided", f"{', '.join(dict.fromkeys(growing))} amplify, others damp: the peak decides")


def passes_nothing_above(hop: Hop, level: Fraction) -> bool:
    """Decides whether |G| <= level at every frequency; exact, for the coefficients as they are written."""
    hop = checked(hop)
    squares = _square_of_axis if hop.step is None else _square_of_circle
    top, bottom = squares(_rational(hop.numerator)), squares(_rational(hop.denominator))
    top = [Fraction(0)] * (len(bottom) - len(top)) + top
    bottom = [Fraction(0)] * (len(top) - len(bottom)) + bottom
    return nowhere_negative([level**2 * b - a for a, b in zip(top, bottom, strict=True)], circle=hop.step is not None)


def _square_of_axis(p: Poly) -> Poly:
    """Returns |p(jw)|^2 as a polynomial in w^2."""
    n = len(p) - 1
    total = [Fraction(0)] * (n + 1)
    for i, a in enumerate(p):
        for j, b in enumerate(p):
            if (i - j) % 2 == 0:
                degree = (2 * n - i - j) // 2
                total[n - degree] += a * b * (1 if (i - j) % 4 == 0 else -1)
    return total


def _square_of_circle(p: Poly) -> Poly:
    """Returns |p(z)|^2 on the circle as a polynomial in z + 1/z."""
    n = len(p) - 1
    sums = [sum((a * b for a, b in zip(p[k:], p, strict=False)), Fraction(0)) for k in range(n + 1)]
    total = [Fraction(0)] * n + [sums[0]]
    before, now = [Fraction(2)], [Fraction(1), Fraction(0)]
    for k in range(1, n + 1):
        for i, c in enumerate(reversed(now), 1):
            total[-i] += sums[k] * c
        before, now = (
            now,
            [a - b for a, b in zip([*now, Fraction(0)], [Fraction(0), Fraction(0), *before], strict=True)],
        )
    return total


def nowhere_negative(polynomial: Poly, *, circle: bool) -> bool:
    """Decides whether it is >= 0 on [-2, 2] (`circle`) or on [0, inf): only roots of odd multiplicity change a sign."""
    p = sturm.primitive(polynomial)
    if not p:
        return True
    odd = [1]
    for factor in sturm.square_free(p)[::2]:
        odd = [sum(odd[i] * factor[k - i] for i in range(len(odd)) if 0 <= k - i < len(factor))
               for k in range(len(odd) + len(factor) - 1)]  # fmt: skip
    low, high = (-2, 2) if circle else (0, 2 + max(abs(c) for c in p) // abs(p[0]))
    for end in (low, high):
        while len(odd) > 1 and sturm.value(odd, end) == 0:
            odd = sturm.divided(odd, [1, -end])
    if len(odd) > 1 and sturm.real_roots(odd, low, high):
        return False
    return _sign_inside(p, low, high) > 0


def _sign_inside(p: list[int], low: int, high: int) -> int:
    """Returns the sign at some inner point that is no root."""
    count = len(p) + 1
    for k in range(1, count + 1):
        x = low + Fraction((high - low) * k, count + 1)
        total = Fraction(0)
        for c in p:
            total = total * x + c
        if total:
            return 1 if total > 0 else -1
    return 0
