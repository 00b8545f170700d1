"""Members that work on several requests at once are asked as so many members that work on one each."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.member_rates import member_rate
from tests.case_files import findings_of

QUESTIONS = {"COH201", "COH204", "COH224", "COH245", "COH252"}


def text(copies: int, at_once: int, facts: str) -> str:
    slots = f"  slots: {{counts: node.ongoing, at_most: {at_once}, per: replica, when_full: wait}}\n" if at_once else ""
    return f"coherence: 1\ncomponents: {{node: {{copies: {copies}}}}}\n{facts}{slots}"


def verdicts(design: str) -> Counter[tuple[str, str, str]]:
    told = (one for one in findings_of(design, repairs=False) if one.code in QUESTIONS)
    return Counter((one.code, one.verdict.value, one.certainty) for one in told)


def drawn(draw: random.Random) -> tuple[int, int, str]:
    copies, at_once, mean = draw.randint(1, 4), draw.randint(2, 16), draw.choice((0.05, 0.2, 1, 4))
    rate = round(draw.choice((0.3, 0.7, 0.95, 1.0, 1.05, 2)) * copies * at_once / mean, 2)
    tries, patience = draw.randint(1, 4), round(draw.choice((1.5, 4, 20)) * mean, 2)
    facts = (
        f"workload: {{chat: {{rate: {rate} req/s, service: {{mean: {mean} s, cv: {draw.choice((0, 1))}}}}}}}\n"
        f"calls: [{{from: chat, to: node, per_try: {patience} s, tries: {tries}, pause: 1 s, "
        f"on_timeout: {draw.choice(('cancel', 'abandon'))}}}]\n"
        f"limits:\n  queue: {{counts: node.waiting, at_most: {draw.randint(1, 90)}, when_full: reject}}\n"
    )
    return copies, at_once, facts


@pytest.mark.parametrize("seed", range(60))
def test_verdicts_are_those_of_so_many_members(seed: int) -> None:
    copies, at_once, facts = drawn(random.Random(seed))  # noqa: S311  (no secret)
    assert verdicts(text(copies, at_once, facts)) == verdicts(text(copies * at_once, 0, facts)), facts


def test_a_stated_rate_is_that_of_the_whole_member() -> None:
    facts = "calls: [{from: chat, to: node}]\nworkload: {chat: {rate: 9 req/s}}\nlimits:\n"
    design = read_text(text(2, 8, facts).replace("copies: 2", "copies: 2, rate_per_member: 5 req/s"), "d.yaml")
    rate = member_rate(known(Subject(design)), "node")
    assert rate is not None
    assert rate.low == rate.high == 5


def test_the_own_time_of_what_no_workload_reaches_has_no_longest_service_of_one() -> None:
    text = """coherence: 1
components: {node: {copies: 4, arrivals: 20 req/s, takes: {answer: 1 s .. 8 s}}}
limits: {slots: {counts: node.ongoing, at_most: 16, per: replica, when_full: wait}}
"""
    rate = member_rate(known(Subject(read_text(text, "d.yaml"))), "node")
    assert rate is not None
    assert (rate.low, rate.high) == (Fraction(2), Fraction(16))
