"""Whom a scheduler looks at while the first job of an order does not fit."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, State, contest
from coherence.verify.jobs.contest_steps import arrivals, contenders, nobody, scheduled, waiting
from coherence.verify.jobs.needs import NeedsError

QUEUES = """coherence: 1
components: {{gpu: {{count: 4}}}}
jobs:
  large: {{queue: a, needs: 3 gpu, priority: 9}}
  small: {{queue: a, needs: 1 gpu, priority: 5}}
  other: {{queue: b, needs: 2 gpu, priority: 1}}
  first: {{queue: c, needs: 2 gpu, priority: 10}}
order: {{admit: {admit}, blocked: "{blocked}"}}
"""


def jobs_of(blocked: str, admit: str = "largest job.priority first") -> Contest:
    text = QUEUES.format(blocked=blocked, admit=admit)
    return contest(known(Subject(read_text(text), {"<design>": text})))


def all_there(jobs: Contest) -> State:
    state = nobody(jobs)
    while coming := list(arrivals(jobs, state)):
        state = coming[0].to
    return state


def looked_at(jobs: Contest, state: State) -> list[str]:
    return [jobs.kinds[k].name for k, _ in contenders(jobs, state)]


@pytest.mark.parametrize(
    ("blocked", "names"),
    [
        ("is passed", ["large", "small", "other", "first"]),
        ("is passed, reservation", ["large", "small", "other", "first"]),
        ("holds its queue", ["large", "other", "first"]),
        ("holds all", ["first"]),
    ],
)
def test_a_first_job_is_passed_or_holds_back_its_queue_or_all(blocked: str, names: list[str]) -> None:
    jobs = jobs_of(blocked)
    assert looked_at(jobs, all_there(jobs)) == names


def test_who_is_behind_a_first_job_that_does_not_fit_is_not_admitted() -> None:
    jobs = jobs_of("holds its queue")
    (first,) = scheduled(jobs, all_there(jobs))  # the first of c has 2 gpu: the large one of a needs 3
    (second,) = scheduled(jobs, first.to)
    assert second.text.startswith("other is admitted")
    assert not scheduled(jobs, second.to)
    passed = jobs_of("is passed")
    (after,) = scheduled(passed, next(iter(scheduled(passed, all_there(passed)))).to)
    assert after.text.startswith("small is admitted")


def test_each_of_two_first_ones_that_have_room_may_be_the_first() -> None:
    jobs = jobs_of("holds its queue", "smallest queue.used first")
    assert looked_at(jobs, all_there(jobs)) == ["large", "small", "other", "first"]
    assert len(list(waiting(jobs, all_there(jobs)))) == 4


def test_who_of_two_is_first_is_asked_for_where_one_of_them_has_room() -> None:
    jobs = jobs_of("holds its queue", "smallest queue.used first")
    held = next(step.to for step in scheduled(jobs, all_there(jobs)) if step.text.startswith("first is admitted"))
    with pytest.raises(NeedsError, match="large and small"):
        contenders(jobs, held)
