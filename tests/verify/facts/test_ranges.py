"""Trees over intervals: examples, then laws against exact evaluation at points inside the ranges."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Name, Number, Tree, names
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import corners, encloses, enclosure, extremes, hull, point, truth, unknown
from tests.draws import few


def between(low: int | str | None, high: int | str | None) -> Interval:
    return Interval(None if low is None else Fraction(low), None if high is None else Fraction(high))


# --- examples


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2 * agent.turns + 1", 7, 41),
        ("25 % of model.copies round up", 1, 2),
        ("25 % of model.copies round down", 0, 2),
        ("agent.turns / model.copies", "3/8", 20),
        ("1 / agent.turns", "1/20", "1/3"),
        ("min(agent.turns, 10)", 3, 10),
        ("max(agent.turns, model.copies, 5)", 5, 20),
        ("abs(model.copies - 5)", 0, 4),
        ("agent.turns - agent.turns", -17, 17),  # outward: the two are taken as different
        ("3 if model.copies > 0 else 100", 3, 3),
        ("3 if model.copies > 4 else 100", 3, 100),
        ("delayed(agent.turns, 5 s)", 3, 20),
    ],
)
def test_enclosures(text: str, low: int | str, high: int | str) -> None:
    values = {"agent.turns": between(3, 20), "model.copies": between(1, 8)}
    assert enclosure(parse(text), values) == between(low, high)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("x", None, None),
        ("0 * x", 0, 0),
        ("min(1, x)", None, 1),
        ("y / x", None, None),
        ("y / z", "2/3", None),  # z reaches down to 0
        ("y / w", 0, "3/2"),  # w has no upper end
        ("x + y", None, None),
        ("w - y", "-1", None),
        ("ceil(w)", 2, None),
    ],
)
def test_unbounded_ends(text: str, low: int | str | None, high: int | str | None) -> None:
    values = {"y": between(2, 3), "z": between(0, 3), "w": between(2, None)}
    assert enclosure(parse(text), values) == between(low, high)


def test_division_by_zero_is_anything() -> None:
    assert enclosure(parse("1 / x"), {"x": between(-1, 1)}) == EVERYTHING
    assert enclosure(parse("1 / x"), {"x": point(0)}) == EVERYTHING


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * x + 1 <= 41", True),
        ("2 * x + 1 < 41", None),
        ("2 * x + 1 > 41", False),
        ("x == 3", None),
        ("x == 2", False),
        ("x != 2", True),
        ("not x > 20", True),
        ("x > 2 and x < 30", True),
        ("x > 2 and y > 5", None),
        ("x < 2 and y > 5", False),
        ("x > 2 or y > 5", True),
        ("x > 2 for 30 s", True),
        ("overload", None),
    ],
)
def test_truth_has_three_values(text: str, expected: bool | None) -> None:
    assert truth(parse(text), {"x": between(3, 20)}) is expected


def test_unknown_names_are_reported_as_written() -> None:
    tree = parse("2 * agent.turns + requests.retries in flight + min(agent.turns, b.c) + sum of job.size")
    assert unknown(tree, {"b.c": point(1)}) == ("agent.turns", "requests.retries in flight", "sum of job.size")
    assert unknown(parse("count of web by node > 1"), {}) == ("count of web by node",)
    assert unknown(parse("delayed(a.b, 5 s) > 3 for 1 s"), {}) == ("a.b",)


def test_corners_say_where_the_value_is_attained() -> None:
    found = extremes(parse("2 * agent.turns + k"), {"agent.turns": between(3, 20), "k": point(1)})
    assert found is not None
    assert [corner.value for corner in found] == [7, 41]
    assert found[1].at == {"agent.turns": 20, "k": 1}


def test_no_corner_without_a_finite_range() -> None:
    assert extremes(parse("x + y"), {"x": between(1, 2)}) is None
    assert extremes(parse("x"), {"x": between(1, None)}) is None
    assert extremes(parse("exp(x)"), {"x": between(1, 2)}) is None


def test_a_claim_over_ranges_is_refuted_exactly_where_it_holds() -> None:
    values = {"n": between(2, 10)}
    script = claimed(parse("n - (50 % of n round up) >= 1"), values, whole=frozenset({"n"}))
    assert script is not None
    assert unsat(script, timeout_ms=5000).unsat
    wrong = claimed(parse("n - (50 % of n round up) >= 2"), values, whole=frozenset({"n"}))
    assert wrong is not None
    assert not unsat(wrong, timeout_ms=5000).unsat


def test_what_is_not_linear_has_no_script() -> None:
    values = {"x": between(1, 2), "y": between(1, 2)}
    assert claimed(parse("x * y <= 4"), values) is None
    assert claimed(parse("x / y <= 4"), values) is None
    assert claimed(parse("x * y <= 4"), {**values, "y": point(2)}) is not None


# --- laws

PATHS = ("a.x", "b.y", "c.z")
NUMBERS = st.fractions(min_value=-20, max_value=20, max_denominator=8)
LEAVES = st.one_of(st.sampled_from(PATHS).map(Name), NUMBERS.map(Number))


def _branches(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(lambda op, p: Arithmetic(op, *p), st.sampled_from("+-*/"), pairs),
        st.builds(Call, st.sampled_from(("min", "max")), pairs),
        st.builds(lambda f, t: Call(f, (t,)), st.sampled_from(("abs", "floor", "ceil")), inner),
        st.builds(
            lambda op, p, q: Choose(Compare(op, *p), *q), st.sampled_from(("<", "<=", ">", ">=", "==")), pairs, pairs
        ),
    )


TREES = st.recursive(LEAVES, _branches, max_leaves=8)
RANGES = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))
VALUES = st.fixed_dictionaries(dict.fromkeys(PATHS, RANGES))
SHARES = st.lists(st.fractions(min_value=0, max_value=1, max_denominator=8), min_size=3, max_size=3)


def inside(values: dict[str, Interval], shares: list[Fraction]) -> dict[str, Fraction]:
    """A point of the box."""
    return {
        path: interval.low + (interval.high - interval.low) * share
        for (path, interval), share in zip(values.items(), shares, strict=True)
        if interval.low is not None and interval.high is not None
    }


def contains(interval: Interval, value: Fraction) -> bool:
    return interval.clip(value) == value


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(TREES, VALUES, SHARES)
def test_every_value_lies_in_the_enclosure(tree: Tree, values: dict[str, Interval], shares: list[Fraction]) -> None:
    try:
        value = evaluate(tree, Constants(inside(values, shares)))
    except NotExactError:
        return
    assert contains(enclosure(tree, values), Fraction(value))


@settings(max_examples=few(60), deadline=None)
@given(TREES, VALUES)
def test_corners_are_attained_and_enclosed(tree: Tree, values: dict[str, Interval]) -> None:
    for corner in corners(tree, values):
        assert evaluate(tree, Constants(corner.at)) == corner.value
        assert contains(enclosure(tree, values), corner.value)
        assert all(contains(values[path], at) for path, at in corner.at.items())


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), TREES, TREES, VALUES, SHARES)
def test_a_decided_truth_holds_at_every_point(
    op: str, left: Tree, right: Tree, values: dict[str, Interval], shares: list[Fraction]
) -> None:
    tree = Compare(op, left, right)
    decided = truth(tree, values)
    try:
        holds = evaluate(tree, Constants(inside(values, shares)))
    except NotExactError:
        return
    assert decided is None or decided is holds


@settings(max_examples=few(60), deadline=None)
@given(NUMBERS, NUMBERS, NUMBERS, VALUES)
def test_the_enclosure_is_exact_where_each_name_occurs_once(
    a: Fraction, b: Fraction, c: Fraction, values: dict[str, Interval]
) -> None:
    tree = parse(f"({a.numerator}/{a.denominator}) * a.x + ({b.numerator}/{b.denominator}) * b.y")
    tree = Call("max", (tree, Number(c)))
    found = extremes(tree, values)
    assert found is not None
    assert enclosure(tree, values) == Interval(found[0].value, found[1].value)


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(TREES, VALUES, VALUES)
def test_wider_ranges_never_give_a_narrower_enclosure(
    tree: Tree, values: dict[str, Interval], more: dict[str, Interval]
) -> None:
    wider = {path: hull((values[path], more[path])) for path in values}
    try:  # where the expression has no value (0 / 0), a wider range may have one
        evaluate(tree, Constants({path: one.low or Fraction(0) for path, one in values.items()}))
    except NotExactError:
        return
    outer, inner = enclosure(tree, wider), enclosure(tree, values)
    assert outer.low is None or (inner.low is not None and outer.low <= inner.low)
    assert outer.high is None or (inner.high is not None and outer.high >= inner.high)


@settings(max_examples=few(40), deadline=None)
@given(TREES, NUMBERS, VALUES)
def test_claims_agree_with_the_truth(tree: Tree, limit: Fraction, values: dict[str, Interval]) -> None:
    condition = Compare("<=", tree, Number(limit))
    script = claimed(condition, values)
    if script is None or not names(tree):
        return
    if truth(condition, values):
        assert unsat(script, timeout_ms=5000).unsat
    elif any(corner.value > limit for corner in corners(tree, values)):
        assert not unsat(script, timeout_ms=5000).unsat


@pytest.mark.parametrize(
    ("inner", "holds"),
    [
        (Interval(Fraction(5), Fraction(20)), True),
        (Interval(Fraction(3), Fraction(9)), False),
        (Interval(Fraction(9), Fraction(30)), False),
        (Interval(Fraction(9), None), False),
        (EVERYTHING, False),
    ],
)
def test_an_interval_that_is_open_or_reaches_further_is_not_enclosed(inner: Interval, holds: bool) -> None:
    assert encloses(Interval(Fraction(5), Fraction(20)), inner) is holds
