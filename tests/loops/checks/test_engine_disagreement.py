"""COH107: wrong answers of an engine, put in by hand, are told beside the right ones; right ones are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.findings.finding import Evidence, Finding, Grade, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.reading import read_text
from coherence.loops.checks import _engine_disagreement, engine_disagreement
from coherence.loops.checks._groups import groups, linear_at
from coherence.loops.designs.groups import Group
from coherence.loops.designs.linear import Linear
from tests.case_files import findings_of

TANK = """\
coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 4.9}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{gain} * level", bounds: [0, 100], from: 2}}
"""
SWINGING = """\
coherence: 1
components: {plant: {state: "x' = 0.5 * x + job.v", step: 1 s, from: 0}}
loops:
  act:
    timescale: {period: 1 s, phase: 0 s}
    rules: [{when: x < 6, to: 4}, {when: x >= 6, to: 1}]
    actuation: {signal: job.v, bounds: [0, 10], from: 0}
promises: {low: always plant.x <= 5}
"""


def inverted(subject: Subject, group: Group) -> Linear | None:
    """Returns a linear verdict that is wrong: growth is taken for decay, and decay for growth."""
    linear = linear_at(subject, group)
    assert linear is not None
    wrong = replace(linear.verdict, stable=not linear.verdict.stable, modulus=1 / linear.verdict.modulus)
    return replace(linear, verdict=wrong)


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "said"), [("0.4", "unstable"), ("2.1", "stable")])
def test_a_wrong_linear_verdict_stands_beside_the_run_that_contradicts_it(
    monkeypatch: pytest.MonkeyPatch, gain: str, said: str
) -> None:
    text = TANK.format(gain=gain)
    assert "COH107" not in {finding.code for finding in findings_of(text, repairs=False)}
    monkeypatch.setattr(_engine_disagreement, "linear_at", inverted)
    (finding,) = (finding for finding in findings_of(text, repairs=False) if finding.code == "COH107")
    assert (finding.verdict, finding.of) == (Verdict.CONFLICT, ("ctl",))
    assert f"are {said}, factor" in finding.message
    assert "`coherence check --select COH301 case.yaml`" in finding.message
    assert "`coherence simulate case.yaml --set tank.level=" in finding.message


def proof(question: Question, subject: Subject, names: tuple[str, ...]) -> Finding:
    places = [place for group in groups(subject) for place in group.places]
    return question.proved("it is so", places, names, Evidence(Grade.PROVED, "by hand"))


def test_a_proved_promise_that_an_exact_run_breaks_is_told_with_the_time() -> None:
    subject = Subject(read_text(SWINGING, "d.yaml"), {"d.yaml": SWINGING})
    wrong = proof(Question("COH220", "interacting-loops"), subject, ("low",))
    (finding,) = engine_disagreement.review(subject, [wrong])
    assert finding.of == ("low", "act")
    assert "an exact run breaks `always plant.x <= 5` at 1 s" in finding.message
    assert not list(engine_disagreement.review(subject, []))


def test_a_proof_of_rest_beside_a_run_that_never_rests_names_both_commands() -> None:
    subject = Subject(read_text(SWINGING, "d.yaml"), {"d.yaml": SWINGING})
    (swings,) = (f for f in findings_of(SWINGING, repairs=False) if f.code == "COH301")
    wrong = proof(Question("COH305", "integer-cycling"), subject, ("act",))
    (finding,) = engine_disagreement.review(subject, [swings, wrong])
    assert "it is so (`coherence check --select COH305 d.yaml`)" in finding.message
    assert "never settles" in finding.message


def test_a_design_without_feedback_is_not_looked_at() -> None:
    text = SWINGING.replace("x' = 0.5 * x + job.v", "x' = 0.5 * x")
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text})
    assert not list(engine_disagreement.ask(subject))
    assert not list(engine_disagreement.review(subject, []))
