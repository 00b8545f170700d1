"""The edge of a condition, against the edge that is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.bisection import halved, mean, whole_mean


def test_a_root_of_two_to_the_last_digit() -> None:
    inside, outside = halved(lambda x: x * x < 2, 1.0, 2.0)
    assert inside < 2**0.5 <= outside
    assert outside - inside < 1e-15


def test_the_ends_are_not_asked_and_steps_are_counted() -> None:
    asked: list[Fraction] = []

    def holds(value: Fraction) -> bool:
        asked.append(value)
        return value < Fraction(1, 3)

    assert halved(holds, Fraction(0), Fraction(1), steps=2) == (Fraction(1, 4), Fraction(1, 2))
    assert asked == [Fraction(1, 2), Fraction(1, 4)]


@pytest.mark.parametrize("enough", [2, 3])
def test_what_is_near_enough_ends_the_search(enough: int) -> None:
    inside, outside = halved(lambda n: n < 37, 0, 64, near=lambda low, high: high - low <= enough, middle=whole_mean)
    assert inside < 37 <= outside
    assert outside - inside == 2


def test_no_value_between_ends_the_search() -> None:
    assert halved(lambda _: True, 1.0, 2.0, middle=lambda one, other: None) == (1.0, 2.0)  # noqa: ARG005
    assert mean(Fraction(1), Fraction(2)) == Fraction(3, 2)


@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(0, 999), st.booleans())
def test_whole_neighbours_of_the_edge(low: int, width: int, part: int, rising: bool) -> None:
    """The condition holds up to an edge, or from it on."""
    edge = low + part % width
    if rising:
        assert halved(lambda n: n > edge, low + width, low - 1, middle=whole_mean) == (edge + 1, edge)
    else:
        assert halved(lambda n: n <= edge, low - 1, low + width, middle=whole_mean) == (edge, edge + 1)
