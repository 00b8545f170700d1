"""Conditions that are each about a free name of their own hold together; the solver says the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import Outcome, unsat
from coherence.language.expressions import parse
from coherence.model.model import Interval
from coherence.verify.facts.satisfiability import SatQuery
from coherence.verify.patterns.design.vacuity import _are_independent

TERMS = ("a", "not a", "b > 3", "4 <= b", "c == 5", "c != 5", "k < 2", "b < c", "b + 1 > 2", "a or d", "c < 5")


@pytest.mark.parametrize("text", ["a", "not a and b > 3", "b > 3 and (c == 5 and a)", "4 <= b"])
def test_conditions_on_free_names_of_their_own_are_independent(text: str) -> None:
    assert _are_independent([parse(text)], {})


@pytest.mark.parametrize("text", ["b > 3 and b < 3", "a and not a", "b < c", "a or d", "not (a and d)", "b + 1 > 2"])
def test_other_conditions_are_left_to_the_solver(text: str) -> None:
    assert not _are_independent([parse(text)], {})


def test_a_name_with_a_range_is_left_to_the_solver() -> None:
    assert not _are_independent([parse("k < 2")], {"k": Interval(Fraction(3), Fraction(3))})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(TERMS), min_size=1, max_size=4))
def test_what_is_independent_is_satisfiable(terms: list[str]) -> None:
    query = SatQuery(tuple(map(parse, terms)), {"k": Interval(Fraction(3), Fraction(3))})
    if _are_independent(query.conditions, query.values):
        assert unsat(query.script(), timeout_ms=5000).outcome is Outcome.SAT
