"""Limits as trees, and edits of their numbers: rounding, ranges and floors, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import at_members, cap, floor, largest, narrowed, place_of, raised, rounded

TEXT = """coherence: 1
components: {{web: {{copies: 1 .. 10, share: 20 %}}, x: {{a: 0 .. 10, b: 0.5 .. 1.5}}}}
limits: {{l: {{counts: web.unavailable, {limit}}}}}
"""


def subject_of(limit: str) -> Subject:
    text = TEXT.format(limit=limit)
    return Subject(read_text(text, "d"), {"d": text})


def facts_of(limit: str = "at_most: 3") -> DesignFacts:
    return known(subject_of(limit))


@pytest.mark.parametrize(
    ("limit", "members", "expected"),
    [
        ("at_most: 3", 7, 3),
        ("at_most: 25 % of web.copies", 7, Fraction(7, 4)),
        ("at_most: 25 % of web.copies, rounding: up", 7, 2),
        ("at_most: 25 % of web.copies, rounding: down", 7, 1),
        ("at_most: 25 % of web.copies, rounding: down, but_at_least: 2", 7, 2),
        ("at_most: 25 % of web.copies, rounding: down, but_at_least: 2", 10, 2),
        ("at_most: 50 % of web.copies, rounding: down, but_at_least: 2", 10, 5),
        ("at_most: 1 .. 2", 7, None),  # no one value
        ("at_most: x.a", 7, None),
    ],
)
def test_a_cap_is_rounded_and_then_has_its_floor(limit: str, members: int, expected: Fraction | None) -> None:
    facts = facts_of(limit)
    tree = cap(facts, facts.design.limits["l"])
    assert tree is not None
    assert at_members(facts, tree, "web", members) == expected


def test_a_range_gets_a_name_of_its_own() -> None:
    facts = facts_of("at_most: 1 .. 2")
    tree = cap(facts, facts.design.limits["l"])
    assert tree == parse("l.at_most")
    assert facts.values["l.at_most"] == Interval(Fraction(1), Fraction(2))


def test_a_floor_is_rounded_too() -> None:
    facts = facts_of("at_least: 25 % of web.copies, rounding: up")
    limit = facts.design.limits["l"]
    tree = floor(facts, limit)
    assert tree is not None
    assert at_members(facts, tree, "web", 5) == 2
    assert cap(facts, limit) is None
    other = facts_of("at_most: 3")
    assert floor(other, other.design.limits["l"]) is None


def test_a_value_has_its_place_and_a_limit_its_own() -> None:
    limit = facts_of("at_most: 3").design.limits["l"]
    assert place_of(limit.at_most, limit) == limit.at_most.place  # type: ignore[union-attr]
    assert place_of(limit.at_least, limit) == limit.place


def edited(limit: str, key: str, value: Fraction) -> str | None:
    subject = subject_of(limit)
    quantity = subject.design.limits["l"].at_most
    assert isinstance(quantity, Quantity)
    edit = (narrowed if key == "high" else raised)(subject, quantity, value)
    changed = apply([edit], subject.sources) if edit is not None else None
    return changed["d"].split("web.unavailable, ")[1].split("}")[0] if changed else None


@pytest.mark.parametrize(
    ("limit", "end", "expected"),
    [
        ("at_most: 3", "high", "at_most: 5"),
        ("at_most: 3", "low", "at_most: 5"),
        ("at_most: 3 .. 9", "high", "at_most: 3 .. 5"),
        ("at_most: 3 .. 9", "low", "at_most: 5 .. 9"),
        ("at_most: 3..9", "high", "at_most: 3..5"),
        ("at_most: 3..9", "low", "at_most: 5..9"),
    ],
)
def test_one_end_of_a_range_is_moved_and_its_spaces_stay(limit: str, end: str, expected: str) -> None:
    assert edited(limit, end, Fraction(5)) == expected


def test_without_the_text_nothing_is_edited() -> None:
    subject = Subject(subject_of("at_most: 3").design)
    quantity = subject.design.limits["l"].at_most
    assert isinstance(quantity, Quantity)
    assert narrowed(subject, quantity, Fraction(5)) is None
    assert raised(subject, quantity, Fraction(5)) is None


@pytest.mark.parametrize(
    ("text", "value", "down", "up"),
    [
        ("3", "1.234", "1.2", "1.3"),
        ("3", "120", "120", "120"),
        ("500 ms", "1.234", "1.2", "1.3"),
        ("2 min", "100", "96", "102"),  # 1.6 and 1.7 minutes
        ("3 GiB", "5000000000", f"{4.6 * 2**30:.1f}", f"{4.7 * 2**30:.1f}"),
    ],
)
def test_a_value_is_rounded_in_the_unit_in_which_it_is_written(text: str, value: str, down: str, up: str) -> None:
    quantity = subject_of(f"at_most: {text}").design.limits["l"].at_most
    assert isinstance(quantity, Quantity)
    assert float(rounded(quantity, Fraction(value), up=False)) == pytest.approx(float(down), rel=1e-9)
    assert float(rounded(quantity, Fraction(value), up=True)) == pytest.approx(float(up), rel=1e-9)


@pytest.mark.parametrize(
    ("difference", "path", "expected"),
    [
        ("x.a - 4", "x.a", 4),
        ("2 * x.a - 7", "x.a", 3),  # 3.5, in whole numbers
        ("x.a - 4 * x.b", "x.a", 2),  # worst at b = 0.5
        ("x.a - 11", "x.a", None),  # holds everywhere
        ("x.a - 10", "x.a", None),
        ("x.a + 1", "x.a", None),  # holds nowhere
        ("x.a * 1 + 0", "x.a", 0),
        ("2 * x.b - 2", "x.b", 1),
        ("x.b * x.b - 1", "x.b", None),  # not affine
        ("x.a - y.z", "x.a", None),  # without a range
        ("web.share - 1", "web.share", None),  # one value
        ("x.a - 4", "nothing", None),
    ],
)
def test_the_largest_value_that_still_holds_is_found_on_a_line(
    difference: str, path: str, expected: int | None
) -> None:
    assert largest(facts_of(), parse(difference), path) == expected
