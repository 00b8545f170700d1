"""Signs of expressions and of plants, laid against values of the expressions and against pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import EVERYTHING, Interval, Model
from coherence.simulate.execute.exact import Choices, Execution
from coherence.verify.facts.ranges import enclosure
from coherence.verify.facts.signs import BOTH, DOWN, NONE, UP, flipped, plant_sign, ranges_of, sign, spread
from tests.draws import few
from tests.strategies import conditions, numeric

F = Fraction
RANGES = {"x": Interval(F(1), F(5)), "y": Interval(F(-2), F(3)), "z.a": Interval(F(1), F(3))}
HAND = {"x": Interval(F(1), F(5)), "a": Interval(F(1), F(3))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100 / x", DOWN),
        ("1 - 100 / x", UP),
        ("delayed(100 / x, 15 s)", DOWN),
        ("mean_over(delayed(x, 1 s), 7 s)", UP),
        ("previous(x) + delayed(x, 15 s)", UP),
        ("x - delayed(x, 60 s)", BOTH),
        ("1 if x > 2 else 0", UP),
        ("0 if x > 2 else 1", DOWN),
        ("x if x > 2 else 0", UP),  # above 2 it is more than 0, and rises
        ("(0 - x) if x > 2 else 0", DOWN),
        ("1 if x > 2 else a", DOWN),  # a is at least 1
        ("2 if x > 2 else a", BOTH),  # a lies on both sides of 2
        ("abs(x)", UP),
        ("abs(x - 9)", DOWN),
        ("abs(x - 2)", BOTH),
        ("a * (x - 10)", UP),
        ("(a - 2) * x", BOTH),
        ("a", NONE),
        ("ceil(x) == 2", BOTH),
    ],
)
def test_signs_by_hand(text: str, expected: int) -> None:
    tree = parse(text)
    found = sign(tree, {"x": UP}, HAND)
    assert found == expected
    assert sign(tree, {"x": DOWN}, HAND) == flipped(expected)


def points(low: Mapping[str, Interval]) -> st.SearchStrategy[dict[str, Fraction]]:
    """A value within the range of each name."""
    made = {path: st.fractions(span.low, span.high, max_denominator=4) for path, span in low.items()}
    return st.fixed_dictionaries(made)


@pytest.mark.slow
@settings(max_examples=few(400))
@given(
    numeric(size=8) | conditions(),
    st.sampled_from([{"x": UP}, {"x": UP, "y": DOWN}, {"x": DOWN, "y": DOWN}, {"x": BOTH, "z.a": UP}]),
    points(RANGES),
    points(RANGES),
)
def test_values_are_ordered_as_the_sign_says(
    tree: Tree, signs: dict[str, int], one: dict[str, Fraction], other: dict[str, Fraction]
) -> None:
    """Two points that are ordered as the names are, and agree elsewhere."""
    low, high = {}, {}
    for path, found in {path: signs.get(path, NONE) for path in RANGES}.items():
        ends = one[path], other[path]
        low[path] = max(ends) if found == DOWN else min(ends) if found == UP else one[path]
        high[path] = min(ends) if found == DOWN else max(ends) if found == UP else low[path]
        if found == BOTH:
            high[path] = other[path]
    direction = sign(tree, signs, RANGES)
    try:
        before, after = (evaluate(tree, Constants(at)) for at in (low, high))
    except NotExactError:
        return
    assert direction & UP or not before < after
    assert direction & DOWN or not before > after


OUTPUTS = ("p.p", "p.p * a.k", "min(p.p, a.c)", "a.c - p.p", "a.k / (1 + abs(p.p))", "p.p if p.p > a.k else 0 - a.k",
           "delayed(p.p, 2 s)", "mean_over(a.c, 2 s) - p.p", "abs(a.c)")  # fmt: skip
STEPS = ("p / 2 + c", "p / 2 - a.c", "min(p, 9) + a.c * a.k", "max(0, p - a.c)", "a.k - p / 2",
         "p / 2 + delayed(a.c, 1 s)", "a.c if p > 3 else 0", "p / 2 + abs(a.c - 20)")  # fmt: skip
DESIGN = """
coherence: 1
components:
  a: {{c: {low} .. {high}, k: 1 .. 3}}
  p: {{state: "p' = {step}", step: 1 s, from: 1, out: "{out}", more: "out + a.k"}}
"""


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(STEPS), st.sampled_from(OUTPUTS), st.integers(-5, 4), st.integers(1, 8),
    st.fractions(0, 1, max_denominator=4), st.fractions(0, 1, max_denominator=4), st.sampled_from([F(1), F(2), F(3)]),
)  # fmt: skip
def test_runs_stay_ordered_as_the_plant_sign_says(
    step: str, out: str, low: int, more: int, first: Fraction, second: Fraction, k: Fraction
) -> None:
    """Two runs that differ in one constant, at every instant of both."""
    text = DESIGN.format(low=low, high=low + more, step=step.replace("+ c", "+ a.c"), out=out)
    model = elaborate(read_text(text))
    ends = sorted(low + share * more for share in (first, second))
    for path in ("p.p", "p.out", "p.more"):
        direction = plant_sign(model, "a.c", parse(path))
        before, after = (watched(model, {"a.c": end, "a.k": k}, path) for end in ends)
        pairs = list(zip(before, after, strict=True))
        assert direction & UP or all(one >= other for one, other in pairs), (step, out)
        assert direction & DOWN or all(one <= other for one, other in pairs), (step, out)


def watched(model: Model, level: Mapping[str, Fraction], path: str) -> list[Fraction]:
    """The values of an expression at eight instants of a run."""
    run = Execution(model, Choices(dict(level)))
    found = []
    for _ in range(8):
        run.advance()
        found.append(evaluate(parse(path), run.sampled_at(run.time)))
    return found


def test_a_signal_that_two_ways_answer_differently_has_both_signs() -> None:
    text = DESIGN.format(low=0, high=1, step="p / 2 + a.c", out="a.c - p.p")
    model = elaborate(read_text(text))
    signs = spread(model, ranges_of(model), "a.c")
    assert (signs["p.p"], signs["p.out"], signs["p.more"]) == (UP, BOTH, BOTH)


def test_how_a_flow_moves_by_itself_does_not_reorder_two_runs() -> None:
    """p falls with itself, and yet more of what feeds it gives more of it for ever; a next value has no such law."""
    flow = DESIGN.replace(", step: 1 s", "").format(low=0, high=4, step="(a.c - p) / 1 s", out="0 - p.p")
    assert plant_sign(elaborate(read_text(flow)), "a.c", parse("p.p")) == UP
    assert plant_sign(elaborate(read_text(flow)), "a.c", parse("p.out")) == DOWN
    step = DESIGN.format(low=0, high=4, step="a.c - p", out="0 - p.p")
    assert plant_sign(elaborate(read_text(step)), "a.c", parse("p.p")) == BOTH


@given(numeric(size=6), points(RANGES))
def test_ranges_hold_every_value(tree: Tree, at: dict[str, Fraction]) -> None:
    span = enclosure(tree, RANGES)
    try:
        found = evaluate(tree, Constants(at))
    except NotExactError:
        return
    assert span == EVERYTHING or span.clip(found) == found


def test_ranges_of_a_model_follow_its_outputs() -> None:
    found = ranges_of(elaborate(read_text(DESIGN.format(low=0, high=4, step="p / 2", out="a.c * a.k"))))
    assert (found["p.out"], found["p.more"]) == (Interval(F(0), F(12)), Interval(F(1), F(15)))
