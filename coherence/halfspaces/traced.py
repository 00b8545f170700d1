"""Numbers that remember how they were computed: the values of parameters for which a computation goes the same way.

A `Traced` is an exact number and, beside it, a linear form of the parameters.  Sums, differences and products with
plain numbers keep the form; a comparison writes down the inequality that decided it; whatever else looks at the number
(a product of two, a hash, its digits) writes down that the form has just this value.  So an answer holds for every
value of the parameters that satisfies what was written down: the computation takes the same steps.

SOURCE: concolic execution: P. Godefroid, N. Klarlund, K. Sen, DART, PLDI 2005; here with forms that are linear only.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from coherence import subject, units
from coherence.halfspaces.rows import Form, Row, row

DEPTH = 6  # frames that are looked through for a function that only tells
TELLING = frozenset(
    function.__code__
    for function in (
        units.show, units._prefixed, units.seconds, units.clock, units.decimal, units._approximate, subject.rational,
    )
)  # fmt: skip  # their result is a text for a reader, and nothing is decided by it


class Path:
    """What was written down on the way."""

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self.pinned: list[str] = []  # where a number was looked at otherwise than by a comparison

    def told(self, form: Form, relation: str) -> None:
        """The form is REL 0 here."""
        if not form.known and not _telling():
            self.rows[row(form, relation)] = None

    def pin(self, number: Traced) -> None:
        """The form has just this value."""
        if not number.form.known and not _telling():
            self.rows[row(number.form.plus(_constant(number.form, -number.plain)), "==")] = None
            frame = sys._getframe(2)
            self.pinned.append(f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno}")


def _telling() -> bool:
    frame = sys._getframe(2)
    for _ in range(DEPTH):
        if frame is None:
            return False
        if frame.f_code in TELLING:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _constant(like: Form, number: Fraction) -> Form:
    return Form((Fraction(0),) * len(like.coefficients), number)


class Traced(Fraction):
    """An exact number with its form; equal, in every way, to the plain number."""

    __slots__ = ("form", "path", "plain")

    form: Form
    path: Path
    plain: Fraction

    def __new__(cls, plain: Fraction, form: Form, path: Path) -> Traced:  # noqa: PYI034
        made: Traced = super().__new__(cls, plain.numerator, plain.denominator)
        made.plain, made.form, made.path = plain, form, path
        return made

    def _made(self, plain: Fraction, form: Form) -> Traced:
        return Traced(plain, form, self.path)

    def _form_of(self, other: Any) -> tuple[Fraction, Form] | None:
        """A number and its form; None where it is no exact number."""
        if isinstance(other, Traced):
            return other.plain, other.form
        if isinstance(other, int | Fraction):
            exact = Fraction(other)
            return exact, _constant(self.form, exact)
        return None

    def _sum(self, other: Any, mine: int, theirs: int) -> Any:
        found = self._form_of(other)
        if found is None:
            self.path.pin(self)
            return NotImplemented if not isinstance(other, float) else mine * float(self.plain) + theirs * other
        plain, form = found
        return self._made(mine * self.plain + theirs * plain, self.form.times(Fraction(mine)).plus(form, Fraction(theirs)))

    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, 1, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, -1, 1)

    def __neg__(self) -> Any:
        return self._made(-self.plain, self.form.times(Fraction(-1)))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __mul__(self, other: Any) -> Any:
        found = self._form_of(other)
        if found is None:
            self.path.pin(self)
            return float(self.plain) * other if isinstance(other, float) else NotImplemented
        plain, form = found
        if form.known:
            return self._made(self.plain * plain, self.form.times(plain))
        if self.form.known:
            return self._made(self.plain * plain, form.times(self.plain))
        self.path.pin(self)
        return self._made(self.plain * plain, form.times(self.plain))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        found = self._form_of(other)
        if found is None:
            self.path.pin(self)
            return float(self.plain) / other if isinstance(other, float) else NotImplemented
        plain, form = found
        if not form.known:
            self.path.pin(other)
        return self._made(self.plain / plain, self.form.times(1 / plain))

    def __rtruediv__(self, other: Any) -> Any:
        self.path.pin(self)
        return other / self.plain

    def __floordiv__(self, other: Any) -> Any:
        return _floored(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _floored(other, self)

    def __mod__(self, other: Any) -> Any:
        return self - _floored(self, other) * other

    def __rmod__(self, other: Any) -> Any:
        return other - _floored(other, self) * self

    def __divmod__(self, other: Any) -> Any:
        return _floored(self, other), self % other

    def __rdivmod__(self, other: Any) -> Any:
        return _floored(other, self), other % self

    def __floor__(self) -> int:
        return int(_floored(self, 1))

    def __ceil__(self) -> int:
        return -int(_floored(-self, 1))

    def __trunc__(self) -> int:
        return math.ceil(self) if self < 0 else math.floor(self)

    __int__ = __trunc__

    def _compared(self, other: Any, test: Callable[[Any, Any], bool]) -> Any:
        """Decides, and writes down which side of the difference was met."""
        found = self._form_of(other)
        if found is None:
            self.path.pin(self)
            return test(self.plain, other) if isinstance(other, float) else NotImplemented
        plain, form = found
        difference, gap = self.form.plus(form, Fraction(-1)), self.plain - plain
        holds = test(gap, 0)
        at_zero = test(0, 0)
        if gap == 0:
            self.path.told(difference, "==") if test(1, 0) != holds or test(-1, 0) != holds else None
        if gap and (at_zero == holds) and test(-gap, 0) == holds:
            return holds
        if gap:
            signed = difference if gap < 0 else difference.times(Fraction(-1))
            self.path.told(signed, "<=" if at_zero == holds else "<")
        return holds

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a != b)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:
        self.path.pin(self)
        return hash(self.plain)
