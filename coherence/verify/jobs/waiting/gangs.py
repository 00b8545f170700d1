"""Decides whether jobs whose members wait for each other can come to a standstill, each holding a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import endings, nobody, steps
from coherence.verify.jobs.job_kinds import JobKind
from coherence.verify.jobs.job_states import AWAY, holding, is_waiting
from coherence.verify.jobs.livelock import CERTAIN, NONE, POSSIBLE, UNKNOWN
from coherence.verify.jobs.state_graph import StateGraph, StateStep, explore, trapped, way_to

MOST_STATES, MOST_SWEPT, BOUND = 30_000, 40_000, 50
NEVER = "never"


@dataclass(frozen=True)
class Standstill:
    """The verdict: `never` = one alone needs more than there is; else `stuck` is the state in which all wait.

    `certain`: from some reachable state every choice ends so.  `possible`: some choices do.
    """

    verdict: str
    graph: StateGraph[State]
    stuck: State | None = None
    way: tuple[StateStep[State], ...] = ()


def gangs(contest: Contest) -> list[JobKind]:
    """Returns the kinds whose members wait for each other."""
    return [kind for kind in contest.kinds if kind.members > 1 and kind.barrier > 1]


def standstill(contest: Contest, *, most: int = MOST_STATES) -> Standstill:
    """Explores admissions, preemptions and endings; a job ends only when all it waits for is there."""
    graph = explore([nobody(contest)], lambda state: list(_steps(contest, state)), most=most)
    if not graph.complete:
        return Standstill(UNKNOWN, graph)
    stuck = [state for state in graph.quiet if waits(contest, state)]
    if not stuck:
        return Standstill(NONE, graph)
    still = set(stuck)
    good = StateGraph(
        {s: (e if s not in still else (StateStep("stay", "", s),)) for s, e in graph.edges.items()},
        graph.came,
        True,
    )
    verdict = CERTAIN if _forced(trapped(good), contest) else POSSIBLE
    first = max(stuck, key=lambda state: _least_part(contest, state))
    if any(contest.is_too_large(kind, kind.barrier) for kind in gangs(contest)):
        verdict = NEVER
    return Standstill(verdict, graph, first, tuple(way_to(graph, first)))


def _least_part(contest: Contest, state: State) -> Fraction:
    """Returns the smallest share that a job holds of what it waits for: the plainest deadlock has it largest."""
    pairs = zip(contest.kinds, state, strict=True)
    return min(
        (Fraction(held, k.barrier) for k, jobs in pairs for held in jobs if 0 <= held < k.barrier), default=Fraction(0)
    )


def _forced(caught: list[State], contest: Contest) -> bool:
    """Decides whether a standstill is certain from a state in which no job holds a part of its members yet."""
    return any(not waits(contest, state) and _undecided(contest, state) for state in caught)


def _undecided(contest: Contest, state: State) -> bool:
    """Decides whether no waiting job holds a part of its members yet."""
    return all(
        held <= 0 or held >= kind.barrier for kind, jobs in zip(contest.kinds, state, strict=True) for held in jobs
    )


def _steps(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    yield from steps(contest, state)
    yield from endings(contest, state)


def waits(contest: Contest, state: State) -> bool:
    """Decides whether some job holds a part of what it waits for (or nothing, where it fits nowhere)."""
    for kind, jobs in zip(contest.kinds, state, strict=True):
        waiting = [holding(job) for job in jobs if is_waiting(job, kind.members)]
        if kind.barrier > 1 and any(0 < held < kind.barrier for held in waiting):
            return True
        if kind.barrier > 1 and 0 in waiting and contest.is_too_large(kind, kind.barrier):
            return True
    return False


def held_by(contest: Contest, state: State) -> str:
    """Renders who holds how much: `a: 4 of 8, b: 4 of 8`."""
    parts = []
    for kind, jobs in zip(contest.kinds, state, strict=True):
        names = kind.jobs if len(kind.jobs) == len(jobs) else (kind.name,) * len(jobs)
        parts += [
            f"{name}: {holding(job)} of {kind.members}"
            for name, job in zip(names, jobs, strict=True)
            if job > AWAY or is_waiting(job, kind.members)
        ]
    return ", ".join(parts)


def as_gangs(contest: Contest) -> Contest:
    """Returns the contest with every waiting job admitted whole or not at all."""
    whole = (replace(kind, chunk=kind.barrier) if kind.barrier > 1 else kind for kind in contest.kinds)
    return replace(contest, kinds=tuple(whole))


def sweep(contest: Contest, resource: str) -> tuple[tuple[int, str], ...]:
    """Returns the verdict for each whole amount of the resource up to 50 or until everything fits at once.

    Where parts of it are for some jobs only, no amount of it says who gets which part: none.
    """
    if contest.pools:
        return ()
    total = contest.total(resource)
    bound, budget = min(int(total), max(BOUND, int(contest.capacity[resource]) + 1)), MOST_SWEPT
    verdicts: list[tuple[int, str]] = []
    for amount in range(1, bound + 1):
        less = replace(contest, capacity={**contest.capacity, resource: amount})
        if any(less.is_too_large(kind, kind.barrier) for kind in gangs(less)):
            verdicts.append((amount, NEVER))
            continue
        outcome = standstill(less, most=max(budget, 1))
        budget -= len(outcome.graph.edges)
        if budget <= 0:
            break
        verdicts.append((amount, outcome.verdict))
    return tuple(verdicts)
