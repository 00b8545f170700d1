"""One path through an instant: guards and cells; rounding and clipping against numbers."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval
from coherence.verify.systems.cases import AffineCase
from coherence.verify.systems.symbolic_instant import InstantPath, clipped, commanded_cell, steps_of, whole
from coherence.verify.systems.terms import TRUE, Guard, add, constant, scaled, unit
from tests.verify.systems.relation import plant

X = unit("x")
EMPTY = InstantPath(TRUE, {}, {})


def under(value: str, relation: str, number: int) -> Guard:
    held = TRUE.also(add(unit(value), constant(-number)), relation)
    assert held is not None
    return held


def test_a_cell_is_itself_until_it_is_written() -> None:
    assert EMPTY.cell("x") == X
    written = EMPTY.holding({"x": constant(3)})
    assert written.cell("x") == constant(3)
    assert written.holding({"y": X}).cell("x") == constant(3)
    assert EMPTY.remembering({"n": Fraction(1)}).remembering({"m": Fraction(2)}).memory == {"n": 1, "m": 2}


def test_a_path_ends_where_its_guards_contradict() -> None:
    way = EMPTY.under(under("x", "<", 3))
    assert way is not None
    assert way.under(under("x", "==", 3)) is None
    assert way.under(under("x", "==", 2)) is not None


def test_commands_that_land_later_have_a_cell_of_their_own() -> None:
    at_once, late = (elaborate(read_text(plant(times=times))) for times in ("", ", lands: 1 s"))
    assert commanded_cell("job.act", at_once) == "job.act"
    assert commanded_cell("job.act", late) == "job.act commanded"
    assert commanded_cell("other", late) == "other"


@pytest.mark.parametrize(("seconds", "steps"), [("0", 0), ("1.9", 0), ("2", 1), ("3.9", 1), ("4", 2), ("5", 2)])
def test_a_closed_window_holds_the_samples_a_whole_number_of_periods_ago(seconds: str, steps: int) -> None:
    (loop,) = elaborate(read_text(plant())).loops
    assert steps_of(Fraction(seconds), dataclasses.replace(loop, period=Fraction(2))) == steps


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 4, {0: [1], 1: [1], 2: [2], 4: [4], 5: [4]}),
        (None, 4, {-9: [-9], 4: [4], 5: [4]}),
        (1, None, {0: [1], 1: [1], 9: [9]}),
        (None, None, {-9: [-9], 9: [9]}),
    ],
)
def test_a_value_is_moved_into_an_interval(low: int | None, high: int | None, expected: dict[int, list[int]]) -> None:
    ends = (None if end is None else Fraction(end) for end in (low, high))
    cases = clipped(AffineCase(TRUE, X), Interval(*ends))
    for value, results in expected.items():
        point = {"x": Fraction(value)}
        taken = [case.value.at(point) for case in cases if holds(case.guard, point)]
        assert taken == results, value


def test_a_case_outside_under_its_own_guard_has_no_value_inside() -> None:
    (case,) = clipped(AffineCase(under("x", "==", 9), X), Interval(Fraction(1), Fraction(4)))
    assert case.value == constant(4)


def holds(guard: Guard, point: dict[str, Fraction]) -> bool:
    signs = {"<": lambda v: v < 0, "<=": lambda v: v <= 0, "==": lambda v: v == 0}
    return all(signs[relation](term.at(point)) for term, relation in guard.rows())


@pytest.mark.slow
@given(st.fractions(-5, 5, max_denominator=4), st.sampled_from(["ceil", "floor"]))
@settings(max_examples=60, deadline=None)
def test_a_rounded_unknown_may_be_the_rounded_number_and_no_other_whole_one(value: Fraction, function: str) -> None:
    (case,) = whole(function, add(X, constant(1)), lambda key: f"new {key}")
    rounded = (math.ceil if function == "ceil" else math.floor)(value + 1)
    (name,) = [name for name, _ in case.value.items]
    allowed = [n for n in range(-9, 10) if holds(case.guard, {"x": value, name: Fraction(n)})]
    assert allowed == [rounded]


def test_a_known_number_is_rounded_at_once() -> None:
    def never(key: str) -> str:
        raise AssertionError(key)

    for number, low, high in ((Fraction(5, 2), 2, 3), (Fraction(3), 3, 3), (Fraction(-5, 2), -3, -2)):
        assert [case.value for case in whole("floor", constant(number), never)] == [constant(low)]
        assert [case.value for case in whole("ceil", constant(number), never)] == [constant(high)]
    assert scaled(X, Fraction(1)) == X
