"""Equations that may estimate the causes of an effect: which are tried, and what each one misses."""

from __future__ import annotations

import pytest

from coherence.causal.fitting.candidate_equations import candidates_for, missed_columns
from coherence.causal.fitting.equations import Equation
from tests.causal.fitting.test_identification_problem import problem


def test_plain_regression_comes_first_and_misses_nothing_where_all_is_seen() -> None:
    full = problem("u>x u>y x>y", "u x y")
    first = next(iter(candidates_for(full, "y")))
    assert (first.columns, first.instruments, first.controls) == ((("u", 0), ("x", 0)), (), ())
    assert missed_columns(full, first) == ()


def test_a_common_cause_that_is_not_seen_spoils_the_regression() -> None:
    hidden = problem("u>x u>y x>y", "x y")
    assert missed_columns(hidden, Equation("y", (("x", 0),))) == (("x", 0),)


@pytest.mark.parametrize(
    ("text", "seen", "field", "column"),
    [
        ("u>x u>y x>y z>x", "z x y", "instruments", ("z", 0)),
        ("u>x u>y x>m m>y", "x m y", "controls", ("x", 0)),
    ],
)
def test_an_instrument_or_a_control_finds_what_the_regression_misses(
    text: str, seen: str, field: str, column: tuple[str, int]
) -> None:
    posed = problem(text, seen)
    plain, *others = candidates_for(posed, "y")
    assert missed_columns(posed, plain)
    exact = [equation for equation in others if not missed_columns(posed, equation)]
    assert any(column in getattr(equation, field) for equation in exact)


def test_no_candidate_finds_what_a_lone_hidden_cause_confounds() -> None:
    hidden = problem("u>x u>y x>y", "x y")
    assert all(missed_columns(hidden, equation) for equation in candidates_for(hidden, "y"))
