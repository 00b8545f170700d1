"""Runs of jobs whose members are admitted one by one or together, with each key that says so changed."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.verify.jobs.running.run_samples import RunSample, relation_samples

GANGS = """coherence: 1
components:
  gpu: {count: 8}
jobs:
  first: {needs: 1 gpu, copies: 8, barrier: all}
  second: {needs: 1 gpu, copies: 8, barrier: all}
order: {admit: smallest job.held first}
"""
WHOLE = GANGS.replace("barrier: all", "gang: all")
APART, AT_ONCE = 0, 1  # under seed 1 jobs come one by one, under seed 2 all at once


def samples(text: str, seeds: tuple[int, ...] = (1, 2)) -> tuple[RunSample, ...]:
    shown = relation_samples(read_text(text), seeds, 600.0)
    assert not shown.refused
    return shown.samples


def figures(text: str, run: int) -> tuple[float, float]:
    """Returns the admissions of a run, and the jobs that wait at its end."""
    sample = samples(text)[run]
    return sample["jobs", "admissions", ""], sample["jobs", "waiting at the end", ""]


def test_jobs_that_come_at_once_hold_half_each_and_gangs_do_not() -> None:
    """COH228 calls the first a certain conflict and proves the second; a job that comes alone takes all eight."""
    assert figures(GANGS, APART) == (8, 1)
    assert figures(GANGS, AT_ONCE) == (8, 2)
    assert figures(WHOLE, APART) == figures(WHOLE, AT_ONCE) == (1, 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        (GANGS, "count: 8", "count: 16", (16, 0)),
        (GANGS, "count: 8", "count: 9", (9, 2)),
        (GANGS, "smallest job.held first", "largest job.held first", (8, 1)),
        (GANGS, "second: {needs: 1 gpu, copies: 8", "second: {needs: 1 gpu, copies: 2", (8, 1)),
        (GANGS, "1 gpu", "2 gpu", (4, 2)),
        (GANGS, "second: {needs: 1 gpu, copies: 8, barrier", "second: {needs: 1 gpu, copies: 8, gang", (8, 1)),
        (WHOLE, "count: 8", "count: 7", (0, 2)),
        (WHOLE, "count: 8", "count: 16", (2, 0)),
        (WHOLE, "gang: all", "gang: 4", (2, 2)),
    ],
)
def test_each_key_of_jobs_moves_the_run(text: str, old: str, new: str, after: tuple[float, float]) -> None:
    assert old in text
    assert figures(text.replace(old, new), AT_ONCE) == after


def test_jobs_of_stated_ages_come_one_by_one() -> None:
    older = GANGS.replace("first: {", "first: {age: 2 h, ").replace("second: {", "second: {age: 1 h, ")
    assert figures(older, APART) == figures(older, AT_ONCE) == (8, 1)
