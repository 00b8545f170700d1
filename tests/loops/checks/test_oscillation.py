"""What is undecided about an oscillation names the cycle that is predicted, or what is open."""

from __future__ import annotations

import pytest

from coherence.loops.checks import _oscillation
from coherence.loops.designs.predicted_cycles import CycleReading
from tests.case_files import findings_of


def test_a_predicted_cycle_that_no_run_has_confirmed_is_named_with_its_period_and_range() -> None:
    ranges = (("a.v", 0.25, 0.75), ("b.v", 3.0, 3.0))
    cycle = CycleReading("a.v, b.v", "cycle", 88.97, ranges, reason="not executed: the time limit was reached")
    words = "an oscillation of a.v is predicted (a.v between 0.25 and 0.75, every 88.97 s), and no run has confirmed it"
    assert _oscillation._predicted("a.v", cycle) == words


SCALED = """coherence: 1
components: {{f: {{pods: 2 .. 64, nodes: 1 .. 20, cpu: "16 / min(f.pods, 5 * f.nodes)"}}}}
loops:
  hpa:
    target: {{signal: "delayed(f.cpu, 5 s)", setpoint: 51 %, tolerance: 10 %}}
    timescale: {{period: 30 s{phase}}}
    actuation: {{signal: f.pods, law: proportional, bounds: [2, 64]{start}}}
  nodes:
    trigger: f.pods > 5 * f.nodes
    timescale: {{period: 10 s{phase}}}
    actuation: {{signal: f.nodes, law: step, by: 1, bounds: [1, 20], from: 5}}
"""


@pytest.mark.parametrize(
    ("phase", "start", "open_"),
    [
        ("", "", "open: where f.pods begins (`from`), `phase` of hpa and nodes"),
        ("", ", from: 16", "the run that was tried settles; open: `phase` of hpa and nodes"),
        (", phase: 0 s", "", "open: where f.pods begins (`from`)"),
    ],
)
def test_what_neither_swings_nor_is_proved_to_settle_names_the_facts_that_are_open(
    phase: str, start: str, open_: str
) -> None:
    findings = findings_of(SCALED.format(phase=phase, start=start), repairs=False)
    told = [f.message for f in findings if f.code == "COH301" and f.verdict == "undecided"]
    assert [message.endswith(open_) for message in told] == [True]
