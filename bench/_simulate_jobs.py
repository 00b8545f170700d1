"""Synchronous jobs: speed of barriers beside SimPy, and run times beside the exact formula.

The peer runs the same job, one process for each rank and an event for the barrier, in the same run.
SOURCE: expected run time with exponential failures, Daly 2006, as in `jobs.closed_forms`.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Generator, Iterator
from typing import Any

from bench.harness import Row, interleaved
from coherence.simulate.jobs.closed_forms import best_interval, expected_runtime, normal_excess
from coherence.simulate.jobs.job import Checkpoint, Failures, JobProgram, JobRecovery, Law, constant
from coherence.simulate.jobs.ledger import ledger
from coherence.simulate.jobs.run import simulate

RANKS, STEPS = 256, 400
SAVE, MTBF, RESTART, RUNS = 30.0, 3600.0, 120.0, 60


def rows() -> Iterator[Row]:
    """The rows of jobs."""
    speed = interleaved({"ours": _ours, "simpy": _simpy}, repeats=3)
    what = f"steps per second of {RANKS} normal ranks at a barrier, waits accounted for"
    yield Row(what, speed["simpy"] / speed["ours"], ">= 20", "times", "SimPy, one process for each rank")
    run = simulate(_barrier(4000), seed=1)
    slowest = statistics.fmean(run.steps.slowest.tolist()) / 1e9
    truth = 10 * (1 + 0.05 * normal_excess(RANKS))
    yield Row("length of its steps", abs(slowest / truth - 1), "<= 0.001", "relative", "order statistics")
    account = ledger(run)
    off = sum(account.counts.values()) - account.ranks * account.wall
    yield Row("rank-nanoseconds that the ledger misses", float(abs(off)), "== 0", "ns")
    interval = round(best_interval(SAVE, MTBF))
    yield Row(f"run time with failures, {RUNS} runs: distance from the truth in half widths of the 99 % interval",
              _distance(interval), "<= 1", "half widths", "Daly's exact formula")  # fmt: skip


def _barrier(steps: int) -> JobProgram:
    return JobProgram("train", RANKS, Law("normal", 10.0, 0.05), steps)


def _ours() -> None:
    ledger(simulate(_barrier(STEPS), seed=1))


def _simpy() -> None:
    import simpy

    world, draws, waited = simpy.Environment(), random.Random(1), [0.0]  # noqa: S311  (a simulation)
    released = [world.event() for _ in range(STEPS)]
    there = [0] * STEPS

    def rank() -> Generator[Any, Any, None]:
        for step in range(STEPS):
            yield world.timeout(max(0.0, draws.gauss(10.0, 0.5)))
            there[step] += 1
            began = world.now
            if there[step] == RANKS:
                released[step].succeed()
            yield released[step]
            waited[0] += world.now - began

    for _ in range(RANKS):
        world.process(rank())
    world.run()


def _distance(interval: int) -> float:
    job = JobProgram(
        "train", 8, constant(1.0), interval * 40, checkpoint=Checkpoint(interval, constant(SAVE)),
        failures=Failures(8 * MTBF), recovery=JobRecovery(constant(RESTART)),
    )  # fmt: skip
    times = [simulate(job, seed=seed).seconds for seed in range(RUNS)]
    truth = expected_runtime(work=job.work, interval=interval, save=SAVE, mtbf=MTBF, restart=RESTART)
    half = 2.66 * statistics.stdev(times) / math.sqrt(RUNS)  # Student, 59 degrees of freedom
    return abs(statistics.fmean(times) - truth) / half
