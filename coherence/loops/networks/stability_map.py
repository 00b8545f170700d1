"""Maps stability over gain and delay of one loop, exactly counted at every point of a grid.

For each gain k the roots of d(s) + k n(s) exp(-s T) cross the axis at frequencies that do not depend on T (the delay
is eliminated), each at equidistant delays and always in the same direction.  So the count at any T is that of the
loop without delay, plus two for every crossing passed to the right, minus two for every one to the left.

SOURCE: Walton & Marshall 1987, Direct method for TDS stability analysis (IEE Proceedings D 134).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coherence.base.errors import UsageError

Reals = NDArray[np.floating[Any]]
Complexes = NDArray[np.complexfloating[Any, Any]]
UNKNOWN = -1  # the count at a point next to a boundary
INFINITE = -2  # feedthrough >= 1 around the delay: infinitely many roots right of the axis
BESIDE = 1e-9  # relative distance of a parameter from a crossing within which the count is not given


@dataclass(frozen=True)
class StabilityMap:
    """`unstable[i, j]`: roots right of the axis for gains[i] and delays[j], `UNKNOWN` or `INFINITE`."""

    gains: Reals
    delays: Reals
    unstable: NDArray[np.int64]

    @property
    def stable(self) -> NDArray[np.bool_]:
        return np.asarray(self.unstable == 0)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        return np.asarray(self.unstable == UNKNOWN)


def stability_map(
    numerator: Sequence[float], denominator: Sequence[float], gains: ArrayLike, delays: ArrayLike
) -> StabilityMap:
    """Counts for d(s) + gain n(s) exp(-s delay) = 0 (negative feedback) over gains x delays (s).

    Raises UsageError for an improper loop or a negative delay.
    """
    k, t = np.asarray(gains, dtype=float), np.asarray(delays, dtype=float)
    n: Reals = np.trim_zeros(np.asarray(numerator, dtype=float), "f")
    d: Reals = np.trim_zeros(np.asarray(denominator, dtype=float), "f")
    if len(d) == 0 or len(n) > len(d):
        raise UsageError("the loop differentiates: add a lag to its denominator")
    if np.any(t < 0):
        raise UsageError("a delay is negative")
    n = n if len(n) else np.zeros(1)
    counts = _without_delay(n, d, k)[:, None] + np.zeros((1, len(t)), dtype=np.int64)
    unknown = np.zeros(counts.shape, dtype=bool) | (counts < 0)
    omega, outward, sure = _crossings(n, d, k)
    for column in range(omega.shape[1]):
        passed, near = _passed(n, d, (k, omega[:, column]), t)
        counts = counts + 2 * outward[:, column, None] * passed
        unknown |= near
    counts[unknown | ~sure[:, None] | (counts < 0)] = UNKNOWN
    if len(n) == len(d):
        late = t > 0
        neutral = np.abs(k * n[0]) >= abs(d[0]) * (1 - BESIDE)
        counts[np.ix_(neutral, late)] = INFINITE
    return StabilityMap(k, t, counts)


def _without_delay(n: Reals, d: Reals, k: Reals) -> NDArray[np.int64]:
    """Returns roots right of the axis of d + k n; UNKNOWN where one is next to it or the degree falls."""
    closed = d + k[:, None] * np.pad(n, (len(d) - len(n), 0))
    falls = np.abs(closed[:, 0]) <= BESIDE * (abs(d[0]) + np.abs(k * n[0]))
    polynomials = np.where(falls[:, None], d, closed)
    roots = batch_roots(polynomials)
    near = np.abs(roots.real) <= BESIDE * np.abs(roots).max(axis=1, initial=0.0)[:, None]
    counts = np.where(falls | near.any(axis=1), UNKNOWN, (roots.real > 0).sum(axis=1))
    doubtful = (np.abs(roots.real) <= _radii(polynomials, roots)).any(axis=1) & (counts != UNKNOWN)
    counts[doubtful] = [_routh(row) for row in polynomials[doubtful]]
    return counts


def _radii(polynomials: Reals, roots: Complexes) -> Reals:
    """Returns the radius around each root of discs that hold all true roots, as many as stand in what they cover.

    SOURCE: Gerschgorin's discs of the Weierstrass corrections; Braess & Hadeler 1973 (Numerische Mathematik 21).
    """
    degree = roots.shape[1]
    value, size = np.zeros_like(roots), np.zeros(roots.shape)
    for column in polynomials.T:
        value, size = value * roots + column[:, None], size * np.abs(roots) + np.abs(column)[:, None]
    apart = np.abs(roots[:, :, None] - roots[:, None, :]) + np.eye(degree)
    with np.errstate(divide="ignore"):
        error = np.abs(value) + 8 * degree * np.finfo(float).eps * size
        return np.asarray(degree * error / (np.abs(polynomials[:, :1]) * apart.prod(axis=2)))


def _routh(polynomial: Reals) -> int:
    """Returns the roots right of the axis by Routh's array in fractions; UNKNOWN where a zero leads a row."""
    exact = [Fraction(float(c)) for c in polynomial]
    above, below = exact[::2], exact[1::2]
    leading = [above[0]]
    for _ in range(len(exact) - 1):
        if not below or not below[0]:
            return UNKNOWN
        leading.append(below[0])
        factor = above[0] / below[0]
        shifted = below[1:] + [Fraction(0)] * (len(above) - len(below))
        above, below = below, [a - factor * b for a, b in zip(above[1:], shifted, strict=True)]
    return sum(1 for a, b in pairwise(leading) if a * b < 0)


def batch_roots(polynomials: Reals) -> Complexes:
    """Returns roots of many polynomials of one degree (highest power first, leading coefficient not 0), row by row."""
    degree = polynomials.shape[1] - 1
    if degree == 0:
        return np.zeros((len(polynomials), 0), dtype=complex)
    monic = polynomials[:, 1:] / polynomials[:, :1]
    powers = 1.0 / np.arange(1, degree + 1)
    with np.errstate(divide="ignore"):
        scale = np.max(np.abs(monic) ** powers, axis=1)
    scale = np.where(scale > 0, scale, 1.0)
    matrix = np.zeros((len(monic), degree, degree))
    matrix[:, np.arange(1, degree), np.arange(degree - 1)] = 1
    matrix[:, 0, :] = -monic / scale[:, None] ** np.arange(1, degree + 1)
    return np.asarray(np.linalg.eigvals(matrix).astype(complex) * scale[:, None])


def squared(p: Reals) -> Reals:
    """Returns |p(j w)|^2 as a polynomial in w^2, highest power first."""
    even = np.polymul(p, p * (-1.0) ** np.arange(len(p))[::-1])[::2]
    return np.asarray(even * (-1.0) ** np.arange(len(even))[::-1])


def _crossings(n: Reals, d: Reals, k: Reals) -> tuple[Reals, NDArray[np.int64], NDArray[np.bool_]]:
    """Returns frequencies (nan where there is none), +1 or -1 for the direction, and whether all of a row are clear."""
    below, above = squared(n), squared(d)
    difference = above - k[:, None] ** 2 * np.pad(below, (len(above) - len(below), 0))
    falls = np.abs(difference[:, 0]) <= BESIDE * np.abs(above[0])
    x = batch_roots(np.where(falls[:, None], above, difference))
    size = np.abs(x) + 1e-300
    real = (x.real > 0) & (np.abs(x.imag) <= 1e-12 * size)
    touching = (x.real > 0) & (np.abs(x.imag) > 1e-12 * size) & (np.abs(x.imag) <= 1e-6 * size)
    omega = np.sqrt(np.where(real, x.real, np.nan))
    powers = np.arange(difference.shape[1] - 1, 0, -1)
    slope = _horner(difference[:, :-1] * powers, np.where(real, x.real, 1.0))
    terms = _horner(np.abs(difference[:, :-1]) * powers, np.where(real, x.real, 1.0))
    flat = real & (np.abs(slope) <= 1e-7 * terms)
    return omega, np.where(real, np.sign(slope), 0).astype(np.int64), ~(touching | flat).any(axis=1) & ~falls


def _horner(rows: Reals, x: Reals) -> Reals:
    """Returns the polynomial of each row at each point of its row."""
    total = np.zeros_like(x)
    for column in rows.T:
        total = total * x + column[:, None]
    return total


def _passed(n: Reals, d: Reals, at: tuple[Reals, Reals], delays: Reals) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns how many crossings of one frequency per gain lie at delays in (0, T], and whether T is next to one."""
    k, omega = at
    exists = np.isfinite(omega)
    w = np.where(exists, omega, 1.0)
    top, bottom = np.polyval(n, 1j * w), np.polyval(d, 1j * w)
    with np.errstate(all="ignore"):
        angle = np.mod(np.angle(-k * top / np.where(bottom == 0, 1, bottom)), math.tau)
    turns = (w[:, None] * delays - angle[:, None]) / math.tau
    nearest = np.round(turns)
    near = (np.abs(turns - nearest) <= BESIDE * (1 + np.abs(turns))) & (nearest >= 0) & (delays > 0)
    passed = np.maximum(np.floor(turns) + 1, 0)
    return np.where(exists[:, None], passed, 0).astype(np.int64), near & exists[:, None]
