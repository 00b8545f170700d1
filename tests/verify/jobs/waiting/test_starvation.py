"""Jobs that wait for ever: witnesses replayed step by step, and what a verdict rests on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.contest_steps import ENDS, SCHEDULER, nobody, scheduled
from coherence.verify.jobs.job_states import is_waiting
from coherence.verify.jobs.livelock import NONE, POSSIBLE, TIE, UNKNOWN
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.waiting.fair_parties import PassState
from coherence.verify.jobs.waiting.starvation import NEVER, UNDONE, is_too_large, one_by_one, starvation

SMALL_ONES = """coherence: 1
components: {{gpu: {{count: 4}}}}
jobs:
  small: {{queue: q, needs: 1 gpu, copies: {copies}, comes: again{more}}}
  large: {{queue: q, needs: 4 gpu}}
order: {{admit: {admit}, blocked: "{blocked}"}}
"""


def jobs_of(
    copies: int = 2, blocked: str = "is passed", admit: str = "largest job.waited first", more: str = ""
) -> Contest:
    text = SMALL_ONES.format(copies=copies, blocked=blocked, admit=admit, more=more)
    return contest(known(Subject(read_text(text), {"<design>": text})))


def test_a_run_on_which_a_job_starves_is_one_of_a_scheduler_that_acts_at_once() -> None:
    jobs = jobs_of(copies=3)
    outcome = starvation(jobs)
    assert (outcome.verdict, outcome.name) == (POSSIBLE, "large")
    start: PassState = (nobody(jobs), False)
    before = [start, *(edge.to for edge in outcome.way)]
    turn = [before[-1], *(edge.to for edge in outcome.cycle)]
    assert turn[0] == turn[-1]
    for (state, _), edge in zip([*before[:-1], *turn[:-1]], [*outcome.way, *outcome.cycle], strict=True):
        acts = scheduled(jobs, state)
        assert edge.kind in SCHEDULER or not acts
        assert edge.kind not in SCHEDULER or edge.to[0] in {step.to for step in acts}
    assert all(is_waiting(state[1][0], 1) for state, _ in turn)
    assert any(edge.kind == ENDS for edge in outcome.cycle)
    assert all(sum(job > 0 for job in state[0]) <= 4 for state, _ in turn)
    assert all(one != other for one, other in pairwise(turn))


def test_a_first_job_that_holds_its_queue_is_let_in() -> None:
    assert starvation(jobs_of(copies=3, blocked="holds its queue")).verdict == NONE
    assert starvation(jobs_of(copies=3, blocked="is passed, reservation")).verdict == NONE


def test_one_job_that_comes_back_before_the_scheduler_acts_is_left_open() -> None:
    assert starvation(jobs_of(copies=1, admit="smallest job.needs first")).verdict == TIE
    assert starvation(jobs_of(copies=2, admit="smallest job.needs first")).verdict == POSSIBLE


def test_more_states_than_are_tried_decide_nothing() -> None:
    assert starvation(jobs_of(), most=10).verdict == UNKNOWN


def test_an_age_of_what_comes_again_is_refused() -> None:
    with pytest.raises(NeedsError, match="no age of small"):
        starvation(jobs_of(more=", age: 1 h"))


def test_a_job_that_nothing_lets_in_waits_when_nobody_acts_any_more() -> None:
    text = """coherence: 1
components: {gpu: {count: 8}}
jobs: {any: {queue: q, needs: 3 gpu, comes: again}, huge: {needs: 9 gpu}}
limits: {quota: {counts: q.used, at_most: 2 gpu, when_full: wait}}
order: {admit: largest job.waited first, blocked: is passed}
"""
    jobs = contest(known(Subject(read_text(text), {"<design>": text})))
    assert (starvation(jobs).verdict, starvation(jobs).name) == (NEVER, "any")
    assert [is_too_large(jobs, k) for k in range(2)] == [False, True]


def test_gangs_that_each_hold_a_part_are_no_matter_of_starvation() -> None:
    text = """coherence: 1
components: {gpu: {count: 4}}
jobs:
  a: {needs: 1 gpu, copies: 3, barrier: all}
  b: {needs: 1 gpu, copies: 3, barrier: all}
  c: {needs: 1 gpu, comes: again}
order: {admit: smallest job.held first, blocked: is passed}
"""
    assert starvation(contest(known(Subject(read_text(text), {"<design>": text})))).verdict == UNDONE


def test_jobs_alike_are_told_apart_where_one_may_pass_another() -> None:
    assert len(one_by_one(jobs_of(copies=3)).kinds) == 2
    assert len(one_by_one(jobs_of(copies=3, admit="smallest job.waited first")).kinds) == 4
