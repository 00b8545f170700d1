"""Numbers that remember how they were computed: the same arithmetic, and what was written down is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.number_text import render_seconds
from coherence.exploring.half_spaces import Form, Row, inside, row
from coherence.exploring.traced_numbers import Path, StalePathError, Traced
from tests.draws import few

F = Fraction
small = st.fractions(-20, 20, max_denominator=8)


def pair(x: Fraction, y: Fraction) -> tuple[Path, Any, Any]:
    path = Path()
    return path, Traced(x, Form((F(1), F(0)), F(0)), path), Traced(y, Form((F(0), F(1)), F(0)), path)


def tries(x: Any, y: Any) -> object:
    """Branches, sorts, rounds, divides and takes remainders, as questions do."""
    if x == y:
        return "same"
    low, high = sorted((x, 2 * y - 3))
    steps = (high - low) // 3 if high > low else 0
    rest = (high + 7) % 4
    return (
        min(x, y, F(5)) == y, steps, math.floor(x), math.ceil(y - 1), int(-x), bool(x - 1), abs(y) >= 2, rest < 2,
        max(x + y, F(1)) / 2 <= 3, divmod(x, 2)[0], x != 4, 1 - y > x, F(7, 2) >= x, 3 // (abs(y) + 1) == 1,
    )  # fmt: skip


@pytest.mark.slow
@settings(max_examples=few(100), deadline=None)
@given(small, small, small, small)
def test_a_computation_goes_the_same_way_where_what_was_written_down_holds(
    x: Fraction, y: Fraction, a: Fraction, b: Fraction
) -> None:
    path, traced_x, traced_y = pair(x, y)
    with path:
        found = tries(traced_x, traced_y)
    assert found == tries(x, y)
    rows = (*path.rows, *path.pins)
    assert inside(rows, (x, y))
    near = (x + a / 50, y + b / 50)
    for point in ((a, b), near):
        if inside(rows, point):
            assert tries(*point) == found, point


@pytest.mark.parametrize(
    "look",
    [
        hash, float, str, repr, lambda x: x * x, lambda x: 1 / x, lambda x: x**2, lambda x: x.numerator, round,
        lambda x: x + 0.5, lambda x: x < 0.5, lambda x: f"{x}", Fraction, lambda x: x.limit_denominator(3),
    ],
)  # fmt: skip
def test_whatever_else_looks_at_a_number_pins_it(look: Callable[[Any], object]) -> None:
    path, x, _ = pair(F(3), F(1))
    with path:
        look(x)
    assert set(path.pins) == {row(Form((F(1), F(0)), F(-3)), "==")}


def test_what_is_told_to_a_reader_decides_nothing() -> None:
    path, x, _ = pair(F(90), F(1))
    with path:
        assert render_seconds(x) == "90 s"
    assert not path.rows
    assert not path.pins


def test_a_number_of_another_computation_is_refused() -> None:
    old, x, _ = pair(F(3), F(1))
    new, z, _ = pair(F(3), F(1))
    assert x < 4  # nothing is written down outside
    with new:
        with pytest.raises(StalePathError):
            x < 4  # noqa: B015
        with pytest.raises(StalePathError):
            x + z
        assert x == z  # as a key of a cache: the value, pinned
    assert not old.rows
    assert Row(Form((F(1), F(0)), F(-3)), "==") in new.rows


@settings(max_examples=few(60), deadline=None)
@given(st.lists(small, min_size=3, max_size=3), st.sampled_from(["<", "<=", "=="]), small, small)
def test_rows_keep_their_meaning_in_simple_numbers(c: list[Fraction], relation: str, x: Fraction, y: Fraction) -> None:
    form = Form((c[0], c[1]), c[2])
    made = row(form, relation)
    assert made.holds((x, y)) is Row(form, relation).holds((x, y))
    if relation != "==":
        assert made.opposite().holds((x, y)) is not made.holds((x, y))
    assert all(n.denominator == 1 for n in (*made.form.coefficients, made.form.constant))
