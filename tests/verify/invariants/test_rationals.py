"""Simple numbers out of intervals: against all fractions of small denominators, and by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.invariants.rationals import roundest, simplest, striking
from tests.draws import few

ENDS = st.fractions(-20, 20, max_denominator=30)


@given(ENDS, st.fractions(0, 2, max_denominator=30))
@settings(max_examples=few(200), deadline=None)
def test_the_simplest_fraction_has_the_least_denominator_and_is_nearest_to_zero(low: Fraction, width: Fraction) -> None:
    high, found = low + width, simplest(low, low + width)
    assert low <= found <= high
    for bottom in range(1, found.denominator + 1):
        inside = [
            Fraction(top, bottom) for top in range(-41 * bottom, 41 * bottom) if low <= Fraction(top, bottom) <= high
        ]
        if inside:
            assert bottom == found.denominator
            assert abs(found) == min(map(abs, inside))
            break


def test_an_empty_interval_has_no_fraction() -> None:
    with pytest.raises(ValueError, match="is empty"):
        simplest(Fraction(2), Fraction(1))
    assert simplest(Fraction(1, 3), Fraction(1, 3)) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("-1", "2", "0"),
        ("0", "2", "0"),
        ("-2", "0", "0"),
        ("3", "3", "3"),
        ("1/3", "1/3", "1/3"),
        ("61", "72", "70"),
        ("48", "72", "50"),
        ("7", "130", "100"),
        ("7", "60", "50"),
        ("99", "101", "100"),
        ("101", "109", "105"),
        ("0.023", "0.027", "0.025"),
        ("0.021", "0.0249", "0.021"),
        ("-72", "-61", "-70"),
        ("-130", "-7", "-100"),
        ("499", "501", "500"),
        ("5", "6", "5"),
        ("9.5", "10", "10"),
    ],
)
def test_the_roundest_is_a_multiple_of_the_largest_power_or_its_half(low: str, high: str, expected: str) -> None:
    assert roundest(Fraction(low), Fraction(high)) == Fraction(expected)


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [
        ("0", "5", True),
        ("100", "3", True),  # of 100s 3 % are hit by chance: below a thirtieth
        ("100", "4", False),
        ("120", "0.3", True),
        ("120", "0.4", False),
        ("0.5", "0.008", True),  # 0.008 * 2^2 is below 1 / 30
        ("0.5", "0.009", False),
        ("0.25", "0.002", True),
        ("0.25", "0.0021", False),  # 0.0021 * 4^2 is above, and above a thirtieth of 0.01
        ("1/3", "0.0037", True),
        ("1/3", "0.0038", False),
        ("0.2", "0.0033", True),  # of tenths
        ("0.2", "0.0034", False),
    ],
)
def test_a_number_is_striking_where_it_would_be_a_coincidence(value: str, width: str, expected: bool) -> None:
    middle, size = Fraction(value), Fraction(width)
    assert striking(middle, middle - size / 2, middle + size / 2) is expected
