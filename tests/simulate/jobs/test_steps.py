"""Rows of steps: every sum of their docstring, and which watchdog kills which step."""

from __future__ import annotations

import dataclasses

import numpy as np

from coherence.simulate.jobs.job import (
    JobProgram,
    JobRecovery,
    RankPause,
    Slowdowns,
    Stragglers,
    Watchdog,
    constant,
    uniform,
)
from coherence.simulate.jobs.steps import Stream
from coherence.simulate.jobs.ticks import SECOND

JOB = JobProgram(
    "train", 4, uniform(1.0, 3.0), 500, stragglers=Stragglers((2,), 1.5), collective=constant(0.25),
    slowdowns=Slowdowns(2.0, every=100.0, lasts=20.0), pauses=(RankPause("gc", 50.0, uniform(0.5, 2.0)),),
)  # fmt: skip

BACK = JobRecovery(constant(5.0))


def test_what_ranks_need_lose_and_wait_is_all_of_their_time() -> None:
    steps = Stream(JOB, 3).block()
    parts = steps.needed + steps.straggling + steps.slowed + steps.paused + steps.waiting + 4 * steps.collective
    assert np.array_equal(parts, 4 * steps.length)
    assert np.array_equal(steps.length, steps.slowest + steps.collective)
    assert (steps.first <= steps.slowest).all()
    for column in ("needed", "straggling", "slowed", "paused", "waiting"):
        assert (getattr(steps, column) >= 0).all()
        assert getattr(steps, column).any()


def test_pauses_are_rows_of_the_sum() -> None:
    steps = Stream(JOB, 3).block()
    paused = np.zeros(len(steps), np.int64)
    np.add.at(paused, steps.pauses[:, 0], steps.pauses[:, 3])
    assert np.array_equal(paused, steps.paused)


def watched(*dogs: Watchdog) -> tuple[set[int], set[int], int]:
    """Returns the kills and timers of a job whose steps need 1 s, and 10 s of one rank that straggles."""
    job = JobProgram("train", 2, constant(1.0), 50, stragglers=Stragglers((1,), 10.0), recovery=BACK, watchdogs=dogs)
    steps = Stream(job, 1).block()
    return set(steps.kill.tolist()), set(steps.timer.tolist()), len(steps)


def test_a_step_that_no_watchdog_kills_says_so() -> None:
    """The first rank waits for 9 s."""
    assert watched(Watchdog("nccl", 9.0, 9.0))[:2] == ({-1}, {-1})
    assert watched()[:2] == ({-1}, {-1})


def test_the_first_watchdog_whose_patience_ends_kills() -> None:
    kills, timers, _ = watched(Watchdog("slow", 8.0, 8.0), Watchdog("quick", 5.0, 5.0), Watchdog("late", 20.0, 20.0))
    assert kills == {6 * SECOND}  # five seconds after the first rank is there
    assert timers == {1}


def test_patience_is_drawn_between_its_ends() -> None:
    kills, timers, count = watched(Watchdog("nccl", 2.0, 6.0))
    assert timers == {0}
    assert len(kills) > count // 2
    assert 3 * SECOND <= min(kills) < max(kills) <= 7 * SECOND


def test_the_same_seed_draws_the_same_steps() -> None:
    one, other, third = (Stream(JOB, seed).block() for seed in (5, 5, 6))
    same = [np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one)]
    assert all(same)
    assert not np.array_equal(one.length, third.length)
