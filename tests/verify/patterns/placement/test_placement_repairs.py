"""Repairs of placements without a place: a preference, or more places, beside a plain count of what fits."""

from __future__ import annotations

import random

import pytest

from coherence.checking.design_check import analyse
from coherence.checking.weighing import absences_weighed
from coherence.findings.finding import Repair, Verdict
from coherence.findings.question_input import Subject
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
