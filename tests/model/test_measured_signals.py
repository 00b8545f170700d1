"""Signals that follow from loads and members, beside what a run of the requests measures."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from coherence.findings.proof_words import words_of_entry
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.expressions.tree import Name
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.measured_signals import derived_signals, is_direct, simplifications
from coherence.model.model import Interval
from coherence.simulate.execute.exact import Choices, Execution, View
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.study.loops_over_requests import Coupled
from coherence.verify.facts.design_facts import known

F = Fraction
READ = ("db.arrivals", "db.utilization", "web.utilization")
DESIGN = """coherence: 1
workload: {users: {rate: 40 req/s, arrivals: regular}, jobs: {rate: 10 req/s, arrivals: regular}}
components:
  web: {copies: 30, cases: {hit: 3, miss: 1}, takes: {serve: 100 ms}}
  cache: {copies: 9, takes: {get: 1 ms}, roles: {get: answer}}
  db: {copies: 4, takes: {query: 50 ms}}
calls:
  - {from: users, to: web, per_try: 9 s, on_timeout: abandon}
  - {from: web, to: cache, case: hit, per_try: 9 s, on_timeout: abandon}
  - {from: web, to: db, case: miss, per_try: 9 s, on_timeout: abandon}
  - {from: jobs, to: db, per_try: 9 s, on_timeout: abandon}
limits:
  on_web: {counts: web.ongoing, at_most: 2, per: replica, when_full: wait}
  on_db: {counts: db.ongoing, at_most: 2, per: replica, when_full: wait}
loops:
  look:
    timescale: {period: 30 s}
    rules: [{when: web.utilization > 9, by: 1}, {when: db.utilization > 9, by: 1}, {when: db.arrivals < 0 req/s, by: 1}]
    actuation: {signal: spare.size, bounds: [1, 2], from: 1}
"""
ALONE = DESIGN.replace("  - {from: web, to: db, case: miss, per_try: 9 s, on_timeout: abandon}\n", "")
ALONE = ALONE.replace(", case: hit", "").replace(" cases: {hit: 3, miss: 1},", "")


def values(design: Design) -> dict[str, float]:
    execution = Execution(elaborate(design), Choices({}))
    world = View(execution, F(0), execution.values)
    return {path: float(world.value(path)) for path in READ}


def test_first_tries_are_counted_by_calls_and_cases_over_what_the_members_serve() -> None:
    db = 20 / (4 * 2 / 0.05)
    assert values(read_text(DESIGN)) == {"db.arrivals": 20, "db.utilization": db, "web.utilization": 40 / 600}


@pytest.mark.parametrize("seed", range(8))
def test_a_run_of_the_requests_measures_the_same(seed: int) -> None:
    draw = Random(seed)  # noqa: S311 (a test)
    drawn = {
        "rate: 40 ": f"rate: {draw.randint(5, 60)} ", "rate: 10 ": f"rate: {draw.randint(1, 30)} ",
        "copies: 30": f"copies: {draw.randint(20, 30)}", "copies: 4": f"copies: {draw.randint(1, 4)}",
        "100 ms": f"{draw.randint(10, 100)} ms", "50 ms": f"{draw.randint(5, 20)} ms",
        "hit: 3": f"hit: {draw.randint(0, 4)}", "web.ongoing, at_most: 2": f"web.ongoing, at_most: {1 + seed % 3}",
    }  # fmt: skip
    text = DESIGN
    for old, new in drawn.items():
        text = text.replace(old, new)
    design, length, sums = read_text(text), 120, dict.fromkeys(READ, 0.0)
    program = processes(design)
    run = Coupled(design, program, RequestRun(program.program, seed=seed))
    for second in range(1, length + 1):
        run.advance(float(second))
        for path in READ:
            sums[path] += float(run.execution.values[path])
    for path, expected in values(design).items():
        assert sums[path] / length == pytest.approx(expected, rel=0.08), path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("query: 50 ms", "lookups: 50 ms"),  # nothing says that it is an answer
        ("copies: 4, ", ""),  # nor how many there are
        ("  on_db: {counts: db.ongoing, at_most: 2, per: replica, when_full: wait}\n", ""),  # nor on how many one works
        ("db.ongoing, at_most: 2", "db.ongoing, at_most: 1 .. 2"),
        ("jobs: {rate: 10 req/s, arrivals: regular}", "jobs: {deadline: 9 s}"),
        ("{rate: 10 req/s,", "{rate: 10 req/s, service: 10 ms,"),
        ("from: jobs, to: db, per_try: 9 s", "from: jobs, to: db, per_try: 9 s, hedge_after: 1 s"),
        ("case: miss, per_try: 9 s", "case: miss, tries: 3, per_try: 9 s"),
        ("cases: {hit: 3, miss: 1}, ", ""),
        ("  on_db:", "  q: {counts: web.waiting, at_most: 9, when_full: reject}\n  on_db:"),
        ("per: replica, when_full: wait}\n  on_db", "per: replica, when_full: reject}\n  on_db"),
    ],
)
def test_nothing_is_derived_of_what_is_not_stated_or_turns_on_failures(old: str, new: str) -> None:
    assert old in DESIGN
    assert "db.utilization" in derived_signals(read_text(DESIGN))
    assert "db.utilization" not in derived_signals(read_text(DESIGN.replace(old, new)))


def test_what_is_stated_or_read_by_nothing_is_not_derived() -> None:
    stated = DESIGN.replace("db: {copies: 4,", "db: {copies: 4, utilization: 50 %,")
    assert derived_signals(read_text(stated)) == ("db.arrivals", "web.utilization")
    assert derived_signals(read_text(DESIGN.partition("loops:")[0])) == ()


def test_calls_in_a_circle_have_no_arrivals() -> None:
    back = DESIGN.replace("calls:\n", "calls:\n  - {from: db, to: web, per_try: 9 s, on_timeout: abandon}\n")
    assert derived_signals(read_text(back)) == ()


def test_what_is_left_out_is_told() -> None:
    design = read_text(DESIGN)
    assert list(simplifications(design, "db.utilization")) == [
        "web sends on all that comes to it",
        "db.utilization is what comes over what db can serve: it passes 1 where more comes than that",
    ]
    assert list(simplifications(design, "web.utilization"))[-1].startswith("the time in which web waits for what it")


def test_facts_have_what_comes_straight_from_workloads_alone() -> None:
    design = read_text(DESIGN)
    assert [path for path in READ if is_direct(design, path)] == []
    alone = read_text(ALONE)
    assert {path for path in READ if is_direct(alone, path)} == {"db.arrivals", "db.utilization"}
    facts = known(Subject(alone))
    assert facts.range(Name("db.utilization")) == Interval(F(10, 160), F(10, 160))
    assert facts.missing(Name("web.utilization")) == ("web.utilization",)
    again = known(Subject(read_text(ALONE.replace("from: jobs, to: db, ", "from: jobs, to: db, tries: 2, "))))
    assert again.range(Name("db.utilization")) == Interval(F(10, 160), None)  # what is sent again comes on top


def test_what_a_proof_about_such_a_signal_is_about_is_the_load_too() -> None:
    assert {"users.attempts", "web.serve", "db.copies"} <= words_of_entry(read_text(DESIGN), "look")
