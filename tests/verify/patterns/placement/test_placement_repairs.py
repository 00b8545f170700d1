"""Repairs of placements without a place: a preference, or more places, beside a plain count of what fits."""

from __future__ import annotations

import random
from contextlib import nullcontext

import pytest

from coherence.checking.design_check import analyse
from coherence.checking.weighing import absences_weighed
from coherence.findings.finding import Repair, Verdict
from coherence.findings.question_input import Subject, details_unasked
from coherence.findings.registry import question_modules
from coherence.findings.repairs import apply
from coherence.language.reading import read_text

KIND = "coherence: 1\ncomponents: {model: {copies: 4, needs: {gpu: 1}}}\nplaces: {node: {count: 3, gpu: 1}}\n"
SKEWED = """coherence: 1
components: {web: {copies: 9, needs: {cpu: 4}}}
places: {n1: {zone: a, cpu: 32}, n2: {zone: b, cpu: 32}, n3: {zone: c, cpu: 4}}
"""


def repairs_of(text: str) -> tuple[Repair, ...]:
    """Returns the repairs of the conflict of placement in a design."""
    answers = analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), select=["COH227"])
    (conflict,) = [f for f in answers.findings if f.verdict is Verdict.CONFLICT]
    return conflict.repairs


def test_as_many_places_as_are_enough_are_bought_and_told_of() -> None:
    text = f"{KIND}placement: {{model: [spread by node <= 1]}}\n"
    (repair,) = repairs_of(text)
    assert repair.proved
    assert repair.concedes == ("node has more room",)
    assert "count: 4" in (apply(repair.edits, {"d": text}) or {})["d"]


def test_a_rule_becomes_a_preference_where_all_fit_without_it() -> None:
    text = f"{SKEWED}placement: {{web: [spread by zone <= 1]}}\n"
    (repair,) = repairs_of(text)
    assert repair.proved
    assert repair.concedes == ("web may break `spread by zone <= 1`",)
    assert "[prefer spread by zone <= 1]" in (apply(repair.edits, {"d": text}) or {})["d"]


@pytest.mark.parametrize("seed", range(30))
def test_preferences_alone_are_proved_to_leave_a_place_to_each_just_where_the_room_is_enough(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    rooms = [draw.randint(0, 4) for _ in range(draw.randint(1, 4))]
    copies = draw.randint(1, 10)
    places = ", ".join(f"n{k}: {{zone: {draw.choice('ab')}, cpu: {room}}}" for k, room in enumerate(rooms))
    rule = draw.choice(["spread by zone <= 1", "at most 1 by node", "on zone a"])
    text = f"coherence: 1\ncomponents: {{web: {{copies: {copies}, needs: {{cpu: 1}}}}}}\nplaces: {{{places}}}\n"
    text += f"placement: {{web: [prefer {rule}]}}\n"
    subject = Subject(read_text(text, "d"), {"d": text})
    modules = [m for m in question_modules() if any(q.code == "COH227" for q in m.questions)]
    proofs = [f for f in absences_weighed(subject, modules) if f.verdict is Verdict.PROVED]
    assert bool(proofs) == (sum(rooms) >= copies)


LOSSES = (
    "coherence: 1\ncomponents: {web: {copies: 6}}\nplaces: {node: {count: 3, drained: 1}}\n"
    "placement: {web: [spread by node <= 1]}\npromises: {most: always web.ready >= 4}\n"
)
GANGS = """coherence: 1
components: {gpu: {count: 8}}
jobs: {a: {needs: 1 gpu, copies: 8, barrier: all}, b: {needs: 1 gpu, copies: 6, barrier: all}}
"""
PREEMPTION = """coherence: 1
components: {cpu: {count: 8}, q1: {deserved: 3 cpu}, q2: {deserved: 5 cpu}}
jobs: {pod1: {queue: q1, needs: 4 cpu}, pod2: {queue: q2, needs: 1 cpu}, pod3: {queue: q2, needs: 4 cpu}}
order:
  admit: smallest queue.used / queue.deserved first
  preempt: for pod3 take job where job.queue.used > job.queue.deserved
  victim: returns, no reservation
"""


@pytest.mark.parametrize(
    ("text", "code", "by_number"),
    [
        (LOSSES, "COH229", "; node: conflict at 1 to 6"), (LOSSES, "COH249", "; node: conflict at 1 to 2"),
        (f"{KIND}placement: {{model: [spread by node <= 1]}}\n", "COH227", "; node: conflict at 1 to 3"),
        (GANGS, "COH228", "; gpu: conflict at 1 to 7"), (PREEMPTION, "COH225", " (with 5 to 8 cpu"),
    ],
)  # fmt: skip
def test_where_details_are_unasked_no_other_number_is_tried_and_the_verdict_is_the_same(
    text: str, code: str, by_number: str
) -> None:
    answers = []
    for asked in (nullcontext, details_unasked):
        subject = Subject(read_text(text, "d"), {"d": text})
        with asked():
            findings = [
                f for m in question_modules() if any(q.code == code for q in m.questions) for f in m.ask(subject)
            ]
        (answer,) = (f for f in findings if f.code == code)
        assert (by_number in answer.message) is (asked is nullcontext)
        answers.append((answer.verdict, answer.certainty, answer.of))
    assert answers[0] == answers[1]
