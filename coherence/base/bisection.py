"""Finds the edge of a condition by halving an interval at one end of which it holds, and where a time lies in a row."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

Value = TypeVar("Value", int, float, Fraction)


def mean(one: Any, other: Any) -> Any:
    """Returns the value half way."""
    return (one + other) / 2


def whole_mean(one: Any, other: Any) -> Any:
    """Returns the whole number half way, rounded down."""
    return (one + other) // 2


def halved(
    holds: Callable[[Value], bool],
    inside: Value,
    outside: Value,
    *,
    steps: int = 200,
    near: Callable[[Value, Value], bool] = lambda inside, outside: False,  # noqa: ARG005
    middle: Callable[[Value, Value], Value | None] = mean,
) -> tuple[Value, Value]:
    """Returns (a value where the condition holds, one where it does not), closer together than those given.

    Ends after so many steps, where the two are `near`, or where `middle` has no value between them.  The condition is
    not asked at the two ends; where it turns more than once, one of its edges is found.
    """
    for _ in range(steps):
        between = None if near(inside, outside) else middle(inside, outside)
        if between is None or between in (inside, outside):
            break
        if holds(between):
            inside = between
        else:
            outside = between
    return inside, outside


class Moments:
    """Times that never fall, appended one by one, and where a time lies among them.

    To compare two Fractions takes as long as a hundred comparisons of floats, and what is rounded keeps its order: only
    among times of one float the exact ones are compared.
    """

    __slots__ = ("exact", "rounded")

    def __init__(self) -> None:
        self.exact: list[Fraction] = []
        self.rounded: list[float] = []

    def append(self, time: Fraction) -> None:
        """Appends a time, the latest so far."""
        self.exact.append(time)
        self.rounded.append(float(time))

    def before(self, time: Fraction) -> int:
        """Returns how many lie before a time."""
        about = float(time)
        low = bisect.bisect_left(self.rounded, about)
        high = bisect.bisect_right(self.rounded, about, low)
        return low if low == high else bisect.bisect_left(self.exact, time, low, high)

    def until(self, time: Fraction) -> int:
        """Returns how many lie before a time or at it."""
        about = float(time)
        low = bisect.bisect_left(self.rounded, about)
        high = bisect.bisect_right(self.rounded, about, low)
        return low if low == high else bisect.bisect_right(self.exact, time, low, high)

    def since(self, first: int) -> Moments:
        """Returns the times from a number of them on, to go on from."""
        rest = Moments()
        rest.exact, rest.rounded = self.exact[first:], self.rounded[first:]
        return rest
