"""Roots and a run in floats that agree on what never rests."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.flow_feedback import flow_answers
from coherence.loops.designs.swings_without_rest import Persistence, of_flows, of_loops
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices
from tests.loops.designs.test_bridged_laps import LAG


def of_text(text: str) -> Persistence:
    model = elaborate(read_text(text, "design.yaml"))
    if model.loops:
        answer = of_loops(model, Choices(), ("room.temp", "heater.power"), bool)
    else:
        answer = of_flows(model, Choices(), flow_answers(model)[0], bool)
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
        ("-2 * delayed(a.x, 1 s) / 1 s", "0", "undecided", "unstable"),  # it begins exactly where it rests
        ("0.1 * a.x / 1 s", "1", "undecided", "unstable"),  # it runs away and never turns
        ("(-2 * delayed(a.x, 1 s) + a.x * a.x) / 1 s", "0.1", "undecided", "unstable"),
    ],
)
def test_a_flow_swings_only_where_its_run_does(flow: str, start: str, verdict: str, linear: str) -> None:
    answer = of_text(f'coherence: 1\ncomponents: {{a: {{state: "x\' = {flow}", from: {start}}}}}\n')
    assert (answer.verdict, answer.linear) == (verdict, linear)
