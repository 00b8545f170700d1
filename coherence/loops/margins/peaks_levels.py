"""Decides whether a closed loop's gain is below a level all over an interval, by one factorisation at each end.

For T = A^-1 B with all blocks as outputs, |T| <= level at a frequency exactly where A A^* - B B^* / level^2 >= 0.  B is
diagonal and A = diag(D) - diag(N exp(-s tau)) K, so the entries of A A^* follow from K K^T without any product of
matrices.  Over an interval m - h .. m + h, with A = A0 + t A1 + E and |W E| <= eps for a diagonal W > 0,

    A A^* >= (1 - theta) (A0 A0^* + t (A1 A0^* + A0 A1^*)) - (1 / theta - 1) eps^2 W^-2   for any 0 < theta < 1,

which is linear in t: positive definite at both ends, it is so between them.  A row may be turned by any exp(j w c)
first; c shares the delay out between D and N such that E is small.

SOURCE: level sets of the H-infinity norm: Boyd, Balakrishnan and Kabamba, A bisection method for computing the
H-infinity norm, 1989; rounding of Cholesky factors: Higham, Accuracy and Stability of Numerical Algorithms, 10.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import zpotrf

from coherence.loops.margins.peaks_response import (
    ClosedLoopResponse,
    delayed,
    delayed_reach,
    matrix,
    norms,
    reach,
    taylor,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]

LARGE, LOOSE = 12, 1e-5  # blocks, and the tolerance, from which on these levels are quicker and exact enough
POWERS = 12  # steps towards the largest singular value


def serves(of: ClosedLoopResponse, tolerance: float) -> bool:
    """Decides whether levels decide about this response."""
    return of.size >= LARGE and tolerance >= LOOSE and not of.shift and len(set(of.rows)) == of.size


@dataclass(frozen=True)
class Level:
    """Intervals of one response, [interval, row]: D and N with slopes, sizes of B, weights, what is left out.

    `size` holds |b|^2, its slope and what bends away from these; `left` is eps.
    """

    half: Real
    d: tuple[Complex, Complex]
    n: tuple[Complex, Complex]
    size: tuple[Real, Real, Real]
    weights: Real
    left: Real


def level(of: ClosedLoopResponse, middle: Real, half: Real, *, width: float | None = None) -> Level:
    """Returns what the test of any level needs of some intervals; `width` is |K|, computed if not given."""
    top, bottom = taylor(of.numerators, middle), taylor(of.denominators, middle)
    far_top, far_bottom = reach(top, half), reach(bottom, half)
    mixed = np.abs(top[0]) * np.linalg.norm(of.gains, axis=1)
    own = np.abs(bottom[0])
    turned = of.delays * own / (own + mixed + np.finfo(float).tiny)
    d, n = delayed(bottom, turned - of.delays, middle), delayed(top, turned, middle)
    bends = delayed_reach(far_bottom, of.delays - turned)[2], delayed_reach(far_top, turned)[2]
    b, far = (bottom, far_bottom) if of.sensitivity else (top, far_top)
    entering = np.isin(np.arange(of.size), of.columns)
    bent = half[:, None] ** 2 * (far[1] ** 2 + far[0] * far[2])
    size = np.abs(b[0]) ** 2, 2 * np.real(np.conj(b[0]) * 1j * b[1]), bent
    weights = 1 / np.maximum(np.where(entering, np.abs(b[0]), 0.0), 0.1 * (far_bottom[0] + far_top[0]) + 1e-300)
    left = half**2 / 2 * norms(of, weights * bends[0], weights * bends[1], width=width)
    return Level(half, d[:2], n[:2], (size[0] * entering, size[1] * entering, size[2] * entering), weights, left)


class Test:
    """Tests of levels on one response."""

    def __init__(self, of: ClosedLoopResponse) -> None:
        self.of = of
        self.across = np.ascontiguousarray(of.gains.T)
        self.products = of.gains @ of.gains.T
        self.width = float(np.linalg.norm(of.gains, 2))
        self.lengths = np.linalg.norm(of.gains, axis=1)
        self.rounding = 4 * np.finfo(float).eps * of.size * (of.size + 10)
        self.start = np.random.default_rng(0).normal(size=len(of.columns)) + 0j

    def below(self, at: Level, k: int, level: float) -> bool:
        """Decides whether it is proved that no gain in interval k is above the level."""
        theta = float(at.left[k]) * level
        if not theta < 0.5:
            return False
        theta = max(theta, 1e-15)
        lost = (1 / theta - 1) * (at.left[k] / at.weights[k]) ** 2
        flat, slope = self._flat(at, k), self._slope(at, k)
        half = float(at.half[k])
        size, tilt, bent = at.size[0][k], at.size[1][k], at.size[2][k]
        return all(
            self._positive((1 - theta) * (flat + t * slope), at, k, lost + (size + t * tilt + bent) / level**2)
            for t in (half, -half)
        )

    def reached(self, at: Level, k: int, level: float) -> bool:
        """Decides whether the gain in the middle of interval k is at the level or above, or nearly so."""
        return not self._positive(self._flat(at, k), at, k, at.size[0][k] / level**2)

    def gain(self, omega: float) -> float:
        """Returns the largest singular value at a frequency, or slightly less."""
        response = transfer(self.of, omega)
        if response is None:
            return 0.0
        vector, size = self.start, 0.0
        for _ in range(POWERS):
            vector = vector / np.linalg.norm(vector)
            image = response @ vector
            size = float(np.linalg.norm(image))
            vector = np.conj(np.conj(image) @ response)
            if not size:
                return 0.0
        self.start = vector
        return size

    def _flat(self, at: Level, k: int) -> Complex:
        """Returns half of A0 A0^*: the whole is this and its conjugate transpose."""
        d, n = at.d[0][k], at.n[0][k]
        half = (0.5 * n)[:, None] * self.products
        half -= d[:, None] * self.across
        half *= np.conj(n)
        _diagonal(half)[:] += np.abs(d) ** 2 / 2
        return np.asarray(half)

    def _slope(self, at: Level, k: int) -> Complex:
        """Returns half of A1 A0^* + A0 A1^*."""
        d, n, d1, n1 = at.d[0][k], at.n[0][k], at.d[1][k], at.n[1][k]
        half = n1[:, None] * self.products
        half -= d1[:, None] * self.across
        half *= np.conj(n)
        half -= d[:, None] * self.across * np.conj(n1)
        _diagonal(half)[:] += d1 * np.conj(d)
        return np.asarray(half)

    def _positive(self, half: Complex, at: Level, k: int, less: Real) -> bool:
        """Decides whether half + half^* - diag(less) is positive definite, rounding on the safe side."""
        whole = half + np.conj(half.T)
        wide = at.half[k]
        sizes = (np.abs(at.d[0][k]) + wide * np.abs(at.d[1][k])) + self.lengths * (
            np.abs(at.n[0][k]) + wide * np.abs(at.n[1][k])
        )
        _diagonal(whole)[:] -= less + self.rounding * (sizes**2 + less)
        return bool(np.isfinite(less).all() and zpotrf(whole.T, lower=1, clean=0, overwrite_a=1)[1] == 0)


def _diagonal(whole: Complex) -> Complex:
    """Returns the diagonal itself, to be written to, whatever the order in memory."""
    return np.asarray(np.einsum("ii->i", whole))


def transfer(of: ClosedLoopResponse, omega: float) -> Complex | None:
    """Returns T at one frequency, all outputs; nothing where A is singular."""
    middle = np.array([omega])
    top, bottom = taylor(of.numerators, middle), taylor(of.denominators, middle)
    n, d = delayed(top, of.delays, middle)[0], bottom[0]
    entering = np.zeros((of.size, len(of.columns)), dtype=complex)
    entering[list(of.columns), np.arange(len(of.columns))] = (d if of.sensitivity else n)[0, list(of.columns)]
    try:
        return np.asarray(np.linalg.solve(matrix(of, d, n)[0], entering))
    except np.linalg.LinAlgError:
        return None
