"""Numbers with a gradient: exact for affine maps, the derivative elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.simulate.execute.affine import Affine, lift, plain, variable

F = Fraction
numbers = st.fractions(-5, 5, max_denominator=8)
X, Y = "x", "y"


def test_an_affine_map_is_remembered_exactly() -> None:
    x, y = variable(X, F(2)), variable(Y, F(3))
    made = 2 * x - y / 4 + 1
    assert plain(made) == F(17, 4)
    assert [made.coefficient(X), made.coefficient(Y)] == [F(2), F(-1, 4)]
    assert made.exact


def test_products_and_quotients_are_linearised_and_say_so() -> None:
    x, y = variable(X, F(2)), variable(Y, F(3))
    assert [(x * y).coefficient(X), (x * y).coefficient(Y), (x * y).exact] == [F(3), F(2), False]
    assert [(x / y).coefficient(X), (x / y).coefficient(Y), (x / y).exact] == [F(1, 3), F(-2, 9), False]
    assert (6 / x).coefficient(X) == F(-3, 2)


def test_rounding_forgets_and_the_absolute_value_turns() -> None:
    x = variable(X, F(-5, 2))
    assert plain(math.floor(x)) == -3
    assert math.ceil(x).gradient == ()
    assert abs(x).coefficient(X) == -1


def test_a_variable_that_cancels_is_gone() -> None:
    x = variable(X, F(1))
    assert (x - x).gradient == ()
    assert x - x == 0
    assert (5 - x).coefficient(X) == -1


@given(numbers, numbers, numbers)
def test_comparisons_follow_the_value(a: Fraction, b: Fraction, slope: Fraction) -> None:
    one, other = Affine(a, ((X, slope),)), lift(b)
    assert (one < other, one <= other, one > other, one >= other, one == other) == (
        a < b,
        a <= b,
        a > b,
        a >= b,
        a == b,
    )


@pytest.mark.slow
@given(numbers, numbers, numbers, numbers)
def test_the_gradient_predicts_an_affine_map_at_any_other_point(
    a: Fraction, b: Fraction, here: Fraction, there: Fraction
) -> None:
    def through(x: Affine) -> Affine:
        return (a * x + b) / 3 - (x - a) * b

    made = through(variable(X, here))
    assert made.exact
    assert plain(through(lift(there))) == plain(made) + made.coefficient(X) * (there - here)
