"""Affine terms and guards: arithmetic, contradictions, rows; against points."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.systems.terms import (
    TRUE,
    Guard,
    StrictInterval,
    Term,
    add,
    constant,
    guard,
    scaled,
    substituted,
    unit,
)
from tests.draws import few

X, Y = unit("x"), unit("y")
POINTS = [
    dict(zip(("x", "y"), map(Fraction, point), strict=True)) for point in itertools.product(range(-3, 4), repeat=2)
]


def row(x: int, y: int, number: int) -> Term:
    return add(add(scaled(X, Fraction(x)), scaled(Y, Fraction(y))), constant(number))


def test_terms_add_scale_and_drop_what_cancels() -> None:
    assert add(X, Y, Fraction(2)).at({"x": Fraction(3), "y": Fraction(5)}) == 13
    assert add(row(2, 3, 1), row(1, 3, 4), Fraction(-1)) == row(1, 0, -3)
    assert add(X, X, Fraction(-1)) == constant(0)
    assert add(X, constant(4), Fraction(-2)) == row(1, 0, -8)
    assert scaled(row(1, 2, 3), Fraction(-2)) == row(-2, -4, -6)
    assert scaled(row(1, 2, 3), Fraction(0)) == constant(0)
    assert constant(3).known
    assert not X.known
    assert [name for name, _ in add(Y, X).items] == ["x", "y"]


def test_names_are_replaced_by_terms() -> None:
    assert substituted(row(2, 3, 1), {"x": row(0, 1, 5)}.get) == row(0, 5, 11)
    assert substituted(row(2, 3, 1), {"z": X}.get) == row(2, 3, 1)


@pytest.mark.parametrize(
    ("span", "empty"),
    [
        (StrictInterval(), False),
        (StrictInterval(Fraction(1), False, None, False), False),
        (StrictInterval(Fraction(1), False, Fraction(1), False), False),
        (StrictInterval(Fraction(1), True, Fraction(1), False), True),
        (StrictInterval(Fraction(1), False, Fraction(1), True), True),
        (StrictInterval(Fraction(2), False, Fraction(1), False), True),
        (StrictInterval(Fraction(1), True, Fraction(2), True), False),
    ],
)
def test_an_interval_is_empty_where_no_number_lies_in_it(span: StrictInterval, empty: bool) -> None:
    assert span.empty is empty


def test_a_row_without_unknowns_holds_or_contradicts() -> None:
    for number, holding in ((-1, ("<", "<=")), (0, ("<=", "==")), (1, ())):
        for relation in ("<", "<=", "=="):
            assert (TRUE.also(constant(number), relation) is not None) is (relation in holding)


def test_a_closed_end_is_weaker_than_an_open_one_at_the_same_value() -> None:
    both = guard([(row(1, 0, -4), "<="), (row(1, 0, -4), "<"), (row(1, 0, -4), "<=")])
    assert both is not None
    assert list(both.rows()) == [(row(1, 0, -4), "<")]
    low = guard([(row(-1, 0, 4), "<="), (row(-2, 0, 8), "<")])
    assert low is not None
    assert list(low.rows()) == [(row(-1, 0, 4), "<")]


def test_rows_of_a_guard_are_the_ends_of_its_intervals() -> None:
    held = guard([(row(2, 0, -8), "<="), (row(-1, 0, 1), "<"), (row(0, -1, 3), "==")])
    assert held is not None
    assert list(held.rows()) == [(row(-1, 0, 1), "<"), (row(1, 0, -4), "<="), (row(0, 1, -3), "==")]
    assert held.fixed() == {"y": 3}


def test_only_single_names_with_one_value_are_fixed() -> None:
    held = guard([(row(1, 1, -3), "=="), (row(1, 0, -2), "<="), (row(-1, 0, 2), "<=")])
    assert held is not None
    assert held.fixed() == {"x": 2}


def test_guards_join_or_contradict() -> None:
    low, high = TRUE.also(row(-1, 0, 2), "<="), TRUE.also(row(1, 0, -2), "<")
    assert low is not None
    assert high is not None
    assert low.joined(high) is None
    assert low.joined(TRUE) == low
    assert TRUE.joined(low) == low
    other = TRUE.also(row(0, 1, 0), "<=")
    assert other is not None
    joined = low.joined(other)
    assert joined is not None
    assert len(list(joined.rows())) == 2


RELATIONS = {"<": lambda v: v < 0, "<=": lambda v: v <= 0, "==": lambda v: v == 0}
ROWS = st.lists(
    st.tuples(st.builds(row, *[st.integers(-2, 2)] * 2, st.integers(-4, 4)), st.sampled_from(sorted(RELATIONS))),
    max_size=4,
)


@pytest.mark.slow
@given(ROWS, ROWS)
@settings(max_examples=few(150), deadline=None)
def test_a_guard_holds_at_the_points_at_which_its_rows_hold(
    first: list[tuple[Term, str]], second: list[tuple[Term, str]]
) -> None:
    one, other = guard(first), guard(second)
    both = one.joined(other) if one is not None and other is not None else None
    for rows, held in ((first, one), (second, other), (first + second, both)):
        for point in POINTS:
            plain = all(RELATIONS[relation](term.at(point)) for term, relation in rows)
            if plain:
                assert held is not None, (rows, point)
            assert held is None or _holds(held, point) is plain, (rows, point)


def _holds(held: Guard, point: dict[str, Fraction]) -> bool:
    return all(RELATIONS[relation](term.at(point)) for term, relation in held.rows())
