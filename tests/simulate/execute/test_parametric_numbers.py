"""Quotients of polynomials of a parameter: their arithmetic beside plain numbers, and where decisions stay the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.simulate.execute.parametric_numbers import BranchRecord, Parametric, Stretch, reach_of

WHOLE = Stretch(Fraction(1, 2), Fraction(2))
small = st.integers(-4, 4).map(Fraction)


def computed(x: Any, a: Fraction, b: Fraction, c: Fraction) -> list[Any]:
    """Returns some numbers of a computation that decides."""
    one = a * x + b
    two = (one * one - c) / (x + 5)
    three = min(two, one) if two < c else max(two - 1, abs(one))
    return [math.floor(three), math.ceil(2 * one / 3), int(three > two), int(one == b), int(one >= a)]


@given(small, small, small, st.fractions(WHOLE.low, WHOLE.high, max_denominator=60))
def test_values_are_those_of_plain_numbers(a: Fraction, b: Fraction, c: Fraction, at: Fraction) -> None:
    decisions = BranchRecord(at)
    assert computed(decisions.parameter(), a, b, c) == computed(at, a, b, c)


@given(small, small, small, st.fractions(WHOLE.low, WHOLE.high, max_denominator=60))
def test_decisions_stay_the_same_within_their_reach(a: Fraction, b: Fraction, c: Fraction, at: Fraction) -> None:
    decisions = BranchRecord(at)
    expected = computed(decisions.parameter(), a, b, c)
    try:
        reach = reach_of(decisions, WHOLE)
    except NotExactError:
        return  # an end that is no rational number
    assert reach.low <= at <= reach.high
    inside = [reach.low + (reach.high - reach.low) * Fraction(k, 12) for k in range(13)]
    for other in inside[0 if reach.with_low else 1 : 13 if reach.with_high else 12]:
        assert computed(other, a, b, c) == expected


def reach(decide: Callable[[Parametric], object], at: Fraction) -> Stretch:
    decisions = BranchRecord(at)
    decide(decisions.parameter())
    return reach_of(decisions, WHOLE)


def test_a_border_belongs_to_the_side_that_decides_alike() -> None:
    assert reach(lambda x: x < 1, Fraction(3, 4)) == Stretch(Fraction(1, 2), Fraction(1), True, False)
    assert reach(lambda x: x <= 1, Fraction(3, 4)) == Stretch(Fraction(1, 2), Fraction(1))
    assert reach(lambda x: x == 1, Fraction(1)) == Stretch(Fraction(1), Fraction(1))
    assert reach(lambda x: x != 1, Fraction(3, 2)) == Stretch(Fraction(1), Fraction(2), False, True)
    assert reach(lambda x: math.floor(2 * x), Fraction(1)) == Stretch(Fraction(1), Fraction(3, 2), True, False)
    assert reach(lambda x: Fraction(3) > x, Fraction(1)) == WHOLE


def test_a_function_that_is_constant_is_a_plain_number() -> None:
    x = BranchRecord(Fraction(3, 2)).parameter()
    assert type(x * (40 / x)) is Fraction
    assert hash((40 / x) * 2) == hash(80 / x)
    assert (40 / x) * 2 == 80 / x
    with pytest.raises(ZeroDivisionError):
        1 / (x - Fraction(3, 2))


def test_a_border_that_is_no_rational_number_is_refused() -> None:
    with pytest.raises(NotExactError, match="an equation of degree 2"):
        reach(lambda x: x * x < 2, Fraction(1))
    assert reach(lambda x: x * x < 5, Fraction(1)) == WHOLE


def test_what_is_no_exact_number_is_refused() -> None:
    with pytest.raises(NotExactError, match="a float is no exact number"):
        BranchRecord(Fraction(1)).parameter() + 0.5
