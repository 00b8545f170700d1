"""Finds the edge of a condition by halving an interval between a value at which it holds and one at which not."""

from __future__ import annotations

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
