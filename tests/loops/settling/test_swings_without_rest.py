"""Roots and a run in floats that agree on what never rests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.flow_feedback import flow_answers
from coherence.loops.designs.group_runs import RunVerdict
from coherence.loops.settling.swings_without_rest import Persistence, decided_beside_roots, of_flows, of_loops
from coherence.model.elaborate import elaborate
from tests.loops.designs.test_bridged_laps import LAG


def of_text(text: str) -> Persistence:
    model = elaborate(read_text(text, "design.yaml"))
    answer = of_loops(model, ("heater.power",), bool) if model.loops else of_flows(model, flow_answers(model)[0], bool)
    assert answer is not None
    return answer


def test_a_thermostat_that_swings_between_its_bounds_never_rests() -> None:
    answer = of_text(LAG)
    assert (answer.verdict, answer.linear) == ("swings", "unstable")
    assert answer.run is not None
    assert answer.run.ranges["heater.power"][0] == 0  # it stands at its bound for a while in each swing


def test_a_gentler_thermostat_comes_to_rest() -> None:
    answer = of_text(LAG.replace("5 + 3 *", "5 + 1 *"))
    assert (answer.verdict, answer.linear) == ("rests", "stable")


@pytest.mark.parametrize(
    ("flow", "start", "verdict", "linear"),
    [
        ("-2 * delayed(a.x, 1 s) / 1 s", "0.9", "swings", "unstable"),
        ("-1 * delayed(a.x, 1 s) / 1 s", "0.9", "rests", "stable"),
        # it begins where it rests; beside that it swings
        pytest.param("-2 * delayed(a.x, 1 s) / 1 s", "0", "swings", "unstable", marks=pytest.mark.slow),
        ("0.1 * a.x / 1 s", "1", "undecided", "unstable"),  # it runs away and never turns
        pytest.param(
            "(-2 * delayed(a.x, 1 s) + a.x * a.x) / 1 s", "0.1", "undecided", "unstable", marks=pytest.mark.slow
        ),
    ],
)
def test_a_flow_swings_only_where_its_run_does(flow: str, start: str, verdict: str, linear: str) -> None:
    answer = of_text(f'coherence: 1\ncomponents: {{a: {{state: "x\' = {flow}", from: {start}}}}}\n')
    assert (answer.verdict, answer.linear) == (verdict, linear)


@pytest.mark.slow
def test_a_swing_without_bounds_grows_and_one_at_its_bounds_does_not() -> None:
    delayed = of_text('coherence: 1\ncomponents: {a: {state: "x\' = -2 * delayed(a.x, 1 s) / 1 s", from: 0.9}}\n')
    for answer, grows in ((delayed, True), (of_text(LAG), False)):
        assert answer.run is not None
        assert answer.run.grows is grows


def test_what_exact_runs_leave_open_is_said_by_roots_and_a_run() -> None:
    model = elaborate(read_text(LAG, "design.yaml"))
    left_open = RunVerdict("undecided", "not exact: it bends", False, None, {}, None, (), 0)
    answer = decided_beside_roots(left_open, model, ("heater.power",), bool)
    assert (answer.verdict, answer.proved, answer.period) == (
        "oscillates",
        False,
        Fraction("327.6"),
    )  # of the run; 322.9 s linear
    assert answer.how.startswith("a run in floats, unstable at room.temp = 20, heater.power = 5")
    settled = replace(left_open, verdict="settles")
    assert decided_beside_roots(settled, model, ("heater.power",), bool) is settled


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "verdict"), [("1 .. 3", "swings"), ("1 .. 1.2", "rests")])
def test_roots_and_a_run_are_asked_at_every_end_of_an_open_gain(gain: str, verdict: str) -> None:
    """The low end alone was asked, and comes to rest."""
    text = LAG.replace("from: 12}", f"from: 12, g: {gain}}}").replace("5 + 3 *", "5 + room.g *")
    answer = of_text(text)
    assert answer.verdict == verdict
    if verdict == "swings":
        assert answer.choices.values["room.g"] == 3
