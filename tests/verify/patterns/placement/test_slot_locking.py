"""Slot locking beside runs of the same designs, and beside counts on drawn pools."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import OUTCOMES, simulate
from coherence.simulate.requests.program import Arrivals
from coherence.verify.facts.design_facts import known as known_facts
from coherence.verify.patterns.placement._member_holds import member_hold
from coherence.verify.patterns.placement.slot_locking import ask


def text_of(members: int, takes: int, patience: int, cap: int | None, discipline: str = "fifo") -> str:
    limits = f"limits: {{few: {{counts: reports in flight, at_most: {cap} req, when_full: wait}}}}\n" if cap else ""
    return (
        "coherence: 1\nworkload:\n"
        f"  users: {{rate: 0.1 req/s, service: {{mean: 20 ms, cv: 0}}, deadline: {patience} s, priority: 2}}\n"
        f"  reports: {{rate: 0.001 req/s, service: {{mean: {takes} s, cv: 0}}}}\n"
        f"components: {{pool: {{copies: {members}, discipline: {discipline}}}}}\n"
        f"calls: [{{from: users, to: pool, on_timeout: cancel}}, {{from: reports, to: pool}}]\n{limits}"
    )


def answers(text: str) -> list[Finding]:
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(members=st.integers(1, 6), takes=st.integers(1, 9), patience=st.integers(1, 9), cap=st.integers(0, 7))
def test_the_verdict_is_that_of_a_count(members: int, takes: int, patience: int, cap: int) -> None:
    found = answers(text_of(members, takes, patience, cap or None))
    at_once = cap or 10**9
    if takes + 0.02 <= patience or at_once < members:
        assert [finding.verdict for finding in found] == [Verdict.PROVED]
    else:
        assert [finding.verdict for finding in found] == [Verdict.CONFLICT]


def outcome_of_a_user(reports: int, discipline: str = "fifo") -> str:
    """Returns what becomes of a user who comes after so many reports of 30 s to a pool of 4, by the engine."""
    program = processes(read_text(text_of(4, 30, 2, None, discipline), "d")).program
    times = {"users": (0.1,), "reports": (0.0,) * reports}
    sources = tuple(replace(own, arrivals=Arrivals("trace", times=times[own.name])) for own in program.sources)
    result = simulate(replace(program, sources=sources), seed=1, until=100)
    (number,) = [n for n, own in enumerate(program.sources) if own.name == "users"]
    (outcome,) = result.requests.outcome[result.requests.source == number]
    return OUTCOMES[outcome]


def test_the_witness_is_what_the_engine_runs() -> None:
    assert outcome_of_a_user(4) == "deadline"
    assert outcome_of_a_user(3) == "completed"  # as many as the repaired twin lets in
    assert outcome_of_a_user(4, "preemptive") == "completed"


def test_the_repair_is_one_less_than_there_are_members() -> None:
    (finding,) = answers(text_of(4, 30, 2, 5))
    (repair,) = finding.repairs
    assert [edit.new for edit in repair.edits] == ["3 req"]
    assert [found.verdict for found in answers(text_of(4, 30, 2, 3))] == [Verdict.PROVED]


def test_of_a_law_without_an_end_some_tasks_take_the_mean_or_longer() -> None:
    text = text_of(4, 30, 2, None).replace("mean: 30 s, cv: 0", "mean: 30 s, cv: 1")
    (finding,) = answers(text)
    assert (finding.verdict, finding.evidence.numbers["held for"]) == (Verdict.CONFLICT, (30, "s"))
    assert answers(text.replace("mean: 30 s", "mean: 1 s")) == [], "no longest task is stated, and none is known"


HELD = """coherence: 1
workload: {{users: {{rate: 0.1 req/s, service: {service}{deadline}}}}}
components: {{pool: {{copies: 2{pool}}}, db: {{copies: 2, takes: {{serve: 3 s}}}}}}
calls: [{{from: users, to: pool{call}}}{onward}]
"""


@pytest.mark.parametrize(
    ("text", "known", "most"),
    [
        ({"service": "20 ms"}, Fraction(1, 50), Fraction(1, 50)),
        ({"service": "{mean: 1 s, cv: 0, max: 10 s}"}, 1, 1),
        ({"service": "{mean: 1 s, cv: 1}"}, 1, None),  # some take the mean, and no longest one is stated
        ({"service": "20 ms", "pool": ", takes: {serve: 2 s .. 9 s}"}, 9, 9),
        ({"service": "20 ms", "pool": ", rate_per_copy: 0.1 req/s"}, 0, None),  # how many, not how long
        ({"service": "1 s", "onward": ", {from: pool, to: db}"}, 3, None),  # waits for a member there too
        ({"service": "1 s", "onward": ", {from: pool, to: db, deadline: 2 s}"}, 2, 3),
        ({"service": "30 s", "deadline": ", deadline: 4 s", "call": ", on_timeout: cancel"}, 4, 4),
        ({"service": "30 s", "deadline": ", deadline: 4 s", "call": ", on_timeout: abandon"}, 30, 30),
        ({"service": "30 s", "call": ", per_try: 5 s, on_timeout: cancel"}, 5, 5),
        ({"service": "{mean: 1 s, cv: 1}", "call": ", per_try: 5 s, on_timeout: cancel"}, 1, 5),
    ],
)
def test_a_member_is_held_for_its_work_and_its_calls_until_it_is_cancelled(
    text: dict[str, str], known: Fraction | int, most: Fraction | int | None
) -> None:
    written = HELD.format(**({"deadline": "", "pool": "", "call": "", "onward": ""} | text))
    facts = known_facts(Subject(read_text(written, "d"), {"d": written}))
    hold = member_hold(facts, facts.design.workload["users"], facts.design.calls[0])
    assert (hold.known, hold.most) == (known, most)
