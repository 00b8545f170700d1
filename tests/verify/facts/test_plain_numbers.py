"""Numbers of a solver's state made plain: which one is tried first, within its range and what must hold."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.model.model import Interval
from coherence.verify.facts.plain_numbers import MOST_PLAIN, State, rounder
from tests.draws import few


def anything(_: State) -> bool:
    return True


def between(low: str, high: str) -> Interval:
    return Interval(Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("value", "span", "expected"),
    [
        ("1/3", None, "1"),  # whole numbers first below ten, upward first
        ("1/3", ("0", "1/2"), "0"),
        ("29/3", None, "10"),
        ("29/3", ("9", "99/10"), "9"),
        ("1/3", ("1/4", "1/2"), "4/10"),  # then one digit, two, three
        ("1/3", ("33/100", "34/100"), "34/100"),
        ("1/3", ("333/1000", "3334/10000"), "333/1000"),
        ("1/3", ("33333/100000", "33334/100000"), "1/3"),  # nothing plain lies there
        ("1234567/100", None, "13000"),
        ("1234567/100", ("12001", "12900"), "12400"),
        ("1234567/100", ("12340", "12350"), "12350"),
        ("12", None, "12"),
        (f"{MOST_PLAIN - 1}", None, f"{MOST_PLAIN - 1}"),
        (f"{MOST_PLAIN + 1}", None, "110"),
        ("-1/3", None, "0"),
        ("-29/3", ("-10", "-97/10"), "-10"),
        (f"-{MOST_PLAIN + 1}", None, "-100"),
    ],
)
def test_the_plainest_neighbour_within_the_range_is_taken(
    value: str, span: tuple[str, str] | None, expected: str
) -> None:
    spans = {"x": between(*span)} if span is not None else {}
    rounded = rounder({"x": Fraction(value)}, spans, anything)["x"]
    assert rounded == Fraction(expected)


def test_what_does_not_hold_any_more_is_not_taken_and_truths_stay() -> None:
    at: State = {"x": Fraction(1, 3), "y": Fraction(1, 3), "on": True}
    assert rounder(at, {}, lambda state: Fraction(state["x"]) + Fraction(state["y"]) <= 1) == {
        "x": 0,
        "y": 1,
        "on": True,
    }
    assert rounder(at, {}, lambda state: state == at) == at


@given(st.fractions(-1000, 1000), st.fractions(-1000, 1000), st.fractions(0, 10))
@settings(max_examples=few(100), deadline=None)
def test_a_rounded_number_stays_in_its_range(value: Fraction, low: Fraction, width: Fraction) -> None:
    span = Interval(min(low, value), max(low + width, value))
    rounded = rounder({"x": value}, {"x": span}, anything)["x"]
    assert span.clip(Fraction(rounded)) == rounded
