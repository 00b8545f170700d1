"""Exact numbers that are functions of parameters, and the inequalities on which a computation with them depended.

A `Parametric` is the quotient of two polynomials of one parameter (`BranchRecord`) or of two (`PlaneRecord`), with its
value at a sample.  Arithmetic is that of functions; a comparison follows the value at the sample and writes down the
sign that decided it.  Wherever the parameters keep these signs, the computation takes the same steps: of one parameter
`reach_of` returns the interval around the sample in which it does.

A polynomial of x and y is held as one of x alone with y = x^WIDTH: sums and products are the same as long as no power
of x comes to WIDTH, which the limit on powers sees to (L. Kronecker 1882).

SOURCE: concolic execution: P. Godefroid, N. Klarlund, K. Sen, DART, PLDI 2005.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.base import sturm
from coherence.language.expressions.evaluate import NotExactError

Poly = tuple[Fraction, ...]  # coefficients, of the lowest power first, without zeros at its end
MOST_DEGREE = 8
WIDTH, MOST_POWER = 8, 3  # of two parameters: of products of two, and of each
ELSEWHERE = Fraction(1_000_003, 314_159), Fraction(577_215, 1_000_033)  # where functions that differ have other values
NOTHING, UNIT = Fraction(0), (Fraction(1),)


@dataclass(frozen=True)
class SignCondition:
    """A polynomial of the parameter has one of these signs."""

    poly: Poly
    signs: frozenset[int]


@dataclass
class SignRecord:
    """The signs on which a computation has depended that is followed at one sample of its parameters."""

    conditions: dict[SignCondition, None] = field(default_factory=dict, kw_only=True)

    def depends(self, poly: Poly, signs: Iterable[int]) -> None:
        """Records that a polynomial has one of these signs."""
        if len(poly) > 1:
            self.conditions[SignCondition(poly, frozenset(signs))] = None

    def value(self, poly: Poly) -> Fraction:
        """Returns the value of a polynomial at the sample."""
        raise NotImplementedError

    def number(self, above: Poly, below: Poly) -> Parametric | Fraction:
        """Returns a quotient, a plain number where the parameters cancel.  Raises NotExactError."""
        raise NotImplementedError

    def key(self, number: Parametric) -> object:
        """Returns what is the same for equal functions."""
        raise NotImplementedError


@dataclass
class BranchRecord(SignRecord):
    """The value of the one parameter at which a computation is followed, and the signs on which it has depended."""

    sample: Fraction

    def parameter(self) -> Parametric:
        """Returns the parameter itself."""
        return Parametric((NOTHING, Fraction(1)), UNIT, self)

    def value(self, poly: Poly) -> Fraction:
        return value_of(poly, self.sample)

    def number(self, above: Poly, below: Poly) -> Parametric | Fraction:
        """Returns a quotient in lowest terms, a plain number where the parameter cancels.  Raises NotExactError."""
        common = _gcd(above, below)
        above, below = _divided(above, common)[0], _divided(below, common)[0]
        above, below = _times(above, (1 / below[-1],)), _times(below, (1 / below[-1],))
        if len(above) < 2 and len(below) == 1:
            return above[0] if above else NOTHING
        if max(len(above), len(below)) > MOST_DEGREE + 1:
            raise NotExactError(f"a value depends on its range by a polynomial of degree above {MOST_DEGREE}")
        return Parametric(above, below, self)

    def key(self, number: Parametric) -> object:
        return number.above, number.below


@dataclass
class PlaneRecord(SignRecord):
    """The values of two parameters at which a computation is followed, and the signs on which it has depended."""

    sample: tuple[Fraction, Fraction]

    def parameters(self) -> tuple[Parametric, Parametric]:
        """Returns the parameters themselves."""
        one = Fraction(1)
        return Parametric((NOTHING, one), UNIT, self), Parametric((NOTHING,) * WIDTH + (one,), UNIT, self)

    def value(self, poly: Poly) -> Fraction:
        return plane_value(poly, self.sample)

    def holds_at(self, point: tuple[Fraction, Fraction]) -> bool:
        """Decides whether the computation takes the same steps at these values."""
        for condition in self.conditions:
            value = plane_value(condition.poly, point)
            if (value > 0) - (value < 0) not in condition.signs:
                return False
        return True

    def number(self, above: Poly, below: Poly) -> Parametric | Fraction:
        """Returns a quotient without common powers, a plain number where parameters cancel.  Raises NotExactError."""
        if not above:
            return NOTHING
        powers = [power for poly in (above, below) for power, coefficient in enumerate(poly) if coefficient]
        of_x, of_y = min(power % WIDTH for power in powers), min(power // WIDTH for power in powers)
        for position, taken in ((1, of_x), (WIDTH, of_y)):
            if taken:  # a factor of what is divided by: that keeps its sign, and so must what is left of it
                factor = (NOTHING,) * position + UNIT
                self.depends(factor, {1 if self.value(factor) > 0 else -1})
        common = of_x + WIDTH * of_y
        above, below = above[common:], below[common:]
        if len(above) == len(below):
            share = above[-1] / below[-1]
            if all(a == share * b for a, b in zip(above, below, strict=True)):
                return share
        if max(max(power % WIDTH - of_x, power // WIDTH - of_y) for power in powers) > MOST_POWER:
            raise NotExactError(f"a value depends on its ranges by powers above {MOST_POWER}")
        return Parametric(_times(above, (1 / below[-1],)), _times(below, (1 / below[-1],)), self)

    def key(self, number: Parametric) -> object:
        below = plane_value(number.below, ELSEWHERE)
        return plane_value(number.above, ELSEWHERE) / below if below else None


class Parametric:
    """A quotient of polynomials of the parameters; compared by its value at the sample, hashed as the function."""

    __slots__ = ("above", "at", "below", "decisions")

    def __init__(self, above: Poly, below: Poly, decisions: SignRecord) -> None:
        self.above, self.below, self.decisions = above, below, decisions
        self.at = decisions.value(above) / decisions.value(below)

    def __add__(self, other: Any) -> Any:
        above, below = parts_of(other)
        return self.decisions.number(_plus(_times(self.above, below), _times(above, self.below)),
                                     _times(self.below, below))  # fmt: skip

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __sub__(self, other: Any) -> Any:
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __mul__(self, other: Any) -> Any:
        above, below = parts_of(other)
        return self.decisions.number(_times(self.above, above), _times(self.below, below))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other, self.decisions)

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self, self.decisions)

    def __floor__(self) -> int:
        whole = math.floor(self.at)
        if not whole <= self < whole + 1:
            raise AssertionError
        return whole

    def __ceil__(self) -> int:
        opposite: Parametric = self * -1
        return -math.floor(opposite)

    def _compared(self, other: Any, test: Callable[[int, int], bool]) -> bool:
        """Decides by the sign of the difference at the sample, and records the signs that decide alike beside it."""
        difference = self - other
        if not isinstance(difference, Parametric):
            return test((difference > 0) - (difference < 0), 0)
        sign = (difference.at > 0) - (difference.at < 0)
        holds = test(sign, 0)
        below = self.decisions.value(difference.below)
        alike = {s for s in (-1, 0, 1) if test(s, 0) == holds and (sign in {0, s} or not s)}
        self.decisions.depends(difference.above, (s if below > 0 else -s for s in alike))
        return holds

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parametric | int | Fraction):
            return NotImplemented
        return self._compared(other, lambda a, b: a == b)

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self.decisions.key(self))


def parts_of(number: Any) -> tuple[Poly, Poly]:
    """Returns numerator and denominator of a number as polynomials.  Raises NotExactError."""
    if isinstance(number, Parametric):
        return number.above, number.below
    if not isinstance(number, int | Fraction):
        raise NotExactError(f"a {type(number).__name__} is no exact number")
    return ((Fraction(number),) if number else ()), UNIT


def _quotient(first: Any, second: Any, decisions: SignRecord) -> Any:
    above, below = parts_of(first)
    under, over = parts_of(second)
    divisor = decisions.value(under)
    if not divisor:
        raise ZeroDivisionError
    decisions.depends(under, {1 if divisor > 0 else -1})
    return decisions.number(_times(above, over), _times(below, under))


# -- polynomials ------------------------------------------------------------------------------------------


def value_of(poly: Poly, at: Fraction) -> Fraction:
    """Returns the value of a polynomial."""
    total = NOTHING
    for coefficient in reversed(poly):
        total = total * at + coefficient
    return total


def plane_value(poly: Poly, at: tuple[Fraction, Fraction]) -> Fraction:
    """Returns the value of a polynomial of two parameters."""
    rows = [value_of(poly[start : start + WIDTH], at[0]) for start in range(0, len(poly), WIDTH)]
    return value_of(tuple(rows), at[1])


def _trimmed(coefficients: list[Fraction]) -> Poly:
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    return tuple(coefficients)


def _plus(first: Poly, second: Poly) -> Poly:
    size = max(len(first), len(second))
    padded = ((*poly, *[NOTHING] * (size - len(poly))) for poly in (first, second))
    return _trimmed([a + b for a, b in zip(*padded, strict=True)])


def _times(first: Poly, second: Poly) -> Poly:
    product = [NOTHING] * max(len(first) + len(second) - 1, 0)
    for i, a in enumerate(first):
        for j, b in enumerate(second if a else ()):
            product[i + j] += a * b
    return _trimmed(product)


def _divided(poly: Poly, by: Poly) -> tuple[Poly, Poly]:
    """Returns quotient and remainder."""
    rest, quotient = list(poly), [NOTHING] * max(len(poly) - len(by) + 1, 0)
    for power in reversed(range(len(quotient))):
        quotient[power] = rest[power + len(by) - 1] / by[-1]
        for k, coefficient in enumerate(by):
            rest[power + k] -= quotient[power] * coefficient
    return _trimmed(quotient), _trimmed(rest)


def _gcd(first: Poly, second: Poly) -> Poly:
    while second:
        first, second = second, _divided(first, second)[1]
    return first


# -- where decisions stay as they are ---------------------------------------------------------------------


@dataclass(frozen=True)
class Stretch:
    """An interval of the parameter, and whether its ends belong to it."""

    low: Fraction
    high: Fraction
    with_low: bool = True
    with_high: bool = True

    @property
    def is_empty(self) -> bool:
        """Decides whether no value lies in it."""
        return self.low > self.high or (self.low == self.high and not (self.with_low and self.with_high))

    def left_of(self, inner: Stretch) -> Stretch:
        """Returns the part of it that lies below another one."""
        return Stretch(self.low, inner.low, self.with_low, not inner.with_low)

    def right_of(self, inner: Stretch) -> Stretch:
        """Returns the part of it that lies above another one."""
        return Stretch(inner.high, self.high, not inner.with_high, self.with_high)


def reach_of(decisions: BranchRecord, within: Stretch) -> Stretch:
    """Returns the interval around the sample in which all conditions hold.  Raises NotExactError.

    A condition of higher degree must hold in all of `within`: its ends would not be rational.
    """
    reach = within
    for condition in decisions.conditions:
        reach = _cut(reach, condition, decisions.sample) if len(condition.poly) == 2 else _uncut(reach, condition)
    return reach


def _cut(reach: Stretch, condition: SignCondition, sample: Fraction) -> Stretch:
    """Returns the part of an interval on the side of the root of a linear condition on which it holds."""
    constant, slope = condition.poly
    root, rising = -constant / slope, 1 if slope > 0 else -1
    if not reach.low <= root <= reach.high:
        return reach
    at, left, right = (sign in condition.signs for sign in (0, -rising, rising))
    if sample >= root and not (left and sample == root) and root >= reach.low:
        reach = Stretch(root, reach.high, at and (reach.with_low or root > reach.low), reach.with_high)
    if sample <= root and not (right and sample == root) and root <= reach.high:
        reach = Stretch(reach.low, root, reach.with_low, at and (reach.with_high or root < reach.high))
    return reach


def _uncut(reach: Stretch, condition: SignCondition) -> Stretch:
    """Returns the interval where a polynomial has no root in it.  Raises NotExactError."""
    low, width = reach.low, reach.high - reach.low
    moved: Poly = ()
    for coefficient in reversed(condition.poly):  # in the part of the interval that lies below: 0 to 1
        moved = _plus(_times(moved, (low, width)), (coefficient,) if coefficient else ())
    whole = sturm.primitive(reversed(moved))
    if len(whole) < 2 or (not _has_root(whole) and sturm.value(whole, 0)):
        return reach
    raise NotExactError(f"it depends on its range by an equation of degree {len(condition.poly) - 1}")


def _has_root(poly: list[int]) -> bool:
    return sturm.value(poly, 1) == 0 or sturm.real_roots(sturm.square_free_part(poly), 0, 1) > 0
