"""Encloses exp(A h) and its integrals in balls: every number that rounding could give lies inside.

The series in A h is summed where its norm is small, with a bound on what is left out; longer steps are doubled from
shorter ones.  SOURCE: Moler and Van Loan 2003, Nineteen dubious ways to compute the exponential of a matrix, method 1
(the bound of the remainder) and 3 (doubling).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.loops.multirate.balls import BITS, in_balls
from coherence.loops.multirate.plant import Motion

Array = Any
SMALL = 4  # of the norm of A h, up to which the series is summed
LEFT_OUT = Fraction(1, 2 ** (BITS - 32))  # of the series


class EnclosedMotion(Motion):
    """Motion by a rational matrix, in balls."""

    def __init__(self, a: Array) -> None:
        super().__init__(a, exact=True)
        self.size = max((sum(map(abs, row)) for row in a), default=Fraction(0))  # its sup norm

    def _over(self, h: Fraction) -> tuple[Array, Array, Array]:
        if self.size * h <= SMALL:
            return self._summed(h)
        moved, once, twice = self.over(h / 2)
        return moved @ moved, once + moved @ once, twice + once * (h / 2) + moved @ twice

    def _summed(self, h: Fraction) -> tuple[Array, Array, Array]:
        n, norm = len(self.a), self.size * h
        step, power = in_balls(self.a * h), in_balls(np.eye(n, dtype=int).astype(object))
        sums, k, left = [0 * power] * 3, 0, Fraction(1)
        while left > LEFT_OUT or k <= norm:  # left: norm^k / k!, beside which the rest is less than its double or so
            weights = [Fraction(math.factorial(k), math.factorial(k + j)) * h**j for j in range(3)]
            sums = [total + power * weight for total, weight in zip(sums, weights, strict=True)]
            k += 1
            power, left = power @ step * Fraction(1, k), left * norm / k
        rest = left / (1 - norm / (k + 1))
        moved, once, twice = (_widened(total, rest * h**j) for j, total in enumerate(sums))
        return moved, once, twice


def _widened(matrix: Array, by: Fraction) -> Array:
    wide = np.array([number.widened(by) for number in matrix.ravel()], dtype=object)
    return wide.reshape(matrix.shape)
