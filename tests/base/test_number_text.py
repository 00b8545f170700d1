"""Times as people read them, and numbers that keep every digit."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.number_text import (
    digits,
    nearest_float,
    render_duration,
    render_exact,
    render_figure,
    render_rounded,
)
from coherence.base.units import quantity


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("0", "0 s"),
        ("20", "20 s"),
        ("1/4", "250 ms"),
        ("43/2", "21.5 s"),
        ("60", "1 min"),
        ("90", "1 min 30 s"),
        ("3600", "1 h"),
        ("3661.5", "1 h 1 min 1.5 s"),
        ("187200", "2 d 4 h"),
        ("1/1000000", "1 us"),
        ("3/1000000000", "3 ns"),
        ("-90", "-1 min 30 s"),
        ("1/3", "~333.333 ms"),
        ("181/3", "~1 min 0.333 s"),
        ("1/100000000000000", "1e-5 ns"),
        ("1/30000000000000", "~3.33e-5 ns"),
        ("1e15", "1e15 s"),
    ],
)
def test_durations(time: str, text: str) -> None:
    assert render_duration(Fraction(time)) == text


def test_a_time_beyond_every_float_has_a_text() -> None:
    assert render_duration(Fraction(10) ** 5000) == "1e5000 s"
    assert render_rounded(Fraction(2, 3 * 10**500)) == "~6.67e-501"


def _seconds(text: str) -> Fraction:
    sign, plain = (-1 if text.startswith("-") else 1), text.lstrip("-").removeprefix("~")
    parts = re.findall(r"[\d.e-]+ \w+", plain)
    assert " ".join(parts) == plain
    return sign * sum((quantity(part)[0] for part in parts), Fraction(0))


@settings(max_examples=100, deadline=None)
@given(st.fractions(-(10**6), 10**6, max_denominator=10**12) | st.decimals(-100, 10**7, places=3).map(Fraction))
def test_a_duration_read_back_is_the_time_or_says_that_it_is_rounded(time: Fraction) -> None:
    text = render_duration(time)
    error = abs(_seconds(text) - time)
    assert error <= abs(time) / 200
    assert ("~" in text) == (error > 0)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (Fraction(86), "s", "1 min 26 s"),
        (Fraction(5, 4), "req/s", "1.25 req/s"),
        (3, "", "3"),
        (-7, "gpu", "-7 gpu"),
        (512 * 2**20, "B", "512 MiB"),
        (Fraction(3 * 2**30, 2), "B", "1.5 GiB"),
        (Fraction(-1, 3), "", "~-0.333"),
        (Fraction(1, 81), "", "~0.0123"),
        (Fraction(1, 4096), "", "~0.000244"),
        (Fraction(1, 20), "", "0.05"),
        (0.1, "s", "0.1 s"),
        (math.inf, "s", "inf s"),
        (math.nan, "", "nan"),
    ],
)
def test_figures(value: Fraction | float, unit: str, text: str) -> None:
    assert render_figure(value, unit) == text


@settings(max_examples=100, deadline=None)
@given(st.fractions())
def test_exact_text_is_exact(value: Fraction) -> None:
    assert Fraction(render_exact(value)) == value


def test_exact_text_of_a_number_too_long_for_decimals() -> None:
    value = Fraction(10**9000, 3)
    numerator, denominator = render_exact(value).split("/")
    assert Fraction(int(numerator, 16), int(denominator, 16)) == value
    assert nearest_float(value) is None
    assert nearest_float(math.inf) is None
    assert nearest_float(Fraction(1, 4)) == 0.25


@given(st.integers(-(10**40), 10**40), st.integers(0, 10**40))
def test_digits_of_any_length_are_those_of_the_number(high: int, low: int) -> None:
    assert digits(high) == str(high)
    assert digits(abs(high) * 10**9000 + low) == (f"{abs(high)}{low:09000}" if high else str(low))
