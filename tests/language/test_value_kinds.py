"""The kinds of single values: what each accepts, what it makes of it, and what it says of the rest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.places import Place
from coherence.base.units import ONE, SECOND
from coherence.language.document import Scalar
from coherence.language.schema_kinds import Formula, Kind, Quantity, Reading, Word
from coherence.language.value_kinds import (
    DURATION,
    FORMULA,
    NAME_KIND,
    NEEDS,
    PERIOD,
    VALUE,
    WHOLE,
    parse_quantity,
    quantity,
    word,
)


def leaf(text: str) -> Scalar:
    return Scalar(text, Place("d.yaml", 1, 1, 1, len(text) + 1))


def read(kind: Kind[Any], text: str) -> tuple[object, list[str]]:
    reading = Reading()
    value = kind.read(leaf(text), reading)
    return value, [problem.message for problem in reading.problems]


@pytest.mark.parametrize(
    ("text", "low", "high", "varies"),
    [
        ("5 s", Fraction(5), Fraction(5), False),
        ("60 ms .. 2 s", Fraction(3, 50), Fraction(2), False),
        ("0 .. 2 s", Fraction(0), Fraction(2), False),
        ("varies: 1 s .. 3 s", Fraction(1), Fraction(3), True),
    ],
)
def test_a_quantity_is_read_exactly(text: str, low: Fraction, high: Fraction, varies: bool) -> None:
    reading = Reading()
    quantity = parse_quantity(leaf(text), reading, SECOND)
    assert quantity is not None
    assert (quantity.low, quantity.high, quantity.varies, quantity.dimension) == (low, high, varies, SECOND)
    assert not reading.problems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 s .. 2 s .. 3 s", "'1 s .. 2 s .. 3 s' has more than two ends"),
        ("2 s .. 1 s", "'2 s .. 1 s' is empty: 2 s > 1 s"),
        ("1 s .. 2 kW", "'1 s .. 2 kW' mixes s and W"),
        ("5 kW", "'5 kW' is W, a duration expected"),
    ],
)
def test_what_is_no_duration_is_a_problem(text: str, message: str) -> None:
    reading = Reading()
    assert parse_quantity(leaf(text), reading, SECOND) is None
    assert [problem.message for problem in reading.problems] == [message]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (DURATION, "-1 s", "'-1 s' is below 0"),
        (PERIOD, "0 s", "'0 s' is not above zero"),
        (WHOLE, "2.5", "'2.5' is no whole number"),
        (NAME_KIND, "Pool", "'Pool' is not a name"),
        (word("up", "down"), "left", "'left' is not one of up, down"),
    ],
)
def test_a_kind_refuses_what_it_cannot_hold(kind: Kind[Any], text: str, message: str) -> None:
    value, problems = read(kind, text)
    assert value is None
    assert problems == [message]


def test_a_value_is_a_word_a_quantity_or_a_formula() -> None:
    place = leaf("").place
    assert read(VALUE, "unlimited") == (Word("unlimited", place), [])
    assert read(VALUE, "3 .. 5") == (Quantity(Fraction(3), Fraction(5), ONE, "3 .. 5", place), [])
    formula, problems = read(VALUE, "pool.size + 1")
    assert isinstance(formula, Formula)
    assert formula.text == "pool.size + 1"
    assert not problems


@pytest.mark.parametrize(
    ("text", "resource", "low", "high"), [("4 h100", "h100", 4, 4), ("1 .. 2 a100_80", "a100_80", 1, 2)]
)
def test_a_need_may_name_a_resource_that_is_no_unit(text: str, resource: str, low: int, high: int) -> None:
    value, problems = read(NEEDS, text)
    assert not problems
    assert isinstance(value, dict)
    amount = value[resource]
    assert (amount.low, amount.high, amount.dimension) == (low, high, ONE)
    assert amount.place.end_column == 1 + len(text) - len(f" {resource}")


def test_a_need_in_a_unit_keeps_it_and_a_near_miss_of_one_is_a_problem() -> None:
    value, _ = read(NEEDS, "4 gpu")
    assert isinstance(value, Quantity)
    assert read(NEEDS, "4 gup") == (None, ["unknown unit 'gup'"])


def test_a_formula_that_does_not_parse_is_a_problem_at_its_place() -> None:
    reading = Reading()
    assert FORMULA.read(leaf("a + * b"), reading) is None
    (problem,) = reading.problems
    assert problem.place.line == 1
    assert "in 'a + * b'" in problem.message


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_both_ends_of_a_range_are_kept_exactly(a: int, b: int) -> None:
    low, high = sorted((a, b))
    quantity = parse_quantity(leaf(f"{low} ms .. {high} ms"), Reading(), SECOND)
    assert quantity is not None
    assert (quantity.low, quantity.high) == (Fraction(low, 1000), Fraction(high, 1000))
    assert quantity.exact == (low == high)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("4-8", "4 .. 8"),
        ("4 - 8 s", "4 s .. 8 s"),
        ("4 to 8 secs", "4 s .. 8 s"),
        ("[4 req/s, 8 req/s]", "4 req/s .. 8 req/s"),
        ("60-70 %", "60 % .. 70 %"),
        ("2 … 10", "2 .. 10"),
        ("3-5 rps", "3 req/s .. 5 req/s"),
    ],
)
@pytest.mark.parametrize("kind", [VALUE, quantity()])
def test_a_range_of_another_spelling_is_no_difference_and_says_how_it_is_written(
    kind: Kind[Any], text: str, written: str
) -> None:
    reading = Reading()
    assert kind.read(leaf(text), reading) is None
    assert [problem.remedy for problem in reading.problems] == [f"a range is written {written}"]


@pytest.mark.parametrize("text", ["1 - 20 %", "0.9 - 5 %", "10 - 2", "8 GB - 2 GB", "x - 4", "4 - x", "-4"])
def test_a_difference_that_is_no_range_is_read(text: str) -> None:
    value, problems = read(VALUE, text)
    assert value is not None
    assert problems == []


@pytest.mark.parametrize("text", ["28 s * consumer.prefetch", "3 * 5 s", "max(1 s, x.y)", "2 s if x.on > 1 else 3 s"])
def test_an_expression_where_a_value_stands_is_called_one(text: str) -> None:
    value, problems = read(DURATION, text)
    assert value is None
    assert problems == [f"'{text}' is an expression, and here stands a value or a range of values"]
