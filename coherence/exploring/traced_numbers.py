"""Exact numbers that record the linear inequalities on which a computation with them depended.

A `Traced` is an exact number and, beside it, a linear form of the parameters.  Sums, differences and products with
plain numbers keep the form; a comparison writes down the inequality that decided it; whatever else looks at the number
(a product of two, a hash, its digits) writes down that the form has just this value.  So an answer holds for every
value of the parameters that satisfies what was written down: the computation takes the same steps.

SOURCE: concolic execution: P. Godefroid, N. Klarlund, K. Sen, DART, PLDI 2005; here with forms that are linear only.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import FrameType
from typing import Any, ClassVar

from coherence.base.errors import CoherenceError
from coherence.base.number_text import render_clock, render_decimal, render_quantity, render_seconds
from coherence.exploring.half_spaces import Form, Row, row
from coherence.findings import question_input

DEPTH = 10  # frames that are looked through for a function that only tells
TELLING = frozenset(
    function.__code__
    for function in (
        render_quantity, render_seconds, render_clock, render_decimal, question_input.rational,
    )
)  # fmt: skip  # their result is a text for a reader, and nothing is decided by it


class StalePathError(CoherenceError):
    """Raised where a number of an earlier computation was kept somewhere and met again."""


class Path:
    """What was written down on the way, while it is the current one (`with path:`)."""

    current: ClassVar[Path | None] = None

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self.pins: dict[Row, None] = {}
        self.pinned: list[str] = []  # where a number was looked at otherwise than by a comparison

    def __enter__(self) -> None:
        Path.current = self

    def __exit__(self, *_: object) -> None:
        Path.current = None

    @property
    def _open(self) -> bool:
        """Returns whether inequalities are recorded now.  Raises StalePathError."""
        if Path.current is not None and Path.current is not self:
            raise StalePathError("a number of an earlier computation was met again")
        return Path.current is self

    def record(self, form: Form, relation: str) -> None:
        """Records that the form is REL 0 here."""
        if not form.known and self._open and not _telling():
            self.rows[row(form, relation)] = None

    def pin(self, number: Traced) -> None:
        """Records that the form has just this value."""
        if not number.form.known and self._open and not _telling():
            self.pins[row(number.form.plus(_constant(number.form, -number.plain)), "==")] = None
            frame = next(f for f in _frames() if f.f_code.co_filename != __file__)
            self.pinned.append(f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno}")


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        yield frame
        frame = frame.f_back


def _telling() -> bool:
    return any(frame.f_code in TELLING for frame in itertools.islice(_frames(), DEPTH))


def _constant(like: Form, number: Fraction) -> Form:
    return Form((Fraction(0),) * len(like.coefficients), number)


class Traced(Fraction):
    """An exact number with its form; equal, in every way, to the plain number."""

    __slots__ = ("form", "path", "plain")

    form: Form
    path: Path
    plain: Fraction

    def __new__(cls, plain: Fraction, form: Form, path: Path) -> Traced:  # noqa: PYI034
        traced: Traced = super().__new__(cls, plain.numerator, plain.denominator)
        traced.plain, traced.form, traced.path = plain, form, path
        return traced

    def _with_form(self, plain: Fraction, form: Form) -> Fraction:
        return plain if form.known else Traced(plain, form, self.path)

    def _pinned(self) -> Fraction:
        self.path.pin(self)
        return self.plain

    def _form_of(self, other: Any) -> tuple[Fraction, Form] | None:
        """Returns a number and its form; None where it is no exact number."""
        if isinstance(other, Traced):
            if other.path is not self.path:
                raise StalePathError("numbers of two computations met")
            return other.plain, other.form
        if isinstance(other, int | Fraction):
            exact = Fraction(other)
            return exact, _constant(self.form, exact)
        return None

    def _sum(self, other: Any, mine: int, theirs: int) -> Any:
        operand = self._form_of(other)
        if operand is None:
            return mine * float(self._pinned()) + theirs * other if isinstance(other, float) else NotImplemented
        plain, form = operand
        added = self.form.times(Fraction(mine)).plus(form, Fraction(theirs))
        return self._with_form(mine * self.plain + theirs * plain, added)

    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, 1, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, -1, 1)

    def __neg__(self) -> Any:
        return self._with_form(-self.plain, self.form.times(Fraction(-1)))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __mul__(self, other: Any) -> Any:
        operand = self._form_of(other)
        if operand is None:
            return float(self._pinned()) * other if isinstance(other, float) else NotImplemented
        plain, form = operand
        if form.known:
            return self._with_form(self.plain * plain, self.form.times(plain))
        if self.form.known:
            return self._with_form(self.plain * plain, form.times(self.plain))
        return self._with_form(self.plain * plain, form.times(self._pinned()))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        operand = self._form_of(other)
        if operand is None:
            return float(self._pinned()) / other if isinstance(other, float) else NotImplemented
        plain, form = operand
        if not form.known:
            self.path.pin(other)
        return self._with_form(self.plain / plain, self.form.times(1 / plain))

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._pinned()

    def __floordiv__(self, other: Any) -> Any:
        return _floored(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _floored(other, self)

    def __mod__(self, other: Any) -> Any:
        return self - _floored(self, other) * other

    def __rmod__(self, other: Any) -> Any:
        return other - _floored(other, self) * self

    def __divmod__(self, other: Any) -> Any:
        whole = _floored(self, other)
        return whole, self - whole * other

    def __rdivmod__(self, other: Any) -> Any:
        whole = _floored(other, self)
        return whole, other - whole * self

    def __floor__(self) -> int:
        return int(_floored(self, 1))

    def __ceil__(self) -> int:
        return -int(_floored(-self, 1))

    def __trunc__(self) -> int:
        return math.ceil(self) if self < 0 else math.floor(self)

    def __int__(self) -> int:  # type: ignore[override]
        return self.__trunc__()

    def _compared(self, other: Any, test: Callable[[Any, Any], bool]) -> Any:
        """Decides, and writes down which side of the difference was met."""
        operand = self._form_of(other)
        if operand is None:
            return test(self._pinned(), other) if isinstance(other, float) else NotImplemented
        plain, form = operand
        difference, gap = self.form.plus(form, Fraction(-1)), self.plain - plain
        sign = (gap > 0) - (gap < 0)
        holds = test(sign, 0)
        same = {other for other in (-1, 0, 1) if test(other, 0) == holds}
        if len(same) < 3:  # else all signs give the same answer: nothing was decided
            self._decided(difference, sign, same)
        return holds

    def _decided(self, difference: Form, sign: int, same: set[int]) -> None:
        """Writes down the signs of the difference that would have given the same answer, as far as they are convex."""
        if sign == 0 and len(same) == 1:
            self.path.record(difference, "==")
            return
        side = sign or next(iter(same - {0}))
        self.path.record(difference.times(Fraction(-side)), "<=" if 0 in same else "<")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Traced) and other.path is not self.path:
            if self.path is not Path.current:  # a key of some cache, which was kept with the number that it has
                return other == self.plain
            other = other.plain
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return equal if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._pinned())

    @property
    def numerator(self) -> int:
        return self._pinned().numerator

    @property
    def denominator(self) -> int:
        return self._pinned().denominator

    def as_integer_ratio(self) -> tuple[int, int]:
        return self._pinned().as_integer_ratio()

    def is_integer(self) -> bool:
        return self._pinned().denominator == 1

    def limit_denominator(self, max_denominator: int = 1_000_000) -> Fraction:
        return self._pinned().limit_denominator(max_denominator)

    def __float__(self) -> float:
        return float(self._pinned())

    def __complex__(self) -> complex:
        return complex(self._pinned())

    def __round__(self, ndigits: Any = None) -> Any:
        return round(self._pinned(), ndigits)

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if isinstance(other, int) and other in {0, 1}:
            return self if other else Fraction(1)
        return self._pinned() ** other

    def __rpow__(self, other: Any, modulo: Any = None) -> Any:
        return other ** self._pinned()

    def __str__(self) -> str:
        return str(self._pinned())

    def __repr__(self) -> str:
        return repr(self._pinned())

    def __format__(self, spec: str, /) -> str:
        return format(self._pinned(), spec)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        return Fraction, (self.plain.numerator, self._pinned().denominator)


def _floored(above: Any, below: Any) -> int:
    """Returns above // below: the whole number k with k * below <= above < (k + 1) * below."""
    whole = _plain(above) // _plain(below)
    if not below > 0:
        for operand in (above, below):
            if isinstance(operand, Traced):
                operand.path.pin(operand)
        return int(whole)
    reached, left = above >= whole * below, above < (whole + 1) * below
    assert reached
    assert left
    return int(whole)


def _plain(number: Any) -> Any:
    return number.plain if isinstance(number, Traced) else number
