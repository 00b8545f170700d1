"""Encodes what one job is doing as a whole number, so that states of many jobs stay small and can be sorted.

0 and above: it waits or runs, and holds so many members (from `POOL` on: on another of its pools).  `AWAY`,
`GONE`: it has not come yet; it has ended or left.
Below those stand three more phases: it is leaving and still holds members, its room is promised to it while others
leave, and it waits at a place of the queue (where the order reads how long jobs have waited).
"""

from __future__ import annotations

from functools import cache

AWAY, GONE = -1, -2
LEAVING, PROMISED, QUEUED = range(3)
CODED_BELOW = -3  # the greatest number of the three further phases
POOL = 4096  # more than the members of a job: they and the pool where they lie are one number
PHASES, RANKS = 3, 4096  # a rank is a place of the queue, from 1


def coded(phase: int, *, held: int = 0, rank: int = 0) -> int:
    """Returns the number of a job in one of the three phases."""
    return CODED_BELOW - (phase + PHASES * (rank + RANKS * held))


@cache
def decoded(value: int) -> tuple[int, int, int]:
    """Returns (phase, members held and their pool, rank); phase -1: a plain number, which is both."""
    if value > CODED_BELOW:
        return -1, max(value, 0), 0
    rest, phase = divmod(CODED_BELOW - value, PHASES)
    held, rank = divmod(rest, RANKS)
    return phase, held, rank


def holding(value: int) -> int:
    """Returns how many members hold their needs, those included that are leaving."""
    return lying(value) % POOL


def pool_of(value: int) -> int:
    """Returns the pool on which a job holds its needs or room is kept for it, counted among those it may use."""
    return lying(value) // POOL


def lying(value: int) -> int:
    """Returns the members that hold their needs and their pool, as one number."""
    return value if value > 0 else decoded(value)[1] if value < -2 else 0


def is_leaving(value: int) -> bool:
    """Decides whether a job is being evicted and holds room still."""
    return value < -2 and decoded(value)[0] == LEAVING


def is_promised(value: int) -> bool:
    """Decides whether room is kept for a job that waits."""
    return value < -2 and decoded(value)[0] == PROMISED


def is_waiting(value: int, members: int) -> bool:
    """Decides whether a job wants more members than it holds."""
    return 0 <= value < members or (value < -2 and decoded(value)[0] != LEAVING)


def rank_of(value: int) -> int:
    """Returns the place in the queue, from 1; 0 where it has none."""
    return decoded(value)[2] if value < -2 else 0
