"""Flows in feedback without a loop: equilibria and exact-delay roots with known values."""

from __future__ import annotations

import math

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.flow_feedback import FlowAnswer, flow_answers
from coherence.model.elaborate import elaborate


def answers(*flows: str) -> tuple[FlowAnswer, ...]:
    states = ", ".join(
        f'{name}: {{state: "x\' = {flow}", from: 0.5}}' for name, flow in zip("abc", flows, strict=False)
    )
    return flow_answers(elaborate(read_text(f"coherence: 1\ncomponents: {{{states}}}\n", "design.yaml")))


@pytest.mark.parametrize(("gain", "verdict"), [(1.56, "stable"), (1.58, "unstable")])
def test_a_delayed_integrator_changes_at_half_pi(gain: float, verdict: str) -> None:
    (answer,) = answers(f"-{gain} * delayed(a.x, 1 s) / 1 s")
    assert [point.verdict for point in answer.points] == [verdict]
    assert answer.points[0].period == pytest.approx(4, rel=0.01)
    assert answer.unstable is (verdict == "unstable")


def test_both_equilibria_of_delayed_growth_are_judged() -> None:
    (answer,) = answers("2.5 * a.x * (1 - delayed(a.x, 1 s)) / 1 s")
    assert {(float(p.values["a.x"]), p.verdict) for p in answer.points} == {(0, "unstable"), (1, "unstable")}
    assert {p.period and round(p.period, 2) for p in answer.points} == {None, 3.57}


def test_two_lags_and_an_integrator_in_a_ring_have_the_edge_of_routh() -> None:
    """(s + 1)^2 s + k is stable up to k = 2, and swings there with 1 rad/s."""
    for gain, verdict in ((1.99, "stable"), (2.01, "unstable")):
        (answer,) = answers(f"-{gain} * c.x / 1 s", "(a.x - b.x) / 1 s", "(b.x - c.x) / 1 s")
        assert answer.points[0].verdict == verdict
        assert answer.points[0].period == pytest.approx(math.tau, rel=0.01)


def test_what_only_follows_is_in_no_group() -> None:

    assert [answer.paths for answer in answers("-a.x / 1 s", "a.x / 1 s")] == [("a.x",)]


@pytest.mark.slow
def test_the_stable_side_of_a_kink_does_not_hide_the_other() -> None:
    """At rest both sides of the maximum meet: no verdict, since the two alternate."""
    (answer,) = answers("-max(3 * delayed(a.x, 1 s), 1 * delayed(a.x, 1 s)) / 1 s")
    assert {judged.verdict for _, judged in answer.points[0].branches} == {"stable", "unstable"}
    assert answer.points[0].verdict == "undecided"
    assert not answer.unstable


def test_a_relay_at_its_threshold_has_no_equilibrium() -> None:
    (answer,) = answers("-(1 if delayed(a.x, 1 s) > 0 else -1) / 1 s")
    assert (answer.points, answer.reason) == ((), "no equilibrium was found from any start")


def test_a_missing_value_is_named() -> None:
    text = 'coherence: 1\ncomponents: {a: {state: "x\' = (b.y - a.x) / 1 s", from: 1}}'
    (answer,) = flow_answers(elaborate(read_text(text, "design.yaml")))
    assert answer.reason.startswith("needs a value of b.y (a number, or a range")
