"""Reads the clocks of time limits, and records what a limit cut short.

The limits of a question, of the prover and of a whole run are seconds of the processor, so that a busy machine changes
no verdict; those of the solver are counts of its steps; those of what waits for servers and other processes are seconds
of the wall.  Whoever asks how much is left and is told that nothing is left, and the solver where the wall ends it,
records it for the `recorded_cuts` block around: its answer depends on the machine.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Cuts:
    """Whether a time limit has ended a search since the block began."""

    happened: bool = False


_RECORDS: ContextVar[tuple[Cuts, ...]] = ContextVar("records", default=())


class recorded_cuts:  # noqa: N801  (written like a function of contextlib)
    """Yields the record of the block; a block inside it writes to both."""

    __slots__ = ("token",)

    def __enter__(self) -> Cuts:
        cuts = Cuts()
        self.token = _RECORDS.set((*_RECORDS.get(), cuts))
        return cuts

    def __exit__(self, *_raised: object) -> None:
        _RECORDS.reset(self.token)


def record_cut() -> None:
    """Records that a time limit ended a search."""
    for cuts in _RECORDS.get():
        cuts.happened = True


def now() -> float:
    """Returns the processor seconds of this thread; on a machine that is not shared, seconds."""
    return time.thread_time()


def left_until(end: float) -> float:
    """Returns the processor seconds until `end`; that none are left is recorded."""
    left = end - now()
    if left <= 0:
        record_cut()
    return left


def is_over(end: float) -> bool:
    """Returns whether `end`, in processor seconds, has come, and records that it has."""
    return left_until(end) <= 0


def part_until(end: float, part: float) -> float:
    """Returns the end, in processor seconds, of a part of the time until `end`; that none is left is recorded."""
    return now() + left_until(end) * part
