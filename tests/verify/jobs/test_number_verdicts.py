"""Verdicts for each number of like jobs, and what holds above the last one that was tried."""

from __future__ import annotations

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.livelock import CERTAIN, POSSIBLE, livelock
from coherence.verify.jobs.number_verdicts import NumberVerdicts, by_number
from coherence.verify.patterns.placement import preempt_vs_admit

EQUALS = """coherence: 1
components: {{gpu: {{count: 4}}}}
jobs:
  one: {{needs: 2 gpu, priority: 1, copies: {copies}{age}}}
order:
  admit: largest priority first
  preempt: for job take other where other.priority <= job.priority
  victim: returns, no reservation
"""


def jobs_of(text: str) -> Contest:
    return contest(known(Subject(read_text(text), {"<design>": text})))


def decided(jobs: Contest, most: int) -> tuple[str, int]:
    outcome = livelock(jobs, most=most)
    return outcome.verdict, len(outcome.graph.edges)


def test_a_conflict_stays_one_for_every_larger_number_of_jobs() -> None:
    text = EQUALS.format(copies=2, age="")
    (row,) = by_number(jobs_of(text), decided)
    assert row == NumberVerdicts("one", ((1, "none"), (2, "none"), (3, "certain")), onward=True)
    (finding,) = preempt_vs_admit.ask(Subject(read_text(text), {"<design>": text}))
    assert finding.verdict is Verdict.PROVED
    words = "one: none at 1 to 2, conflict at 3, at 4 and above by some choices at least"
    assert words in finding.message
    for number in (4, 5, 6):
        assert livelock(jobs_of(EQUALS.format(copies=number, age=""))).verdict in (CERTAIN, POSSIBLE)


def test_jobs_that_come_by_age_say_nothing_of_larger_numbers() -> None:
    (row,) = by_number(jobs_of(EQUALS.format(copies=2, age=", age: 1 h")), decided)
    assert not row.onward
    assert row.render() == "none at 1 to 2, conflict at 3 to 4 (checked up to 4)"


def test_what_is_open_at_a_number_is_no_conflict_there() -> None:
    row = NumberVerdicts("small", ((1, "none"), (2, "tie"), (3, "possible")), onward=True)
    assert row.render() == "none at 1, open at 2, conflict by some choices at 3 and above"
