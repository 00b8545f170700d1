"""Periods measured on runs, beside cycles whose period is known."""

from __future__ import annotations

import math

import pytest

from coherence.language.reading import read_text
from coherence.loops.cycles.measured_periods import measured_period
from coherence.loops.designs.flow_feedback import flow_answers
from coherence.loops.designs.predicted_cycles import predicted_cycles
from coherence.loops.settling.swings_without_rest import of_flows
from coherence.model.elaborate import elaborate
from tests.loops.test_published_designs import VAN_DER_POL, logistic

STEP = 0.1
TIMES = [STEP * k for k in range(600)]


def test_two_passages_of_unlike_length_are_one_period() -> None:
    row = [math.sin(math.tau * t / 12) + 1.2 * math.sin(math.tau * t / 6 + 1) for t in TIMES]
    assert measured_period([row], STEP) == pytest.approx(12, rel=1e-3)


def test_a_row_that_repeats_itself_is_preferred_to_one_that_is_passed_late() -> None:
    smooth = [math.sin(math.tau * t / 7) for t in TIMES]
    held = [smooth[k - k % 9] for k in range(len(TIMES))]
    assert measured_period([held, smooth], STEP) == pytest.approx(7, rel=1e-4)


def test_what_turns_twice_as_often_does_not_hide_the_period() -> None:
    smooth = [math.sin(math.tau * t / 7) for t in TIMES]
    assert measured_period([[x * x for x in smooth], smooth], STEP) == pytest.approx(7, rel=1e-4)


def test_the_instants_of_a_sampled_command_do_not_double_the_period() -> None:
    smooth = [math.sin(math.tau * t / 7.5) for t in TIMES]
    held = [smooth[k - k % 30] for k in range(len(TIMES))]  # two and a half instants a period: it repeats after two
    assert measured_period([held], STEP) == pytest.approx(15, rel=1e-4)
    assert measured_period([held, smooth], STEP) == pytest.approx(7.5, rel=1e-4)


@pytest.mark.parametrize(
    "row",
    [
        [0.0] * len(TIMES),
        TIMES,
        [math.sin(t * t / 40) for t in TIMES],  # ever faster
        [math.exp(t / 5) * math.sin(t) for t in TIMES],  # it has passed its middle too seldom
    ],
)
def test_what_does_not_repeat_itself_has_no_period(row: list[float]) -> None:
    assert measured_period([row], STEP) is None


@pytest.mark.slow
@pytest.mark.parametrize("text", [VAN_DER_POL, logistic(1.8), logistic(2.0)])
def test_the_run_beside_roots_shows_the_period_that_collocation_gives(text: str) -> None:
    model = elaborate(read_text(text, "design.yaml"))
    (cycle,) = predicted_cycles(model)
    persistence = of_flows(model, flow_answers(model)[0], bool)
    assert persistence is not None
    assert persistence.run is not None
    assert cycle.confirmed
    assert persistence.run.period == pytest.approx(cycle.period, rel=1e-3)
