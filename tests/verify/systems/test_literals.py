"""Conditions that two comparisons settle: against every point of a small grid."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import COMPARE, Constants, evaluate
from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree
from coherence.model.model import Interval
from coherence.verify.systems.literals import contradiction, empty, literals, plainly_possible
from tests.draws import few

OPS = ("<", "<=", ">", ">=", "==", "!=")
HALVES = [Fraction(n, 2) for n in range(-2, 9)]


def compare(op: str, value: int) -> Compare:
    return Compare(op, Name("x"), Number(Fraction(value)))


@pytest.mark.parametrize(("one", "a", "other", "b"), [
    (one, a, other, b) for one, other in itertools.product(OPS, repeat=2) for a, b in ((1, 1), (1, 2), (2, 1))
])  # fmt: skip
def test_two_comparisons_are_empty_where_no_number_fulfils_both(one: str, a: int, other: str, b: int) -> None:
    together = any(COMPARE[one](x, a) and COMPARE[other](x, b) for x in HALVES)
    assert empty(compare(one, a), compare(other, b)) is not together


def test_numbers_far_below_and_above_are_tried() -> None:
    assert not empty(compare("<", 0), compare("<", 1))
    assert not empty(compare(">", 0), compare(">", 1))
    assert not empty(compare(">", 0), compare("<", 1))  # one half


def texts(condition: str) -> list[str]:
    return [_text(tree) for tree in literals(parse(condition))]


def _text(tree: Tree) -> str:
    match tree:
        case Compare(op=op, left=Name(path=path), right=Number(value=value)):
            return f"{path} {op} {value}"
        case Name(path=path):
            return path
    return f"not {_text(tree.terms[0])}"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x < 3", ["x < 3"]),
        ("3 < x", ["x > 3"]),
        ("3 >= x", ["x <= 3"]),
        ("not x < 3", ["x >= 3"]),
        ("not 3 < x", ["x <= 3"]),
        ("not not x < 3", ["x < 3"]),
        ("a and x > 1 and not b", ["a", "x > 1", "not b"]),
        ("a or x > 1", []),  # neither is implied
        ("not (a or x > 1)", ["not a", "x <= 1"]),
        ("not (a and x > 1)", []),
        ("x < y", []),
        ("not x == 2", ["x != 2"]),
    ],
)
def test_what_a_condition_implies_is_told_as_comparisons_and_names(condition: str, expected: list[str]) -> None:
    assert texts(condition) == expected


@pytest.mark.parametrize(
    ("left", "right", "excluded"),
    [
        ("x < 3", "x > 4", True),
        ("x < 3", "y > 4", False),
        ("x < 3", "x > 2", False),
        ("x <= 3", "x >= 3", False),
        ("x < 3", "x >= 3", True),
        ("a", "not a", True),
        ("not a", "a", True),
        ("a", "a", False),
        ("not a", "not a", False),
        ("a", "not b", False),
        ("a", "x > 3", False),
        ("b and x < 3", "y > 1 and 4 < x", True),
        ("b or x < 3", "x > 4", False),
    ],
)
def test_two_conditions_contradict_where_two_literals_exclude_each_other(left: str, right: str, excluded: bool) -> None:
    assert (contradiction(parse(left), parse(right)) is not None) is excluded


def test_the_two_literals_are_told() -> None:
    found = contradiction(parse("b and x < 3"), parse("y > 1 and 4 < x"))
    assert found is not None
    assert [_text(tree) for tree in found] == ["x < 3", "x > 4"]


ATOMS = st.one_of(
    st.builds(compare, st.sampled_from(OPS), st.integers(0, 3)),
    st.sampled_from([parse(text) for text in ("a", "not a", "b", "2 < x", "not x <= 1")]),
)


def _joined(parts: tuple[str, Tree, Tree]) -> Tree:
    op, one, other = parts
    return Logic("not", (one,)) if op == "not" else Logic(op, (one, other))


TREES = st.recursive(ATOMS, lambda inner: st.tuples(st.sampled_from(["and", "or", "not"]), inner, inner).map(_joined))


def holds(tree: Tree, point: Mapping[str, object]) -> bool:
    return bool(evaluate(tree, Constants(point)))


GRID = [{"x": x, "a": a, "b": b} for x in HALVES for a in (False, True) for b in (False, True)]


@pytest.mark.slow
@given(TREES, TREES)
@settings(max_examples=few(150), deadline=None)
def test_conditions_that_contradict_hold_nowhere_together(left: Tree, right: Tree) -> None:
    if contradiction(left, right) is not None:
        assert not any(holds(left, point) and holds(right, point) for point in GRID)


@pytest.mark.slow
@given(TREES)
@settings(max_examples=few(150), deadline=None)
def test_every_literal_holds_where_the_condition_does(tree: Tree) -> None:
    implied = list(literals(tree))
    for point in GRID:
        assert not holds(tree, point) or all(holds(term, point) for term in implied)


RANGES = {"x": Interval(Fraction(0), Fraction(4)), "y": Interval(Fraction(2), Fraction(2))}


@pytest.mark.parametrize(
    ("condition", "possible"),
    [
        ("x > 1", True),
        ("x > 5", False),
        ("x > 1 and y > 1", True),
        ("x > 1 and y > 2", False),  # y is 2
        ("x > 1 and x < 3", False),  # a name twice is not plain
        ("a and x > 1", True),
        ("a", True),
        ("x == 3", False),  # a value inside is not tried
        ("x != 3", False),
        ("z > 9", True),  # without a range it may be anything
        ("z == 9", False),
        ("x + y > 5", True),  # 4 + 2 at an end
        ("x + y > 7", False),
        ("x + z > 5", False),  # no end of z
        ("x > 1 or x < 0", False),
        ("y == 2", True),
    ],
)
def test_terms_without_a_common_name_are_plainly_possible_where_each_is(condition: str, possible: bool) -> None:
    assert plainly_possible(parse(condition), RANGES) is possible
