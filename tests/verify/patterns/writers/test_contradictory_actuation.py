"""A conflict of two loops is certain only where it comes whatever the design leaves open."""

from __future__ import annotations

import pytest

from tests.case_files import findings_of

RACK = """coherence: 1
components: {{rack: {{base: {base}, power: rack.base + 1 kW * batch.running}}}}
loops:
  saver:
    timescale: {{period: 1 s{phase}}}
    trigger: rack.power > {most} kW
    actuation: {{signal: batch.running, law: step, by: -5, bounds: [0, 64], from: 0}}
  filler:
    timescale: {{period: 1 s{phase}}}
    trigger: rack.power > 10 kW
    actuation: {{signal: batch.running, law: step, by: 5, bounds: [0, 64]}}
"""
STATED = ", phase: 0 s"


def certainties(text: str) -> list[str]:
    """Returns whether each conflict of COH230 in a design is certain."""
    return [f.certainty for f in findings_of(text, repairs=False) if f.code == "COH230" and f.verdict == "conflict"]


@pytest.mark.parametrize(
    ("phase", "base", "most", "certain"),
    [
        (STATED, "20 kW", 40, "certain"),
        ("", "20 kW", 40, "possible"),  # half a second apart they swing, and never act at once
        (STATED, "15 kW .. 35 kW", 40, "certain"),
        (STATED, "5 kW .. 35 kW", 40, "possible"),  # from 5 kW on nothing is ever filled up
    ],
)
def test_two_loops_that_stand_still_against_each_other_do_so_at_every_phase_and_value(
    phase: str, base: str, most: int, certain: str
) -> None:
    assert certainties(RACK.format(phase=phase, base=base, most=most)) == [certain]


def test_where_nothing_says_that_both_conditions_come_together_the_conflict_is_possible() -> None:
    text = """coherence: 1
loops:
  saver: {trigger: rack.power > 80 kW, actuation: {signal: batch.running, law: step, by: -5, bounds: [0, 64]}}
  filler: {trigger: batch.queued > 0, actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}}
"""
    assert certainties(text) == ["possible"]
