"""A run of all questions ends in time, and Ctrl-C keeps what is known and names what was still being asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest

from coherence.base.watchdog import current_run, interruptible
from coherence.checking import design_check
from coherence.checking.design_check import analyse
from coherence.checking.slicing import pieces
from coherence.findings.accounting import policies
from coherence.findings.design_answers import Answers
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language.reading import read_text

TWO_LOOPS = """coherence: 1
components:
  web: {boot: 60 s, young: "web.restarts - delayed(web.restarts, web.boot)", cpu: (1 + web.young) / web.replicas}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: web.replicas, bounds: [2, 10], from: 4}
  descheduler:
    timescale: {period: 30 min}
    trigger: always
    actuation: {signal: web.restarts, law: step, by: 1, bounds: [0, 100], from: 0}
promises: {shrinks: eventually_always web.replicas <= 2}
"""
TIER = """
  h{k}:
    timescale: {{period: 15 s}}
    target: {{signal: t{k}.usage, setpoint: 0.7, tolerance: 10 %}}
    actuation: {{signal: t{k}.replicas, law: proportional, bounds: [1, 1000], from: 10}}"""
PLANT = """
  t{k}:
    load: {load}
    cap: 12 * t{k}.replicas
    out: min(t{k}.load + t{k}.q / 15, t{k}.cap)
    usage: (t{k}.load + t{k}.q / 15) / t{k}.replicas / 12
    state: "q' = max(0, q + 15 * (t{k}.load - t{k}.cap))"
    step: 15 s
    from: 0"""


def asked(text: str, time_limit: float = 20.0) -> Answers:
    return analyse(
        read_text(text, "d.yaml"), {"d.yaml": text}, lambda s: read_text(s["d.yaml"], "d.yaml"), time_limit=time_limit
    )


def chain(count: int) -> str:
    loads = ["100", *(f"t{k}.out" for k in range(count - 1))]
    plants = "".join(PLANT.format(k=k, load=load) for k, load in enumerate(loads))
    return f"coherence: 1\ncomponents:{plants}\nloops:{''.join(TIER.format(k=k) for k in range(count))}\n"


def test_pairs_that_were_not_asked_are_counted_and_none_of_them_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [module for module in question_modules() if not any(question.slow for question in module.questions)]
    ways = [f"{{from: u{k}, to: a{k}, deadline: 9 s}}, {{from: a{k}, to: b{k}, deadline: 2 s}}" for k in range(6)]
    many = f"{TWO_LOOPS}calls: [{', '.join(ways)}]\n"
    design, asked_pieces = read_text(many, "d.yaml"), list[Subject]()
    pairs = [len([*combinations(policies(piece.design), 2)]) for piece in pieces(design, {"d.yaml": many})]
    assert sum(pairs) >= len(ways)

    def ending(subject: Subject) -> Iterator[Finding]:
        asked_pieces.append(subject)
        if len(asked_pieces) == 3:
            current_run().end = 0.0  # the time is over amid this question
        return iter(())

    third = modules[2]
    monkeypatch.setattr(
        design_check, "question_modules", lambda: [replace(m, ask=ending) if m is third else m for m in modules]
    )
    answers = asked(many)
    amid, rest = sorted((f for f in answers.findings if "not asked" in f.message), key=lambda f: len(f.of))
    assert amid.code == third.questions[0].code
    assert f"{sum(pairs[3:])} pairs of policies are not asked: {amid.code}" in amid.message
    assert f"{sum(pairs)} pairs of policies are not asked" in rest.message
    assert {"hpa", "descheduler", *(call.name for call in design.calls)} <= set(rest.of)
    assert answers.accounting.safe == 0
    assert answers.accounting.undecided >= sum(pairs)
    assert answers.cut_short


@pytest.mark.slow
def test_two_loops_without_a_recurrence_are_answered_within_the_limit_of_the_run() -> None:
    begun = time.process_time()  # at most the time on the wall, whatever else the machine does
    answers = asked(TWO_LOOPS, time_limit=1)  # of one question; the run has three times that
    assert time.process_time() - begun < 10
    assert answers.cut_short
    (named,) = [f for f in answers.findings if "not asked" in f.message]
    assert named.verdict is Verdict.UNDECIDED
    assert named.evidence.cut_short
    assert not [f for f in answers.findings if "no question decides" in f.message]  # the time was over


@pytest.mark.slow
def test_a_chain_of_eight_coupled_tiers_takes_five_seconds_of_the_processor_at_most() -> None:
    begun = time.process_time()
    answers = asked(chain(8))
    assert time.process_time() - begun < 5
    assert len([f for f in answers.findings if f.code == "COH301"]) == 8


def test_cheap_questions_are_asked_first() -> None:
    slow = [any(question.slow for question in module.questions) for module in design_check.Options().modules()]
    assert slow == sorted(slow)
    assert any(slow)


def test_ctrl_c_keeps_what_is_known_and_names_what_was_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [m for m in question_modules() if m.questions[0].code != "COH107"]  # takes all the time that it is given
    stopping = next(module for module in modules if module.questions[0].code == "COH220")

    def stopped(subject: Subject) -> Iterator[Finding]:
        yield stopping.questions[0].undecided("known before", (), tuple(subject.design.loops))
        raise KeyboardInterrupt

    changed: list[QuestionModule] = [replace(m, ask=stopped) if m is stopping else m for m in modules]
    monkeypatch.setattr(design_check, "question_modules", lambda: changed)
    with pytest.raises(KeyboardInterrupt):
        asked(TWO_LOOPS)
    with interruptible(lambda share, label: None) as run:  # noqa: ARG005
        answers = asked(TWO_LOOPS)
    assert run.stopped
    messages = [f.message for f in answers.findings]
    assert "known before" in messages
    assert "not decided: stopped by Ctrl-C while it was asked" in messages
    (rest,) = [message for message in messages if "not asked" in message]
    assert "COH301" in rest
    assert "COH701" in {f.code for f in answers.findings}  # cheap ones were asked before
    assert answers.cut_short
