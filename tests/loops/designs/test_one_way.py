"""Loops of which no command is moved both ways come to rest; the others are not said to."""

from __future__ import annotations

import pytest

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks.oscillation import ask
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import long_run

FED = """coherence: 1
components: {{power: {{state: "p' = 0.8 * p + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}}}}
loops:
  throttle: {{rank: 1, timescale: {{period: 1 s}}, trigger: {{enter: p >= 80, leave: p <= 60}}, actuation: {{}}}}
  backfill:
    rank: 2
    timescale: {{period: 1 s{more}}}
    rules: [{{when: throttle, by: -20}}, {{when: p < {below}, {up}}}]
    actuation: {{signal: batch.load, bounds: [0{most}], from: 0}}
"""


def answer(*, below: str = "51", up: str = "by: 5", most: str = ", 200", more: str = "") -> Finding:
    text = FED.format(below=below, up=up, most=most, more=more)
    (finding,) = ask(Subject(read_text(text, "d"), {"d": text}, 60.0))
    return finding


@pytest.mark.slow
def test_steps_up_to_a_bound_settle_where_the_step_down_is_proved_never_to_be_made() -> None:
    proof = answer()
    assert proof.verdict is Verdict.PROVED
    assert "no command is ever moved both ways" in proof.message
    assert proof.evidence.certificate is not None
    assert unsat(proof.evidence.certificate, timeout_ms=20_000).unsat


@pytest.mark.slow
def test_what_every_rule_sets_to_one_value_settles() -> None:
    assert answer(up="to: 30").verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "changed",
    [pytest.param({"below": "85"}, marks=pytest.mark.slow), {"up": "by: p - 40"}, {"more": ", hold_down: 5 s"}],
    ids=["the other way is taken", "steps that are computed", "a window"],
)
def test_no_proof_without_its_premises(changed: dict[str, str]) -> None:
    assert answer(**changed).verdict is not Verdict.PROVED


STAIRS = """coherence: 1
components: {{plant: {{state: "x' = x", step: 1 s, from: 0 .. 60}}}}
loops:
  a:
    timescale: {{period: 10 s, phase: 0 s}}
    trigger: web.n < 9
    actuation: {{signal: web.n, law: step, by: 1, bounds: [0, 10], from: 0}}
  b:
    timescale: {{period: 10 s, phase: 5 s}}
    trigger: plant.x > 20 and plant.x < 30
    actuation: {{signal: web.n, law: step, by: 1, bounds: [0, {most}]}}
"""


@pytest.mark.parametrize(("most", "verdict"), [(10, Verdict.PROVED), (5, Verdict.UNDECIDED)])
def test_steps_up_to_different_bounds_move_a_command_both_ways(most: int, verdict: Verdict) -> None:
    text = STAIRS.format(most=most)
    (finding,) = ask(Subject(read_text(text, "d"), {"d": text}, 60.0))
    assert finding.verdict is verdict


LANDING = """coherence: 1
components: {{tank: {{state: "x' = 0.5 * x + job.v", step: 1 s, from: 0}}}}
loops:
  near:
    timescale: {{period: 1 s}}
    trigger: x < 90
    actuation: {{signal: job.v, law: step, by: 1, bounds: [0, 40], from: 0}}
  far:
    timescale: {{period: 1 s{lands}}}
    trigger: x < 80
    actuation: {{signal: job.v, law: step, by: 2, bounds: [0, 40]}}
"""


@pytest.mark.parametrize("lands", ["", ", lands: 3 s"])
def test_two_writers_rest_also_where_one_lands_late(lands: str) -> None:
    """What lands late is above what its loop saw, so that the least of what is there and to come only grows."""
    text = LANDING.format(lands=lands)
    (finding,) = ask(Subject(read_text(text, "d"), {"d": text}, 60.0))
    assert finding.verdict is Verdict.PROVED
    run = long_run(elaborate(read_text(text, "d")), Choices())
    assert run.instants[-1].after["job.v"] == 40
