"""Computes with balls: numbers known up to a radius, in fixed point, so that what rounding does is counted.

>>> from fractions import Fraction
>>> third = Ball.of(Fraction(1, 3))
>>> (third * 3).holds(Fraction(1)), (third * 3).middle == 1
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

BITS = 256
ONE = 1 << BITS


@dataclass(slots=True)  # not frozen: twice as fast
class Ball:
    """All numbers within `radius` of `centre`, both in units of 2^-BITS."""

    centre: int
    radius: int = 0

    @staticmethod
    def of(number: Ball | Fraction | int) -> Ball:
        """Returns a ball around a number."""
        if isinstance(number, Ball):
            return number
        if isinstance(number, int):
            return Ball(number << BITS)
        centre, rest = divmod(number.numerator << BITS, number.denominator)
        return Ball(centre, 1 if rest else 0)

    @property
    def middle(self) -> Fraction:
        return Fraction(self.centre, ONE)

    @property
    def reach(self) -> Fraction:
        """Returns the radius as a number."""
        return Fraction(self.radius, ONE)

    @property
    def low(self) -> Fraction:
        return Fraction(self.centre - self.radius, ONE)

    @property
    def high(self) -> Fraction:
        return Fraction(self.centre + self.radius, ONE)

    def holds(self, number: Fraction) -> bool:
        """Decides whether a number lies inside."""
        return self.low <= number <= self.high

    def widened(self, by: Fraction) -> Ball:
        """Returns the ball with a larger radius."""
        return Ball(self.centre, self.radius + -(-by.numerator * ONE // by.denominator))

    def clipped(self, low: Fraction | None, high: Fraction | None) -> Ball:
        """Returns a ball around what its numbers become inside of bounds."""
        ends = [self.low, self.high]
        if low is not None:
            ends = [max(end, low) for end in ends]
        if high is not None:
            ends = [min(end, high) for end in ends]
        if ends == [self.low, self.high]:
            return self
        return Ball.of((ends[0] + ends[1]) / 2).widened((ends[1] - ends[0]) / 2)

    def __bool__(self) -> bool:
        return bool(self.centre or self.radius)

    def __add__(self, other: Ball | Fraction | int) -> Ball:
        if hasattr(other, "dtype"):
            return NotImplemented  # an array takes each of its entries
        if not isinstance(other, Ball):
            if not other:
                return self
            other = Ball.of(other)
        return Ball(self.centre + other.centre, self.radius + other.radius)

    __radd__ = __add__

    def __neg__(self) -> Ball:
        return Ball(-self.centre, self.radius)

    def __sub__(self, other: Ball | Fraction | int) -> Ball:
        return self + -Ball.of(other)

    def __rsub__(self, other: Fraction | int) -> Ball:
        return -self + other

    def __mul__(self, other: Ball | Fraction | int) -> Ball:
        if hasattr(other, "dtype"):
            return NotImplemented  # an array takes each of its entries
        if not other or not (self.centre or self.radius):
            return Ball(0)
        right = Ball.of(other)
        spread = abs(self.centre) * right.radius + (abs(right.centre) + right.radius) * self.radius
        return Ball(self.centre * right.centre >> BITS, (spread >> BITS) + 2)

    __rmul__ = __mul__

    def __truediv__(self, other: Fraction | int) -> Ball:
        return self * (1 / Fraction(other))


def in_balls(matrix: Any) -> Any:
    """Returns an array of numbers as one of balls."""
    import numpy as np

    return np.array([Ball.of(number) for number in matrix.ravel()], dtype=object).reshape(matrix.shape)
