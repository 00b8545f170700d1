"""Formulas: one parser, exact numbers, symbols, dimensions; functions against closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.base.units import unit
from coherence.minimums.formulas import UndefinedError, dimension, latex, number, symbolic_form, symbols_of
from coherence.minimums.functions import harmonic, lambert_w, power


def test_exact_inputs_give_an_exact_number() -> None:
    assert number("2 * (n - 1) / n * size / rate", {"n": Fraction(8), "size": Fraction(7), "rate": Fraction(3)}) == (
        Fraction(49, 12)
    )


def test_names_that_sympy_reads_as_its_own_are_symbols() -> None:
    assert symbols_of("S + N + E + I + Q") == ("S", "N", "E", "I", "Q")
    form = symbolic_form("S + N * E / I - Q")
    assert {symbol.name for symbol in form.free_symbols} == {"S", "N", "E", "I", "Q"}


@pytest.mark.parametrize("text", ["__import__('os')", "x.y(1)", "lambda: 1", "open(1)", "a = 1", "sqrt()", "1 +"])
def test_text_is_never_evaluated(text: str) -> None:
    with pytest.raises(UsageError):
        number(text, {})


@pytest.mark.parametrize(
    ("text", "values"), [("1 / x", {"x": Fraction(0)}), ("log(x)", {"x": -1.0}), ("exp(x)", {"x": 1e9})]
)
def test_a_point_without_a_value_is_named(text: str, values: dict[str, Fraction | float]) -> None:
    with pytest.raises(UndefinedError, match="x ="):
        number(text, values)


def test_unlike_quantities_do_not_add() -> None:
    known = {"time": unit("s")[1], "size": unit("B")[1], "rate": unit("B/s")[1]}
    assert dimension("time + size / rate", known) == unit("s")[1]
    with pytest.raises(UsageError, match="adds or compares"):
        dimension("time + size", known)
    with pytest.raises(UsageError, match="divide"):
        dimension("exp(time)", known)
    assert dimension("sqrt(2 * time * time)", known) == unit("s")[1]


@given(st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_harmonic_numbers(n: int) -> None:
    assert harmonic(n) == pytest.approx(float(sum(Fraction(1, k) for k in range(1, n + 1))), rel=1e-12)


def test_harmonic_numbers_are_continuous_where_the_series_begins() -> None:
    assert harmonic(100_001) - harmonic(100_000) == pytest.approx(1 / 100_001, abs=1e-14)


@given(st.floats(-1 / math.e + 1e-9, 50))
@settings(max_examples=60, deadline=None)
def test_lambert_w_inverts(x: float) -> None:
    w = lambert_w(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-9, abs=1e-12)


def test_powers_of_rationals_are_exact() -> None:
    assert power(Fraction(2, 3), 3) == Fraction(8, 27)


def test_latex_uses_the_signs() -> None:
    assert latex("size / bandwidth", {"size": "S", "bandwidth": "B"}) == r"\frac{S}{B}"
