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
from coherence.simulate.execute.parametric_numbers import BranchRecord, Parametric, PlaneRecord, Stretch, reach_of

WHOLE = Stretch(Fraction(1, 2), Fraction(2))
small = st.integers(-4, 4).map(Fraction)


def computed(x: Any, a: Fraction, b: Fraction, c: Fraction) -> list[Any]:
    """Returns some numbers of a computation that decides."""
    one = a * x + b
    two = (one * one - c) / (x + 5)
    three = min(two, one) if two < c else max(two - 1, abs(one))
    return [math.floor(three), math.ceil(2 * one / 3), int(three > two), int(one == b), int(one >= a)]


@pytest.mark.slow
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


# -- two parameters -------------------------------------------------------------------------------------------------

sides = st.fractions(Fraction(1, 2), Fraction(2), max_denominator=12)
signed = st.fractions(Fraction(-2), Fraction(2), max_denominator=6)


def of_two(x: Any, y: Any, a: Fraction, b: Fraction) -> list[Any]:
    """Returns some numbers of a computation that divides and decides."""
    one = (a * x + b * y) / (y + 3)
    two = x * y / 4 - one
    three = min(two, one) * x / x if two < b else max(two - 1, abs(one))
    return [math.floor(7 * three), math.ceil(two / 3), int(three > two), int(one == b), int(x * one / y >= a)]


@pytest.mark.slow
@given(small, small, sides, sides)
def test_values_of_two_parameters_are_those_of_plain_numbers(
    a: Fraction, b: Fraction, x: Fraction, y: Fraction
) -> None:
    decisions = PlaneRecord((x, y))
    assert of_two(*decisions.parameters(), a, b) == of_two(x, y, a, b)


@pytest.mark.slow
@given(small, small, signed, signed, st.lists(st.tuples(signed, signed), max_size=12))
def test_where_all_signs_hold_two_parameters_decide_alike(
    a: Fraction, b: Fraction, x: Fraction, y: Fraction, others: list[tuple[Fraction, Fraction]]
) -> None:
    decisions = PlaneRecord((x, y))
    try:
        expected = of_two(*decisions.parameters(), a, b)
    except ZeroDivisionError:
        return
    assert decisions.holds_at((x, y))
    for other in others:
        if decisions.holds_at(other):
            assert of_two(*other, a, b) == expected


def test_equal_functions_of_two_parameters_are_equal_and_cost_no_condition() -> None:
    decisions = PlaneRecord((Fraction(2, 3), Fraction(5, 4)))
    x, y = decisions.parameters()
    one, other = (x + y) * x / (x + y), x * 1
    before = dict(decisions.conditions)
    assert one == other
    assert hash(one) == hash(other)
    assert decisions.conditions == before
    assert 3 * x * y / (x * y) == 3
    assert x / x == 1


def test_a_factor_that_cancels_keeps_its_sign() -> None:
    decisions = PlaneRecord((Fraction(1), Fraction(1)))
    x, y = decisions.parameters()
    assert x / (x * y) > 0
    assert not decisions.holds_at((Fraction(-1), Fraction(-1)))
    assert decisions.holds_at((Fraction(2), Fraction(1, 2)))


def test_powers_beyond_the_limit_are_refused() -> None:
    decisions = PlaneRecord((Fraction(1), Fraction(1)))
    x, y = decisions.parameters()
    with pytest.raises(NotExactError, match="powers above"):
        _ = (x * x * x + y) * (x * x + 1)
