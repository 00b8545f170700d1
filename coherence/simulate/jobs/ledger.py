"""Accounts for every rank-second of a job: exclusive states that sum exactly to ranks x time.

SOURCE: the precedence of losses is that of rolled-back work first, then synchronisation, then slowness:
what a failure takes is `lost`, whatever it was while it was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from coherence.simulate.jobs.record import JobRun
from coherence.simulate.jobs.ticks import Ticks, seconds, total

STATES: Mapping[str, tuple[str, str]] = {
    "useful": ("", "computing, as long as the step needs by itself, in steps that lasted"),
    "slowed": ("B", "computing longer than the step needs: stragglers and slowdowns"),
    "paused": ("O", "standing still alone, by a local decision"),
    "waiting": ("A", "waiting at the barrier for the slowest rank"),
    "collective": ("A", "the collective's own time"),
    "checkpoint": ("R", "standing still while the state is saved"),
    "lost": ("R", "anything that a failure or a watchdog took back"),
    "detection": ("R", "from a failure until it is noticed"),
    "restart": ("R", "coming up again"),
    "idle": ("B", "down for want of a spare"),
    "unfinished": ("U", "in a step that the end of the run cut off"),
}
"""State -> (type of loss: A synchronisation, B friction, R recovery, O other, U unexplained; meaning)."""


@dataclass(frozen=True)
class JobLedger:
    """Rank-nanoseconds by state."""

    ranks: int
    wall: int  # nanoseconds
    counts: Mapping[str, int]

    def __getitem__(self, state: str) -> Fraction:
        """Rank-seconds, exact."""
        return seconds(self.counts[state])

    def share(self, state: str) -> float:
        """Share of all rank-seconds; 0 for an empty run."""
        return self.counts[state] / (self.ranks * self.wall) if self.wall else 0.0

    @property
    def total(self) -> Fraction:
        """Ranks x time in seconds: the exact sum of all states."""
        return seconds(self.ranks * self.wall)


def ledger(run: JobRun) -> JobLedger:
    """Returns the account of a run."""
    counts = dict.fromkeys(STATES, 0)
    counted, ranks, steps = kept_steps(run), run.job.ranks, run.steps
    for name, column in (
        ("useful", steps.needed), ("slowed", steps.straggling), ("slowed", steps.slowed), ("paused", steps.paused),
        ("waiting", steps.waiting), ("collective", ranks * steps.collective),
    ):  # fmt: skip
        counts[name] += total(column[counted])
    for span in run.spans:
        if span.state != "steps" or span.loss >= 0:
            counts["lost" if span.loss >= 0 else span.state] += ranks * (span.end - span.start)
    return JobLedger(ranks, run.end, counts)


def kept_steps(run: JobRun) -> npt.NDArray[np.bool_]:
    """Which steps ended and were not taken back."""
    counted = np.zeros(len(run.steps), np.bool_)
    for span in run.spans:
        if span.state == "steps" and span.loss < 0:
            counted[span.first : span.last] = True
    return counted


def step_ends(run: JobRun) -> Ticks:
    """Returns when each step ended; -1 for those that did not."""
    ends = np.full(len(run.steps), -1, np.int64)
    for span in run.spans:
        if span.state == "steps":
            ends[span.first : span.last] = span.start + np.cumsum(run.steps.length[span.first : span.last])
    return ends
