"""Boxes by exact iteration: the edge of throttle against backfill, and that no run leaves what was found."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.clock import now
from coherence.base.solver import recheck
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.invariants import boxes
from coherence.verify.invariants.boxes import box_invariant
from coherence.verify.invariants.proof import InvariantProof
from coherence.verify.invariants.prover import prove
from coherence.verify.promises.decisions import decide
from coherence.verify.promises.outcomes import Proved, Refuted
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, TransitionSystem, step
from tests.draws import few

F = Fraction
FEED = """
coherence: 1
components: {{power: {{state: "x' = 0.8 * x + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}}}}
loops:
  throttle:
    rank: 1
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: {{enter: x >= 80, leave: x <= 60}}
    actuation: {{}}
  backfill:
    rank: 2
    timescale: {{period: 1 s, phase: 0 s}}
    rules: [{{when: throttle, by: -20}}, {{when: x < {h}, by: 5}}]
    actuation: {{signal: batch.load, bounds: [0, 200], from: 0}}
promises: {{p: never throttle}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("h", ["60.4398", "60.43980465"])
def test_just_below_the_edge_it_is_proved_without_margin(h: str) -> None:
    model = elaborate(read_text(FEED.format(h=h)))
    shown = decide(model, model.promises["p"], time_limit=20)
    assert isinstance(shown, Proved)
    assert shown.touching
    pytest.importorskip("cvc5")
    assert shown.certificate is not None
    assert recheck(shown.certificate).unsat


def test_just_above_the_edge_it_is_a_conflict() -> None:
    model = elaborate(read_text(FEED.format(h="60.43980466")))
    assert isinstance(decide(model, model.promises["p"], time_limit=20), Refuted)


def linear(*numbers: int | str) -> LinearForm:
    return LinearForm(tuple(F(n) for n in numbers[:-1]), F(numbers[-1]))


def lag(limit: int, relation: str = "<") -> TransitionSystem:
    """x' = x / 2 + 20 from [0, 10], one mode; bad beyond `limit`, or on it where the relation is `<=`."""
    edge = AffineEdge("m", "m", (), (linear("1/2", 20),), "step")
    start = (Constraint(linear(-1, 0), "<="), Constraint(linear(1, -10), "<="))
    bad = Constraint(linear(-1, limit), "<" if relation == "<" else "<=")
    return TransitionSystem(("x",), (), (("m", start),), (edge,), (("m", (bad,)),))


def test_a_limit_that_is_approached_is_an_excluded_end() -> None:
    found = box_invariant(lag(40, "<="), now() + 5)
    assert found is not None
    assert any(row.relation == "<" and -row.linear.constant == 40 for row in found["m"][0])
    assert isinstance(prove(lag(40, "<=")), InvariantProof)


def test_boxes_end_by_a_count_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "MOST_ENDS", 2)
    assert box_invariant(lag(40, "<="), now() + 60) is None


def test_a_limit_below_the_rest_has_no_boxes() -> None:
    assert box_invariant(lag(39), now() + 5) is None


@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, 10_000))
def test_no_exact_run_leaves_the_boxes(seed: int) -> None:
    rng = Random(seed)  # noqa: S311

    def number() -> Fraction:
        return F(rng.randint(-4, 4), rng.choice((1, 2, 4)))

    edges = tuple(
        AffineEdge(rng.choice("ab"), rng.choice("ab"),
             (Constraint(linear(str(number()), str(number()), str(number())), "<="),),
             tuple(linear(str(number() / 5), str(number() / 5), str(number())) for _ in range(2)), str(k))
        for k in range(4)
    )  # fmt: skip
    start = tuple(
        Constraint(linear(*(int(sign) * int(k == i) for k in range(2)), -2), "<=") for i in range(2) for sign in (1, -1)
    )
    system = TransitionSystem(("x", "y"), (), (("a", start),), edges, ())
    found = box_invariant(system, now() + 5)
    if found is None:
        return
    point: tuple[Fraction, ...]
    mode, point = "a", (F(rng.randint(-2, 2)), F(rng.randint(-2, 2)))
    for _ in range(30):
        assert any(all(row.holds(point) for row in rows) for rows in found[mode])
        taken = [(e.target, after) for e in edges if e.source == mode and (after := step(e, point)) is not None]
        if not taken:
            return
        mode, point = rng.choice(taken)
