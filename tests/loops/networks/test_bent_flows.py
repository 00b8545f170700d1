"""Flows that bend, by their frequency response and by rays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.bends import bent_network, feedbacks
from coherence.loops.networks import bent_flows
from coherence.loops.networks.bent_flows import BentFlows, grows_steadily, of_flows
from coherence.model.elaborate import elaborate


def flowing(flow: str) -> BentFlows:
    model = elaborate(read_text(f'coherence: 1\ncomponents:\n  a: {{state: "x\' = {flow} / 1 s", from: 0}}\n'))
    (only,) = feedbacks(bent_network(model, {"a.x": Fraction(0)}))
    return BentFlows(only.blocks, only.couplings, only.bends)


def test_the_response_from_a_bend_to_what_it_compares_is_that_of_the_flow() -> None:
    """max(x, 3 x) late by 2 s = 2 x + |2 x| / ... : z = -2 x, x' = -2 x(t - 2) - w / 2."""
    flows = flowing("(-max(delayed(a.x, 2 s), 3 * delayed(a.x, 2 s)))")
    s = np.array([0.3j, 2.0])
    late = np.exp(-2 * s)
    assert flows.responses(s)[:, 0, 0] == pytest.approx(-2 * late * -0.5 / (s + 2 * late))
    assert flows.pace == pytest.approx(3)


def test_what_the_response_is_bounded_by_holds_beyond() -> None:
    flows = flowing("(-max(delayed(a.x, 2 s), 3 * delayed(a.x, 2 s)) - 0.5 * a.x)")
    for omega in (4.0, 10.0):
        bound = flows.bound(omega)
        assert bound is not None
        assert (np.abs(flows.responses(1j * np.linspace(omega, 50 * omega, 5_000)))[:, 0, 0] <= bound[0, 0]).all()
    assert flows.bound(0.1) is None


@pytest.mark.parametrize("half", [1e-3, 1e-2, 0.1])
def test_a_response_changes_by_no_more_than_is_said(half: float) -> None:
    flows = flowing("(-max(delayed(a.x, 2 s), 3 * delayed(a.x, 2 s)) - 0.5 * a.x)")
    omegas = np.geomspace(0.01, 30, 40)
    sizes, moved = flows.changes(omegas, np.full(40, half))
    assert np.isfinite(moved).sum() > 20
    there = flows.responses(1j * omegas)[:, 0, 0]
    assert sizes == pytest.approx(np.abs(there))
    for part in (-1.0, -0.4, 0.7, 1.0):
        assert (np.abs(flows.responses(1j * (omegas + part * half))[:, 0, 0] - there) <= moved).all()


@pytest.mark.parametrize(("gain", "holds"), [("0.000001", True), ("0.000003", False)])
def test_a_peak_between_frequencies_is_not_overlooked(gain: str, holds: bool) -> None:
    """The response of v' = -x - 0.000002 v + k |v| is k / 0.000002 at 1 rad/s, and below 1 at 1.00001 rad/s."""
    text = f"""coherence: 1
components:
  a: {{state: "x' = b.x / 1 s", from: 0}}
  b: {{state: "x' = (-a.x - 0.000002 * b.x + {gain} * abs(b.x)) / 1 s", from: 0}}
"""
    (only,) = feedbacks(bent_network(elaborate(read_text(text)), dict.fromkeys(("a.x", "b.x"), Fraction(0))))
    flows = BentFlows(only.blocks, only.couplings, only.bends)
    weights = np.array([1.0, 0.0])
    assert bent_flows.holds_between(flows, weights, np.array([0.0, 0.5, 4.0])) is holds


@pytest.mark.parametrize(
    ("flow", "verdict"),
    [
        ("(-max(0.5 * delayed(a.x, 1 s), 1.2 * delayed(a.x, 1 s)))", "stable"),
        ("(-max(1.7 * delayed(a.x, 1 s), 2.2 * delayed(a.x, 1 s)))", "unstable"),
        ("(0.5 * a.x - 0.6 * abs(a.x))", "unstable"),  # 1.1 below, where it falls for ever
        ("(-0.5 * a.x + 0.4 * abs(a.x))", "stable"),
        ("(-0.5 * a.x + 0.6 * abs(a.x))", "unstable"),
    ],
)
def test_a_flow_that_bends_is_judged(flow: str, verdict: str) -> None:
    assert of_flows(flowing(flow))[0] == verdict


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "grows"), [(1.0, False), (1.45, False), (1.7, True), (2.5, True)])
def test_a_run_of_straight_flows_grows_where_their_roots_do(gain: float, grows: bool) -> None:
    """x' = -k x(t - 1) is unstable from k = pi / 2 on."""
    assert grows_steadily(flowing(f"(-{gain} * delayed(a.x, 1 s))"), bool) is grows


@pytest.mark.slow
def test_flows_whose_branches_are_far_apart_are_followed() -> None:
    """The one branch grows fast and the other one decays slowly: no weights are found, and runs grow."""
    verdict, how = of_flows(flowing("(-max(0.6 * delayed(a.x, 2 s), 2 * delayed(a.x, 2 s)))"))
    assert (verdict, how) == ("unstable", "a run that grows [simulated]")
