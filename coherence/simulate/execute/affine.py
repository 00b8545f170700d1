"""Computes with affine numbers: value + sum of coefficient * variable, so that a run carries its derivatives.

Arithmetic follows the value, so a run over Affine numbers takes the branches of its concrete values
and at the end gives the affine map of the whole run (and, for products, its derivative: forward
differentiation).  ceil and floor are constants between their jumps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.simulate.execute.parametric_numbers import Parametric

Number = int | Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """`value` at the point of expansion, and the gradient by variable; `exact` while no product was linearised."""

    value: Fraction
    gradient: tuple[tuple[str, Fraction], ...] = ()
    exact: bool = True

    def __add__(self, other: Affine | Number) -> Affine:
        return _combine(self, lift(other), Fraction(1), Fraction(1), self.value + lift(other).value)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | Number) -> Affine:
        return self + lift(other) * -1

    def __rsub__(self, other: Number) -> Affine:
        return lift(other) + self * -1

    def __mul__(self, other: Affine | Number) -> Affine:
        right = lift(other)
        made = _combine(self, right, right.value, self.value, self.value * right.value)
        both = bool(self.gradient) and bool(right.gradient)
        return Affine(made.value, made.gradient, made.exact and not both)

    __rmul__ = __mul__

    def __truediv__(self, other: Affine | Number) -> Affine:
        right = lift(other)
        value = self.value / right.value
        made = _combine(self, right, 1 / right.value, -value / right.value, value)
        return Affine(made.value, made.gradient, made.exact and not right.gradient)

    def __rtruediv__(self, other: Number) -> Affine:
        return lift(other) / self

    def __abs__(self) -> Affine:
        return self if self.value >= 0 else -self

    def __floor__(self) -> Affine:
        return Affine(Fraction(math.floor(self.value)), (), self.exact)

    def __ceil__(self) -> Affine:
        return Affine(Fraction(math.ceil(self.value)), (), self.exact)

    def __lt__(self, other: Affine | Number) -> bool:
        return self.value < lift(other).value

    def __le__(self, other: Affine | Number) -> bool:
        return self.value <= lift(other).value

    def __gt__(self, other: Affine | Number) -> bool:
        return self.value > lift(other).value

    def __ge__(self, other: Affine | Number) -> bool:
        return self.value >= lift(other).value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine | int | Fraction) and self.value == lift(other).value

    __hash__ = None  # type: ignore[assignment]

    def coefficient(self, variable: str) -> Fraction:
        """Returns the derivative by one variable."""
        return dict(self.gradient).get(variable, Fraction(0))


def lift(value: Affine | Number) -> Affine:
    """Returns a constant as an Affine."""
    return value if isinstance(value, Affine) else Affine(Fraction(value))


def variable(name: str, value: Fraction) -> Affine:
    """Returns the variable itself, at a value."""
    return Affine(value, ((name, Fraction(1)),))


def _combine(left: Affine, right: Affine, by_left: Fraction, by_right: Fraction, value: Fraction) -> Affine:
    if not left.gradient and not right.gradient:
        return Affine(value, (), left.exact and right.exact)
    total = {name: by_left * slope for name, slope in left.gradient}
    for name, slope in right.gradient:
        total[name] = total.get(name, Fraction(0)) + by_right * slope
    gradient = tuple((name, slope) for name, slope in total.items() if slope)
    return Affine(value, gradient, left.exact and right.exact)


def plain(value: Any) -> Any:
    """Returns the concrete value; a function of a parameter as it is."""
    if isinstance(value, Affine | Parametric):
        return value.value if isinstance(value, Affine) else value
    return Fraction(value)


def clipped(value: Any, limits: Any) -> Any:
    """Returns a value moved into limits that have a `low` and a `high` (None: no end), in its own number type."""
    if limits.low is not None and value < limits.low:
        return _like(value, limits.low)
    return _like(value, limits.high) if limits.high is not None and value > limits.high else value


def _like(value: Any, edge: Fraction) -> Any:
    return Affine(edge) if isinstance(value, Affine) else edge
