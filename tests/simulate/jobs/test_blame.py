"""Causes of losses by time: each is told at the end of the window in which it struck, and nothing twice."""

from __future__ import annotations

from collections import Counter

import pytest

from coherence.simulate.jobs.blame import blame
from coherence.simulate.jobs.job import Checkpoint, Failures, JobProgram, JobRecovery, constant, uniform
from coherence.simulate.jobs.ledger import step_ends
from coherence.simulate.jobs.run import simulate
from coherence.simulate.jobs.ticks import SECOND

SPREAD = JobProgram("train", 4, uniform(1.0, 3.0), 50)


@pytest.mark.parametrize("every", [7, 10, 1000])
def test_waiting_is_told_at_the_end_of_the_window_in_which_its_step_ended(every: int) -> None:
    """A second way: each step on its own; one that ends on an edge belongs to the window before it."""
    run = simulate(SPREAD, seed=3)
    width = every * SECOND
    expected: Counter[int] = Counter()
    for end, waiting in zip(step_ends(run).tolist(), run.steps.waiting.tolist(), strict=True):
        expected[min(-(-end // width) * width, run.end)] += waiting
    told: Counter[int] = Counter()
    for entry in blame(run, every=width):
        assert entry.loss == "waiting"
        told[entry.time] += entry.amount
    assert told == expected


def test_without_windows_everything_is_told_at_the_end() -> None:
    run = simulate(SPREAD, seed=3)
    assert {entry.time for entry in blame(run)} == {run.end}
    assert sum(entry.amount for entry in blame(run)) == int(run.steps.waiting.sum())


def test_a_step_that_ends_on_an_edge_is_of_the_window_before_it() -> None:
    """Steps of 10 s, each with a collective of 1 s: they end at 11, 22, 33 s; windows of 11 s hold one each."""
    job = JobProgram("train", 2, constant(10.0), 3, collective=constant(1.0))
    entries = blame(simulate(job, seed=1), every=11 * SECOND)
    assert [(entry.time // SECOND, entry.loss, entry.amount) for entry in entries] == [
        (11 * k, "collective", 2 * SECOND) for k in (1, 2, 3)
    ]


def test_down_time_is_of_the_last_failure_before_it_and_lost_work_of_the_one_that_took_it() -> None:
    job = JobProgram(
        "train", 2, constant(10.0), 200, failures=Failures(400.0),
        checkpoint=Checkpoint(100.0, constant(1.0)), recovery=JobRecovery(constant(5.0)),
    )  # fmt: skip
    run = simulate(job, seed=4)
    assert len(run.losses) > 1
    restarts = [entry for entry in blame(run) if entry.loss == "restart"]
    assert [entry.cause for entry in restarts] == [loss.cause for loss in run.losses]
    assert all(entry.amount == 2 * 5 * SECOND for entry in restarts)
    lost = {entry.time: entry for entry in blame(run) if entry.loss == "lost"}
    assert {loss.time: loss.cause for loss in run.losses} == {at: entry.cause for at, entry in lost.items()}
    for loss in run.losses:
        taken = [span for span in run.spans if span.loss >= 0 and run.losses[span.loss] is loss]
        assert lost[loss.time].amount == 2 * sum(span.end - span.start for span in taken)
    saves = [entry for entry in blame(run) if entry.loss == "checkpoint"]
    assert {entry.cause for entry in saves} == {"save"}
