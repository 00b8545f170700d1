"""Priority inversion beside runs of the same designs, and beside the order of drawn priorities."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import simulate
from coherence.simulate.requests.program import Arrivals, Service
from coherence.verify.patterns.placement.priority_inversion import ask

FIRST, SECOND = 0.01, 0.1  # s of a service


def text_of(urgent: int = 3, batch: int = 1, users: int = 2, discipline: str = "priority", limits: str = "") -> str:
    return f"""coherence: 1
workload:
  urgent: {{rate: 1 req/s, priority: {urgent}}}
  batch: {{rate: 1 req/s, priority: {batch}}}
  users: {{rate: 5 req/s, priority: {users}}}
components:
  api: {{copies: 1, discipline: priority, takes: {{serve: 10 ms}}}}
  db: {{copies: 1, discipline: {discipline}, rate_per_copy: 10 req/s}}
calls: [{{from: urgent, to: api}}, {{from: batch, to: api}}, {{from: users, to: db}}, {{from: api, to: db}}]
{limits}"""


def answers(text: str) -> list[Finding]:
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


def end_of_urgent(text: str) -> float:
    """Returns when an urgent request ends that comes after one of batch, while users come for 5 s, by the engine."""
    program = processes(read_text(text, "d")).program
    times = {"urgent": (0.05,), "batch": (0.0,), "users": tuple(n * 0.09 for n in range(55))}
    sources = tuple(replace(own, arrivals=Arrivals("trace", times=times[own.name])) for own in program.sources)
    service = {"api": Service(FIRST, "constant", 0.0), "db": Service(SECOND, "constant", 0.0)}
    stations = tuple(replace(own, service=service[own.name]) for own in program.stations)
    result = simulate(replace(program, sources=sources, stations=stations), seed=1, until=60)
    (number,) = [n for n, own in enumerate(program.sources) if own.name == "urgent"]
    (end,) = result.requests.end[result.requests.source == number]
    return float(end)


def test_the_urgent_one_waits_as_long_as_the_others_come() -> None:
    assert [finding.certainty for finding in answers(text_of())] == ["possible"]
    assert end_of_urgent(text_of()) > 5.0


@pytest.mark.parametrize("repaired", [text_of(batch=3), text_of(discipline="fifo"), text_of(users=0)])
def test_the_repaired_twins_are_in_time_and_silent(repaired: str) -> None:
    assert answers(repaired) == []
    assert end_of_urgent(repaired) < 1.0


def test_taking_members_from_a_lower_class_does_not_help() -> None:
    text = text_of().replace("api: {copies: 1, discipline: priority", "api: {copies: 1, discipline: preemptive")
    assert len(answers(text)) == 1
    assert end_of_urgent(text) > 5.0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(urgent=st.integers(0, 4), batch=st.integers(0, 4), users=st.integers(0, 4))
def test_the_verdict_is_that_of_the_order(urgent: int, batch: int, users: int) -> None:
    inverted = min(urgent, batch) < users < max(urgent, batch)
    assert len(answers(text_of(urgent, batch, users))) == inverted


def test_a_member_that_is_left_is_proved() -> None:
    text = text_of(limits="limits: {few: {counts: users in flight, at_most: 1 req, when_full: wait}}\n")
    assert len(answers(text)) == 1  # one member, and one user takes it
    (finding,) = answers(text.replace("db: {copies: 1", "db: {copies: 2"))
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.numbers["members"] == (2, "")


def test_the_repairs_are_a_ceiling_and_the_order_of_arrival() -> None:
    ceiling, order = answers(text_of())[0].repairs
    assert [(edit.old, edit.new) for edit in (*ceiling.edits, *order.edits)] == [("1", "3"), ("priority", "fifo")]
