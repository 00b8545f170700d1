"""That whoever may act all the time does so some day is named where an answer stands on it, and nowhere else."""

from __future__ import annotations

from types import ModuleType

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement import evictor_vs_placer, preempt_vs_admit
from coherence.verify.patterns.placement.evictor_vs_placer import FAIR
from coherence.verify.patterns.placement.preempt_vs_admit import ONE_BY_ONE

MEMBERS = "coherence: 1\ncomponents: {{web: {{copies: {}, returns: always}}}}\nplaces: {}\n{}loops:\n"
LOOP = "  {}: {{trigger: count of web by node {}, actuation: {{evict: web}}}}\n"
NODES, ZONES = "{node: {count: 2}}", "{a1: {zone: a}, a2: {zone: a}, b1: {zone: b}, b2: {zone: b}}"
ALONE = MEMBERS.format(4, NODES, "") + LOOP.format("low", "> 1")
TOGETHER = MEMBERS.format(4, NODES, "") + LOOP.format("low", "> 2") + LOOP.format("high", "< 4")
BESIDE = (
    MEMBERS.format(3, ZONES, "placement: {web: [prefer on zone a]}\n")
    + LOOP.format("pack", "< 2")
    + LOOP.format("even", "> 2")
)
JOBS = """coherence: 1
components: {gpu: {count: 8}}
jobs:
  a: {queue: qa, needs: 4 gpu, priority: 1LEAVES}
  b: {queue: qb, needs: 4 gpu, priority: 1LEAVES}
  p: {queue: qp, needs: 8 gpu, priority: 5LEAVES}
order:
  admit: largest job.priority first
  preempt: for waiting take running where running.priority < waiting.priority
  victim: returns, RESERVATION
"""


def answers(question: ModuleType, text: str) -> list[Finding]:
    return list(question.ask(Subject(read_text(text), {"<design>": text})))


@pytest.mark.parametrize(("text", "number", "named"), [(ALONE, 1, False), (TOGETHER, 1, True), (BESIDE, 2, True)])
def test_rounds_of_several_loops_say_who_must_act(text: str, number: int, named: bool) -> None:
    found = answers(evictor_vs_placer, text)
    assert [finding.verdict for finding in found] == [Verdict.CONFLICT] * number
    assert [FAIR in finding.assumptions for finding in found] == [named] * number


@pytest.mark.parametrize(
    ("leaves", "victim", "verdict", "named"),
    [
        (", leaves_after: 60 s", "reservation", Verdict.PROVED, True),
        (", leaves_after: 60 s", "no reservation", Verdict.CONFLICT, True),
        (", leaves_after: 0 s", "no reservation", Verdict.PROVED, False),
    ],
)
def test_what_is_leaving_goes_some_day(leaves: str, victim: str, verdict: Verdict, named: bool) -> None:
    (found,) = answers(preempt_vs_admit, JOBS.replace("LEAVES", leaves).replace("RESERVATION", victim))
    assert found.verdict is verdict
    assert (ONE_BY_ONE in found.assumptions) is named
    assert "each some day" in ONE_BY_ONE
