"""Computes with enclosures: intervals with outward rounding, and the range of their derivatives.

A run over rationals may need ever longer numbers; over enclosures of bounded length it goes on, and what it shows holds
of every run inside.  A comparison that one side of an enclosure would answer otherwise raises NotExactError.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError

BITS = 192  # after the point, of the ends of what is rounded
Ends = tuple[Fraction, Fraction]
ZERO: Ends = (Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True, eq=False)
class EnclosedNumber:
    """Every number from `low` to `high`; `slopes`: within which the derivative by each variable lies."""

    low: Fraction
    high: Fraction
    slopes: dict[str, Ends] = field(default_factory=dict)

    def __add__(self, other: EnclosedNumber | Fraction | int) -> EnclosedNumber:
        right = enclosed(other)
        names = {**self.slopes, **right.slopes}
        slopes = {name: _sum(self.slopes.get(name, ZERO), right.slopes.get(name, ZERO)) for name in names}
        return EnclosedNumber(self.low + right.low, self.high + right.high, slopes)

    __radd__ = __add__

    def __neg__(self) -> EnclosedNumber:
        return self * -1

    def __sub__(self, other: EnclosedNumber | Fraction | int) -> EnclosedNumber:
        return self + enclosed(other) * -1

    def __rsub__(self, other: Fraction | int) -> EnclosedNumber:
        return enclosed(other) + self * -1

    def __mul__(self, other: EnclosedNumber | Fraction | int) -> EnclosedNumber:
        right = enclosed(other)
        names = {**self.slopes, **right.slopes}
        of_left = {name: _product(self.slopes.get(name, ZERO), right.ends) for name in names}
        slopes = {name: _sum(of_left[name], _product(self.ends, right.slopes.get(name, ZERO))) for name in names}
        return EnclosedNumber(*_product(self.ends, right.ends), slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: EnclosedNumber | Fraction | int) -> EnclosedNumber:
        return self * enclosed(other).inverse()

    def __rtruediv__(self, other: Fraction | int) -> EnclosedNumber:
        return enclosed(other) * self.inverse()

    def inverse(self) -> EnclosedNumber:
        """Returns one over each number.  Raises NotExactError where one of them may be 0."""
        if self.low <= 0 <= self.high:
            raise NotExactError("a divisor that may be 0", "keep the divisor away from 0, as max(x, 1) does")
        ends = (1 / self.high, 1 / self.low)
        change = (-max(ends[0] ** 2, ends[1] ** 2), -min(ends[0] ** 2, ends[1] ** 2))
        return EnclosedNumber(*ends, {name: _product(change, slope) for name, slope in self.slopes.items()})

    def __abs__(self) -> EnclosedNumber:
        return self if self >= 0 else -self

    def __floor__(self) -> int:
        return self._whole(math.floor(self.low), math.floor(self.high))

    def __ceil__(self) -> int:
        return self._whole(math.ceil(self.low), math.ceil(self.high))

    def _whole(self, first: int, last: int) -> int:
        if first != last:
            raise NotExactError("a number too close to a whole one for its rounding")
        return first

    def __lt__(self, other: EnclosedNumber | Fraction | int) -> bool:
        right = enclosed(other)
        return _decided(is_true=self.high < right.low, is_false=self.low >= right.high)

    def __le__(self, other: EnclosedNumber | Fraction | int) -> bool:
        right = enclosed(other)
        return _decided(is_true=self.high <= right.low, is_false=self.low > right.high)

    def __gt__(self, other: EnclosedNumber | Fraction | int) -> bool:
        return not self <= other

    def __ge__(self, other: EnclosedNumber | Fraction | int) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnclosedNumber | Fraction | int):
            return False
        right = enclosed(other)
        same = self is other or self.low == self.high == right.low == right.high
        return _decided(is_true=same, is_false=self.high < right.low or right.high < self.low)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ends(self) -> Ends:
        return self.low, self.high

    def rounded(self) -> EnclosedNumber:
        """Returns an enclosure whose ends have few digits; a single number that has few stays as it is."""
        if self.low == self.high and self.low.denominator.bit_length() <= BITS:
            return self
        return EnclosedNumber(*rounded_out(self.low, self.high), self.slopes)


def enclosed(value: EnclosedNumber | Fraction | int) -> EnclosedNumber:
    """Returns a number as an enclosure of nothing else."""
    return value if isinstance(value, EnclosedNumber) else EnclosedNumber(Fraction(value), Fraction(value))


def rounded_out(low: Fraction, high: Fraction) -> Ends:
    """Returns ends of `BITS` digits after the point around two numbers."""
    return Fraction(math.floor(low * 2**BITS), 2**BITS), Fraction(math.ceil(high * 2**BITS), 2**BITS)


def _decided(*, is_true: bool, is_false: bool) -> bool:
    if is_true == is_false:
        raise NotExactError("two numbers too close to be compared in rounded arithmetic")
    return is_true


def _sum(one: Ends, other: Ends) -> Ends:
    return rounded_out(one[0] + other[0], one[1] + other[1])


def _product(one: Ends, other: Ends) -> Ends:
    products = [a * b for a in one for b in other]
    return rounded_out(min(products), max(products))


def widest(sizes: Iterable[Ends]) -> Fraction:
    """Returns the sum of the largest sizes of numbers that lie within ends."""
    return sum((max(abs(low), abs(high)) for low, high in sizes), Fraction(0))
