"""Second opinions of python-control on our verdicts: agreements, its approximations, and a planted disagreement."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.interchange.cross_check import cross_checked, render
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, loop, network
from tests.draws import few
from tests.loops.interchange.test_open_loop import drawn_network

pytest.importorskip("control", reason="python-control is not installed")


def test_pade_calls_a_resonant_loop_stable_and_the_count_of_encirclements_does_not() -> None:
    check = cross_checked("resonant", loop([1.8], [1, 0.12, 9], 10), "unstable")
    exact, *approximations = check.opinions
    assert (exact.verdict, exact.detail.split()[0]) == ("unstable", "4")
    assert [opinion.verdict for opinion in approximations] == ["stable"] * 3
    assert not check.differs
    assert sum("disagreement of an approximation" in line for line in check.render()) == 3


def test_a_disagreement_is_shown_first() -> None:
    right, wrong = (cross_checked(name, loop([2], [1, 3, 3, 1]), name) for name in ("stable", "unstable"))
    assert (right.differs, wrong.differs) == (False, True)
    assert render([right, wrong]).splitlines()[0].startswith("cross-check unstable: DISAGREEMENT: we say unstable")
    assert wrong.to_dict()["opinions"][0]["contradicts"]


def test_an_integrator_beside_a_delay_is_counted_right_of_the_axis() -> None:
    assert cross_checked("queue", loop([0.05], [1, 0], 10), "stable").opinions[0].verdict == "stable"
    assert cross_checked("queue", loop([0.2], [1, 0], 10), "unstable").opinions[0].verdict == "unstable"


def test_what_it_cannot_judge_says_why() -> None:
    round_trip = loop([0.5], [1], 1.0)
    assert "vanishes at high frequency" in cross_checked("a", round_trip, "stable").reason
    many = network([Block(f"b{k}", (1.0,), (1.0, 1.0)) for k in range(31)])
    assert "more than 30 blocks" in render([cross_checked("many", many, "stable")])


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(st.data())
def test_random_networks_agree(data: st.DataObject) -> None:
    net = drawn_network(data)
    ours = verdict(net)
    if ours.verdict in ("stable", "unstable") and abs(ours.abscissa) > 1e-3:
        check = cross_checked("drawn", net, ours.verdict)
        assert not check.differs, render([check])
        assert check.opinions or check.reason


def test_sampled_networks_of_one_rate_are_judged_by_its_hold() -> None:
    net = network([Block("queue", (1.0,), (1.0, 0.0), 15.0), Block("scaler", (0.05,), (1.0,), rate=15.0)],
                  [Coupling("queue", "scaler"), Coupling("scaler", "queue", -1)])  # fmt: skip
    opinion = cross_checked("sampled", net, "stable").opinions[0]
    assert opinion.verdict == "stable"
    assert opinion.detail.startswith("largest modulus 0.866025")
