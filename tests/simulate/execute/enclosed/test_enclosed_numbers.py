"""Enclosures: what they hold, the derivatives too, and comparisons that they leave open."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.simulate.execute.enclosed.enclosed_numbers import EnclosedNumber, enclosed, rounded_out, widest

F = Fraction
NUMBERS = st.fractions(-50, 50, max_denominator=1000)
STEPS = st.lists(st.tuples(st.sampled_from("+-*/"), NUMBERS), min_size=1, max_size=6)


def walked(x: EnclosedNumber | Fraction, steps: list[tuple[str, Fraction]]) -> EnclosedNumber | Fraction:
    """Returns x * (x and a number put together) again and again."""
    at = x
    for name, number in steps:
        if name == "/":
            at = at / (number * number + 1 + x * x) if name == "/" else at
        else:
            at = {"+": operator.add, "-": operator.sub, "*": operator.mul}[name](at, x + number)
    return at


@pytest.mark.slow
@given(middle=NUMBERS, radius=st.fractions(0, 1, max_denominator=100), part=st.fractions(-1, 1), steps=STEPS)
def test_what_is_computed_holds_every_number_inside_and_every_difference(
    middle: Fraction, radius: Fraction, part: Fraction, steps: list[tuple[str, Fraction]]
) -> None:
    """The last by the mean value theorem: f(b) - f(a) = f'(between) * (b - a)."""
    box = EnclosedNumber(middle - radius, middle + radius, {"x": (F(1), F(1))})
    whole = enclosed(walked(box, steps)).rounded()
    inside, centre = walked(middle + part * radius, steps), walked(middle, steps)
    assert isinstance(inside, Fraction)
    assert isinstance(centre, Fraction)
    assert whole.low <= inside <= whole.high
    low, high = whole.slopes["x"]
    assert min(low * part, high * part) * radius <= inside - centre <= max(low * part, high * part) * radius


@given(a=NUMBERS, b=NUMBERS, radius=st.fractions(0, 1))
def test_a_comparison_is_answered_only_where_all_numbers_agree(a: Fraction, b: Fraction, radius: Fraction) -> None:
    left = EnclosedNumber(a - radius, a + radius)
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        answers = {compare(end, b) for end in (*left.ends, a)}
        if len(answers) == 1:
            assert compare(left, b) is answers.pop()
        else:
            with pytest.raises(NotExactError, match="too close"):
                compare(left, b)


def test_equal_are_single_numbers_alone() -> None:
    assert enclosed(F(1, 3)) == F(1, 3)
    assert enclosed(F(1, 3)) != F(1, 4)
    with pytest.raises(NotExactError):
        _ = EnclosedNumber(F(0), F(1)) == 1


def test_what_may_be_zero_divides_nothing_and_what_may_be_rounded_both_ways_is_not_rounded() -> None:
    with pytest.raises(NotExactError, match="may be 0"):
        1 / EnclosedNumber(F(0), F(1))
    assert EnclosedNumber(F(1, 4), F(1, 2)).__ceil__() == 1
    with pytest.raises(NotExactError, match="whole"):
        EnclosedNumber(F(1, 2), F(3, 2)).__floor__()


def test_rounding_goes_outward() -> None:
    low, high = rounded_out(F(1, 3), F(1, 3))
    assert low < F(1, 3) < high
    assert high - low < F(1, 10**50)
    assert widest([(F(-3), F(1)), (F(0), F(2))]) == 5
    assert abs(EnclosedNumber(F(-3), F(-2))).ends == (F(2), F(3))
