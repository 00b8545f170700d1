"""Reads flows as linear forms: rate = const + sum of weight * state, what loops write as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError

Num = Any  # Fraction or float


class KinkError(NotExactError):
    """A rate that is no linear function of the states."""


class FlowForm:
    """const + sum of weight * state; conditions on states are refused, those on numbers are taken."""

    __slots__ = ("const", "terms")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, const: Num, terms: Mapping[str, Num]) -> None:
        self.const, self.terms = const, terms

    def __add__(self, other: FlowForm | Num) -> FlowForm:
        right = form(other)
        terms = dict(self.terms)
        for name, weight in right.terms.items():
            terms[name] = terms.get(name, Fraction(0)) + weight
        return FlowForm(self.const + right.const, {name: w for name, w in terms.items() if w})

    __radd__ = __add__

    def __neg__(self) -> FlowForm:
        return self * -1

    def __sub__(self, other: FlowForm | Num) -> FlowForm:
        return self + form(other) * -1

    def __rsub__(self, other: Num) -> FlowForm:
        return form(other) + self * -1

    def __mul__(self, other: FlowForm | Num) -> FlowForm:
        right = form(other)
        if self.terms and right.terms:
            raise KinkError("a product of states in a flow")
        if right.terms:
            return right._times(self.const)
        return self._times(right.const)

    def _times(self, factor: Num) -> FlowForm:
        return FlowForm(self.const * factor, {n: w * factor for n, w in self.terms.items() if w * factor})

    __rmul__ = __mul__

    def __truediv__(self, other: FlowForm | Num) -> FlowForm:
        right = form(other)
        if right.terms:
            raise KinkError("a flow divided by a state")
        return self._times(Fraction(1) / right.const)

    def __rtruediv__(self, other: Num) -> FlowForm:
        return form(other) / self

    def _number(self) -> Num:
        if self.terms:
            raise KinkError(f"a kink of {', '.join(self.terms)} in a flow")
        return self.const

    def __abs__(self) -> FlowForm:
        return FlowForm(abs(self._number()), {})

    def __floor__(self) -> int:
        made: int = math.floor(self._number())
        return made

    def __ceil__(self) -> int:
        made: int = math.ceil(self._number())
        return made

    def __lt__(self, other: FlowForm | Num) -> bool:
        return bool((self - form(other))._number() < 0)

    def __le__(self, other: FlowForm | Num) -> bool:
        return bool((self - form(other))._number() <= 0)

    def __gt__(self, other: FlowForm | Num) -> bool:
        return bool((self - form(other))._number() > 0)

    def __ge__(self, other: FlowForm | Num) -> bool:
        return bool((self - form(other))._number() >= 0)

    def __eq__(self, other: object) -> bool:
        return bool((self - form(other))._number() == 0)


def form(number: FlowForm | Num) -> FlowForm:
    """Returns a number as a form."""
    return number if isinstance(number, FlowForm) else FlowForm(number, {})
