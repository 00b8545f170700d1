"""Jobs that are let in and taken from for ever, beside those that end."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import contest
from coherence.verify.jobs.waiting.repeated_evictions import evicted_for_ever
from coherence.verify.jobs.waiting.starvation import starvation

COHORT = """coherence: 1
components: {{gpu: {{count: 8}}, research: {{nominal: 4 gpu}}, serving: {{nominal: 4 gpu}}}}
jobs:
  train: {{queue: research, needs: {train} gpu, leaves_after: 30 s}}
  evaluate: {{queue: serving, needs: 4 gpu, comes: {comes}, leaves_after: 30 s}}
  sweep: {{queue: research, needs: 9 gpu, comes: again, leaves_after: 30 s}}
order:
  admit: "smallest queue.used / queue.nominal first, then largest job.waited first"
  {preempt}
  victim: returns, reservation
  blocked: is passed
"""
RECLAIM = "preempt: for evaluate take job where job.queue.used > job.queue.nominal"


@pytest.mark.parametrize(
    ("train", "comes", "preempt", "names"),
    [
        (6, "again", RECLAIM, ("train",)),  # two are borrowed, and taken back for each evaluation
        (5, "again", RECLAIM, ("train",)),
        (4, "again", RECLAIM, ()),  # what is within the quota stays
        (6, "once", RECLAIM, ()),
        (6, "again", "", ()),
    ],
)
def test_what_is_borrowed_is_taken_back_for_each_job_that_comes_again(
    train: int, comes: str, preempt: str, names: tuple[str, ...]
) -> None:
    text = COHORT.format(train=train, comes=comes, preempt=preempt)
    outcome = starvation(contest(known(Subject(read_text(text), {"<design>": text}))))
    assert outcome.proof is not None
    assert evicted_for_ever(outcome.proof.contest, outcome.proof.graph) == names
