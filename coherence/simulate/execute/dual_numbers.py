"""Computes with dual numbers (a value and its slope in time), as flows read values just after an instant.

A comparison of moving numbers is decided by the values, at a tie by the slopes (the right-hand
limit), and tells its `Track` when it will turn: that is how kinks of conditional branches, `min`,
`max`, `abs`, `floor` and `ceil` are found.  Any number type serves for value and slope.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from coherence.language.expressions.evaluate import not_rational
from coherence.simulate.execute.affine import plain

Num = Any
ROUNDING = 1e-13


class Track:
    """What happened during one evaluation: outcomes in their order, and when the first of them turns.

    `slack`: differences up to it count as ties (floats only); `exact`: no rounding is assumed.
    """

    __slots__ = ("curved", "exact", "outcomes", "slack", "turns")

    def __init__(self, *, exact: bool, slack: float = 0.0) -> None:
        self.exact, self.slack = exact, slack
        self.outcomes: list[Any] = []
        self.turns: Num | None = None  # seconds from now
        self.curved = False

    def sign(self, left: Moving, right: Moving) -> int:
        """Sign of left - right just after now."""
        gap, slope = plain_or_float(left.value - right.value), plain_or_float(left.slope - right.slope)
        if left.curved or right.curved:
            self.curved = True
        tied = not gap if self.exact else abs(gap) <= self.slack + ROUNDING * (abs(left.value) + abs(right.value))
        if slope and not tied and (gap < 0) == (slope > 0):
            self.turn(-gap / slope)
        difference = slope if tied and slope else gap
        return int(difference > 0) - int(difference < 0)

    def turn(self, after: Num) -> None:
        """A branch changes so many seconds from now."""
        self.turns = after if self.turns is None else min(self.turns, after)

    def recorded(self, outcome: Any) -> Any:
        """Keep an outcome."""
        self.outcomes.append(outcome)
        return outcome


def plain_or_float(number: Num) -> Num:
    """Returns the concrete value: a float stays a float."""
    return number if isinstance(number, float) else plain(number)


class Moving:
    """value + slope * seconds from now; `curved` where the slope itself moves."""

    __slots__ = ("curved", "slope", "track", "value")

    def __init__(self, value: Num, slope: Num, track: Track, *, curved: bool = False) -> None:
        self.value, self.slope, self.track, self.curved = value, slope, track, curved

    def _other(self, other: Num) -> Moving:
        return other if isinstance(other, Moving) else Moving(other, 0, self.track)

    def _combined(self, other: Moving, value: Num, slope: Num, *, bent: bool = False) -> Moving:
        return Moving(value, slope, self.track, curved=self.curved or other.curved or bent)

    def __add__(self, other: Num) -> Moving:
        o = self._other(other)
        return self._combined(o, self.value + o.value, self.slope + o.slope)

    __radd__ = __add__

    def __sub__(self, other: Num) -> Moving:
        o = self._other(other)
        return self._combined(o, self.value - o.value, self.slope - o.slope)

    def __rsub__(self, other: Num) -> Moving:
        return self._other(other) - self

    def __neg__(self) -> Moving:
        return Moving(-self.value, -self.slope, self.track, curved=self.curved)

    def __mul__(self, other: Num) -> Moving:
        o = self._other(other)
        bent = bool(plain_or_float(self.slope) and plain_or_float(o.slope))
        return self._combined(o, self.value * o.value, self.slope * o.value + self.value * o.slope, bent=bent)

    __rmul__ = __mul__

    def __truediv__(self, other: Num) -> Moving:
        o = self._other(other)
        if not isinstance(other, Moving):
            return self._combined(o, self.value / o.value, self.slope / o.value)
        ratio = self.value / o.value
        return self._combined(o, ratio, (self.slope - ratio * o.slope) / o.value, bent=bool(plain_or_float(o.slope)))

    def __rtruediv__(self, other: Num) -> Moving:
        return self._other(other) / self

    def __abs__(self) -> Moving:
        return self if self >= 0 else -self

    def __floor__(self) -> int:
        return self._step(math.floor)

    def __ceil__(self) -> int:
        return self._step(math.ceil)

    def _step(self, rounded: Callable[[Num], int]) -> int:
        """Returns the integer part just after now; it turns at the next integer on the way."""
        value, slope = plain_or_float(self.value), plain_or_float(self.slope)
        near = round(value)
        if value == near or (not self.track.exact and abs(value - near) <= self.track.slack + ROUNDING * abs(value)):
            whole = near if not slope or (slope > 0) == (rounded is math.floor) else near + (1 if slope > 0 else -1)
        else:
            whole = rounded(value)
        if slope:
            low = whole if rounded is math.floor else whole - 1
            self.track.turn(((low + 1 if slope > 0 else low) - value) / slope)
        self.track.curved = self.track.curved or self.curved
        return int(self.track.recorded(whole))

    def exp(self) -> Moving:
        value = math.exp(_a_float(self.value, "exp"))
        return Moving(value, value * self.slope, self.track, curved=self.curved or bool(self.slope))

    def log(self) -> Moving:
        value = math.log(_a_float(self.value, "log"))
        return Moving(value, self.slope / self.value, self.track, curved=self.curved or bool(self.slope))

    def __lt__(self, other: Num) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) < 0))

    def __le__(self, other: Num) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) <= 0))

    def __gt__(self, other: Num) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) > 0))

    def __ge__(self, other: Num) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) >= 0))

    def __eq__(self, other: object) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) == 0))

    def __ne__(self, other: object) -> bool:
        return bool(self.track.recorded(self.track.sign(self, self._other(other)) != 0))

    __hash__ = None  # type: ignore[assignment]


class Tape:
    """Outcomes to be repeated, and how far each comparison is from turning (negative: it has turned)."""

    __slots__ = ("guards", "next", "outcomes", "sizes")

    def __init__(self, outcomes: list[Any]) -> None:
        self.outcomes, self.next = outcomes, 0
        self.guards: list[float] = []
        self.sizes: list[float] = []  # what the rounding of each guard is relative to

    def guard(self, gap: float, size: float) -> None:
        """One more distance that must not fall below zero."""
        self.guards.append(gap)
        self.sizes.append(size)

    def take(self) -> Any:
        """Returns the next outcome."""
        self.next += 1
        return self.outcomes[self.next - 1]


class Taped:
    """A float whose comparisons come out as on the tape, so that a step never integrates across a kink."""

    __slots__ = ("tape", "value")

    def __init__(self, value: float, tape: Tape) -> None:
        self.value, self.tape = value, tape

    def __add__(self, other: Num) -> Taped:
        return Taped(self.value + _float(other), self.tape)

    __radd__ = __add__

    def __sub__(self, other: Num) -> Taped:
        return Taped(self.value - _float(other), self.tape)

    def __rsub__(self, other: Num) -> Taped:
        return Taped(_float(other) - self.value, self.tape)

    def __neg__(self) -> Taped:
        return Taped(-self.value, self.tape)

    def __mul__(self, other: Num) -> Taped:
        return Taped(self.value * _float(other), self.tape)

    __rmul__ = __mul__

    def __truediv__(self, other: Num) -> Taped:
        return Taped(self.value / _float(other), self.tape)

    def __rtruediv__(self, other: Num) -> Taped:
        return Taped(_float(other) / self.value, self.tape)

    def __abs__(self) -> Taped:
        return self if self >= 0 else -self

    def __floor__(self) -> int:
        whole = int(self.tape.take())
        self.tape.guard(self.value - whole, abs(self.value))
        self.tape.guard(whole + 1 - self.value, abs(self.value))
        return whole

    def __ceil__(self) -> int:
        whole = int(self.tape.take())
        self.tape.guard(whole - self.value, abs(self.value))
        self.tape.guard(self.value - whole + 1, abs(self.value))
        return whole

    def exp(self) -> Taped:
        return Taped(math.exp(self.value), self.tape)

    def log(self) -> Taped:
        return Taped(math.log(self.value), self.tape)

    def _ordered(self, other: Num, direction: float) -> bool:
        outcome = bool(self.tape.take())
        right = _float(other)
        gap = direction * (self.value - right)
        self.tape.guard(gap if outcome else -gap, abs(self.value) + abs(right))
        return outcome

    def __lt__(self, other: Num) -> bool:
        return self._ordered(other, -1.0)

    __le__ = __lt__

    def __gt__(self, other: Num) -> bool:
        return self._ordered(other, 1.0)

    __ge__ = __gt__

    def __eq__(self, other: object) -> bool:
        return bool(self.tape.take())  # equal for a while, or at one time only: no branch of a duration turns

    __ne__ = __eq__

    __hash__ = None  # type: ignore[assignment]


def _float(other: Num) -> float:
    return other.value if isinstance(other, Taped) else float(other)


def _a_float(value: Num, name: str) -> float:
    if not isinstance(value, float):
        raise not_rational(name)
    return value
