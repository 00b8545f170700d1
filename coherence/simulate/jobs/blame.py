"""Attributes every loss of a job to its true cause (rank, node, timer); the amounts sum exactly to the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coherence.simulate.jobs.ledger import kept_steps, step_ends
from coherence.simulate.jobs.record import JobRun, cause_of
from coherence.simulate.jobs.ticks import Ticks, totals


@dataclass(frozen=True)
class JobBlame:
    """`amount` rank-nanoseconds of the loss `loss` have one cause; they were lost up to `time` (nanoseconds)."""

    time: int
    loss: str
    cause: str
    amount: int


def blame(run: JobRun, *, every: int = 0) -> tuple[JobBlame, ...]:
    """Returns the causes of all that is not useful, by time: in windows of `every` nanoseconds (0: of the whole run).

    Waiting is put on the slowest rank of its step and on what made it slow; what is lost, on the failure or
    the watchdog that took it; down time, on the failure or kill before it.  SOURCE: that is the proximate
    cause; what a run without the cause would have lost is another number (run it without).
    """
    every = every or max(run.end, 1)
    causes = [*_of_steps(run, every), *_of_spans(run)]
    return tuple(sorted((b for b in causes if b.amount), key=lambda b: (b.time, b.loss, b.cause)))


def _of_steps(run: JobRun, every: int) -> Iterator[JobBlame]:
    (counted,) = np.nonzero(kept_steps(run))
    steps, job = run.steps, run.job
    windows = (step_ends(run)[counted] - 1) // every
    fixed = (
        ("slowed", "stragglers", steps.straggling), ("slowed", "slowdown", steps.slowed),
        ("collective", "collective", job.ranks * steps.collective),
    )  # fmt: skip
    for loss, cause, column in fixed:
        for (window,), amount in _grouped([windows], column[counted]):
            yield JobBlame(_close(run, window, every), loss, cause, amount)
    for (window, why, rank), amount in _grouped(
        [windows, steps.why[counted], _named(run)[counted]], steps.waiting[counted]
    ):
        yield JobBlame(_close(run, window, every), "waiting", cause_of(job, why, rank), amount)
    yield from _of_pauses(run, every)


def _of_pauses(run: JobRun, every: int) -> Iterator[JobBlame]:
    counted, ends = kept_steps(run), step_ends(run)
    for step, kind, rank, length in run.steps.pauses.tolist():
        if counted[step]:
            window = (int(ends[step]) - 1) // every
            yield JobBlame(_close(run, window, every), "paused", f"{run.job.pauses[kind].name} of rank {rank}", length)


def _named(run: JobRun) -> Ticks:
    """Returns the slowest rank where it is a cause by name; 0 where chance or a common slowdown chose it."""
    return np.where((run.steps.why == 1) | (run.steps.why > 2), run.steps.rank, 0)


def _grouped(keys: list[Ticks], values: Ticks) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields (key, exact sum) for each combination of keys."""
    if not len(values):
        return
    unique, groups = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    index: npt.NDArray[np.intp] = groups.reshape(-1)
    for key, amount in zip(unique.tolist(), totals(index, values, len(unique)), strict=True):
        yield tuple(key), amount


def _close(run: JobRun, window: int, every: int) -> int:
    return min(run.end, (window + 1) * every)


def _of_spans(run: JobRun) -> Iterator[JobBlame]:
    """Losses at the time they struck, down time at its end; the last loss before it is its cause."""
    ranks, taken = run.job.ranks, [0] * len(run.losses)
    latest, losses = -1, list(run.losses)
    for span in run.spans:
        while latest + 1 < len(losses) and losses[latest + 1].time <= span.start:
            latest += 1
        amount = ranks * (span.end - span.start)
        if span.loss >= 0:
            taken[span.loss] += amount
        elif span.state in ("detection", "restart", "idle"):
            yield JobBlame(span.end, span.state, losses[latest].cause, amount)
        elif span.state != "steps":
            yield JobBlame(span.end, span.state, {"checkpoint": "save"}.get(span.state, "end of the run"), amount)
    for loss, amount in zip(losses, taken, strict=True):
        yield JobBlame(loss.time, "lost", loss.cause, amount)
