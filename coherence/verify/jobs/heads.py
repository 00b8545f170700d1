"""Says which of the waiting jobs a scheduler looks at: all, or the first of each queue, which holds back the others.

SOURCE: Kueue documentation, Cluster Queue, Queueing strategy: under StrictFIFO an older workload that cannot be
admitted blocks newer ones of its queue, under BestEffortFIFO it does not.  Slurm documentation, sched/builtin: jobs
start strictly in priority order within each partition.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.verify.jobs.contest import HOLDS_ALL, HOLDS_QUEUE, Contest, NeedsError, State
from coherence.verify.jobs.job_states import is_promised, is_waiting
from coherence.verify.jobs.order_words import key


def waiting(contest: Contest, state: State) -> Iterator[tuple[int, int]]:
    """Yields (kind, what it does) of the jobs that want more members."""
    for k, jobs in enumerate(state):
        for job in dict.fromkeys(jobs):
            if is_waiting(job, contest.kinds[k].members):
                yield k, job


def contenders(contest: Contest, state: State) -> list[tuple[int, int]]:
    """Returns those that may be admitted or take now; who waits for room that was promised to it, is held by nobody.

    Raises NeedsError where the order does not say who is first of those that hold others back.
    """
    every = list(waiting(contest, state))
    if contest.blocked not in (HOLDS_QUEUE, HOLDS_ALL):
        return every
    groups: dict[str, list[tuple[int, int]]] = {}
    for k, job in every:
        groups.setdefault(contest.kinds[k].queue if contest.blocked == HOLDS_QUEUE else "", []).append((k, job))
    first = {_head(contest, state, group) for group in groups.values()}
    return [(k, job) for k, job in every if (k, job) in first or is_promised(job)]


def _head(contest: Contest, state: State, group: list[tuple[int, int]]) -> tuple[int, int]:
    """Returns the first in order.  Raises NeedsError where several are."""
    values = [key(contest, state, contest.kinds[k], job) for k, job in group]
    heads = [pair for pair, value in zip(group, values, strict=True) if value == min(values)]
    if len(heads) > 1:
        names = " and ".join(contest.kinds[k].name for k, _ in heads[:2])
        place = contest.admit.place if contest.admit is not None else None
        raise NeedsError(f"who of {names} is first (admit: ..., then largest job.waited first)", place)
    return heads[0]
