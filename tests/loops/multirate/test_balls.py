"""Balls hold what exact arithmetic gives."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from coherence.loops.multirate.balls import Ball, in_balls

NUMBERS = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
TINY = Fraction(1, 2**200)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_results_of_arithmetic_lie_inside_and_radii_stay_tiny(a: Fraction, b: Fraction, c: Fraction) -> None:
    result = (Ball.of(a) * b - Ball.of(c)) * Ball.of(b) + a
    assert result.holds((a * b - c) * b + a)
    assert result.reach < TINY


@given(NUMBERS, NUMBERS, st.fractions(min_value=0, max_value=10), st.fractions(min_value=-1, max_value=1))
def test_every_number_of_a_ball_stays_inside_its_products_and_bounds(
    a: Fraction, b: Fraction, radius: Fraction, part: Fraction
) -> None:
    inside = a + part * radius
    ball = Ball.of(a).widened(radius)
    assert (ball * Ball.of(b).widened(radius)).holds(inside * (b + part * radius))
    assert ball.clipped(b, None).holds(max(inside, b))
    assert ball.clipped(None, b).holds(min(inside, b))


def test_a_ball_that_no_bound_meets_is_left_as_it_is() -> None:
    third = Ball.of(Fraction(1, 3))
    assert third.clipped(Fraction(0), Fraction(1)) is third


def test_nothing_times_a_ball_is_exactly_nothing() -> None:
    assert not Ball.of(Fraction(1, 3)) * 0
    assert Ball.of(Fraction(1, 3)) * Fraction(3) != Ball.of(1)  # its radius stays


def test_arrays_of_numbers_become_arrays_of_balls() -> None:
    import numpy as np

    balls = in_balls(np.array([[Fraction(1, 3), 2]], dtype=object))
    assert (balls @ balls.T)[0, 0].holds(Fraction(1, 9) + 4)


def test_a_ball_meets_each_entry_of_an_array() -> None:
    import numpy as np

    third, row = Ball.of(Fraction(1, 3)), np.array([Fraction(1), Fraction(2)], dtype=object)
    assert [ball.holds(Fraction(k, 3)) for k, ball in enumerate(third * row, start=1)] == [True, True]
    assert [ball.holds(k + Fraction(1, 3)) for k, ball in enumerate(third + row, start=1)] == [True, True]
