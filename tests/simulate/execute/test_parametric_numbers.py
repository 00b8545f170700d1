"""Quotients of polynomials of a parameter: their arithmetic beside plain numbers, and where decisions stay the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.simulate.execute.parametric_numbers import Decisions, Parametric, Reach, reach_of

WHOLE = Reach(F(1, 2), F(2))
small = st.integers(-4, 4).map(F)


def computed(x: Any, a: F, b: F, c: F) -> list[Any]:
    """Returns some numbers of a computation that decides."""
    one = a * x + b
    two = (one * one - c) / (x + 5)
    three = min(two, one) if two < c else max(two - 1, abs(one))
    return [math.floor(three), math.ceil(2 * one / 3), int(three > two), int(one == b), int(one >= a)]


@given(small, small, small, st.fractions(WHOLE.low, WHOLE.high, max_denominator=60))
def test_values_are_those_of_plain_numbers(a: F, b: F, c: F, at: F) -> None:
    decisions = Decisions(at)
    assert computed(decisions.parameter(), a, b, c) == computed(at, a, b, c)


@given(small, small, small, st.fractions(WHOLE.low, WHOLE.high, max_denominator=60))
def test_decisions_stay_the_same_within_their_reach(a: F, b: F, c: F, at: F) -> None:
    decisions = Decisions(at)
    expected = computed(decisions.parameter(), a, b, c)
    try:
        reach = reach_of(decisions, WHOLE)
    except NotExactError:
        return  # an end that is no rational number
    assert reach.low <= at <= reach.high
    inside = [reach.low + (reach.high - reach.low) * F(k, 12) for k in range(13)]
    for other in inside[0 if reach.with_low else 1 : 13 if reach.with_high else 12]:
        assert computed(other, a, b, c) == expected


def reach(decide: Callable[[Parametric], object], at: F) -> Reach:
    decisions = Decisions(at)
    decide(decisions.parameter())
    return reach_of(decisions, WHOLE)


def test_a_border_belongs_to_the_side_that_decides_alike() -> None:
    assert reach(lambda x: x < 1, F(3, 4)) == Reach(F(1, 2), F(1), True, False)
    assert reach(lambda x: x <= 1, F(3, 4)) == Reach(F(1, 2), F(1))
    assert reach(lambda x: x == 1, F(1)) == Reach(F(1), F(1))
    assert reach(lambda x: x != 1, F(3, 2)) == Reach(F(1), F(2), False, True)
    assert reach(lambda x: math.floor(2 * x), F(1)) == Reach(F(1), F(3, 2), True, False)
    assert reach(lambda x: 3 > x, F(1)) == WHOLE


def test_a_function_that_is_constant_is_a_plain_number() -> None:
    x = Decisions(F(3, 2)).parameter()
    assert type(x * (40 / x)) is F
    assert hash((40 / x) * 2) == hash(80 / x)
    assert (40 / x) * 2 == 80 / x
    with pytest.raises(ZeroDivisionError):
        1 / (x - F(3, 2))


def test_a_border_that_is_no_rational_number_is_refused() -> None:
    with pytest.raises(NotExactError, match="an equation of degree 2"):
        reach(lambda x: x * x < 2, F(1))
    assert reach(lambda x: x * x < 5, F(1)) == WHOLE


def test_what_is_no_exact_number_is_refused() -> None:
    with pytest.raises(NotExactError, match="a float is no exact number"):
        Decisions(F(1)).parameter() + 0.5
