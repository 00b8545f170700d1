"""The edge of a condition, against the edge that is known; where a time lies among others."""

from __future__ import annotations

import bisect
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.bisection import Moments, halved, mean, whole_mean


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


NEAR = st.builds(lambda whole, tiny: Fraction(whole, 3) + Fraction(tiny, 10**30), st.integers(0, 5), st.integers(-2, 2))


@given(st.lists(NEAR, max_size=12), NEAR, st.integers(0, 3))
def test_a_time_lies_where_it_lies_among_the_exact_ones(times: list[Fraction], time: Fraction, dropped: int) -> None:
    moments = Moments()
    for at in sorted(times):
        moments.append(at)
    for one in (moments, moments.since(dropped)):
        assert one.before(time) == bisect.bisect_left(one.exact, time)
        assert one.until(time) == bisect.bisect_right(one.exact, time)


def test_times_from_a_number_on_go_on_by_themselves() -> None:
    moments = Moments()
    moments.append(Fraction(1))
    rest = moments.since(0)
    rest.append(Fraction(2))
    assert [len(moments.exact), len(rest.exact)] == [len(moments.rounded), len(rest.rounded)] == [1, 2]
