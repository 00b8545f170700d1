"""Defines the record of a run of a job: spans that tile its time, losses, a trace.  Times in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

from coherence.simulate.jobs.job import JobProgram
from coherence.simulate.jobs.steps import PAUSE, SLOWDOWN, SPREAD, STRAGGLER, Steps
from coherence.simulate.jobs.ticks import seconds

AT_RISK = ("steps", "cut", "checkpoint")  # what a failure takes, where it is not safe


@dataclass(slots=True)
class JobSpan:
    """The job did one thing from `start` to `end` (nanoseconds): steps `first` to `last` - 1, or `state`.

    `state`: steps, cut (a step that did not end), checkpoint, detection, restart, idle, unfinished.
    `done`: steps the job had behind it at `start`.  `loss`: which loss took it (-1: none).
    """

    start: int
    end: int
    state: str
    done: int
    first: int = 0
    last: int = 0
    loss: int = -1


@dataclass(frozen=True)
class JobLoss:
    """The work since the last safe save went at `time`, because of `cause`."""

    time: int
    cause: str


@dataclass(frozen=True)
class Happening:
    """One entry of the trace of actions: failed, killed, noticed, restarted, saved, replaced."""

    time: int
    what: str
    of: str


@dataclass(frozen=True)
class JobRun:
    """What a run did.  Times in nanoseconds from its start; `reason` says why it ended."""

    job: JobProgram
    seed: int
    end: int
    done: int
    reason: str
    spans: tuple[JobSpan, ...]
    steps: Steps
    losses: tuple[JobLoss, ...]
    trace: tuple[Happening, ...]

    @property
    def finished(self) -> bool:
        return self.reason == "finished"

    @property
    def seconds(self) -> float:
        """Wall-clock time of the run."""
        return float(seconds(self.end))


def cause_of(job: JobProgram, why: int, rank: int) -> str:
    """Returns what made the slowest rank of a step slow, in words."""
    fixed = {SPREAD: "spread of the steps", STRAGGLER: f"straggler rank {rank}", SLOWDOWN: "slowdown"}
    return fixed.get(why) or f"{job.pauses[why - PAUSE].name} of rank {rank}"
