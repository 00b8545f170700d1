"""Runs jobs, evictors and placers as events over counts, by the steps that the proofs explore.

What is left open is drawn: who comes when, who is chosen among equals, where a placer puts a member.  Schedulers and
placers take no time; an eviction takes what the design states, member by member; an evictor acts once a period.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import FREES, arrivals, departures, nobody, scheduled
from coherence.verify.jobs.eviction import moves
from coherence.verify.jobs.eviction_case import EvictingLoop, EvictionCase, values_at
from coherence.verify.jobs.fair_cycles import goes
from coherence.verify.jobs.job_states import holding, is_leaving
from coherence.verify.jobs.placing import Counts, empty, places
from coherence.verify.jobs.sites import Cluster
from coherence.verify.jobs.state_graph import StateStep

MOST_EVENTS = 1000
COMING = -1


@dataclass(frozen=True)
class RelationRun:
    """What happened, in order: (time in seconds, who acts, in words); and whether nobody acts any more at its end."""

    events: tuple[tuple[float, str, str], ...]
    at_rest: bool

    def count(self, *kinds: str) -> int:
        """Returns how many events there were of some kinds."""
        return sum(kind in kinds for _, kind, _ in self.events)


def job_run(jobs: Contest, *, seed: int, until: float, most: int = MOST_EVENTS) -> tuple[RelationRun, State]:
    """Returns a run of jobs for so many seconds, and the state at its end.

    Jobs come one by one within the first tenth, and under every second seed all at once, before anything is scheduled.
    """
    draw, state, now = Random(seed), nobody(jobs), 0.0  # noqa: S311
    spread = until / 10 if seed % 2 else 0.0
    coming = [(draw.uniform(0, spread), COMING) for kind in jobs.kinds for _ in range(kind.number)]
    events, timed = list[tuple[float, str, str]](), coming
    heapq.heapify(timed)
    while len(events) < most:
        comes = bool(timed) and timed[0] == (now, COMING)
        acts = [] if comes else scheduled(jobs, state)
        if not acts and (not timed or timed[0][0] > until):
            return RelationRun(tuple(events), not timed), state
        if acts:
            step = draw.choice(acts)
        else:
            now, k = heapq.heappop(timed)
            step = draw.choice(_at_a_time(jobs, state, k))
        for after, kind in _new_ends(jobs, state, step, draw):
            heapq.heappush(timed, (now + after, kind))
        events.append((now, step.kind, step.text))
        state = step.to
    return RelationRun(tuple(events), at_rest=False), state


def _at_a_time(jobs: Contest, state: State, k: int) -> list[StateStep[State]]:
    """Returns the jobs that may come now, or the members of a kind that may end now."""
    if k == COMING:
        return list(arrivals(jobs, state))
    return [edge for edge in departures(jobs, state) if goes(edge, state, k)]


def _new_ends(jobs: Contest, state: State, step: StateStep[State], draw: Random) -> Iterator[tuple[float, int]]:
    """Yields after what time each member ends that an eviction has just begun to end, with its kind."""
    if step.kind == FREES:
        return
    for k, kind in enumerate(jobs.kinds):
        begun = Counter(filter(is_leaving, step.to[k])) - Counter(filter(is_leaving, state[k]))
        low, high = kind.leaves or (Fraction(0), Fraction(0))
        for job in begun.elements():
            for _ in range(holding(job)):
                yield draw.uniform(float(low), float(high)), k


def eviction_run(
    case: EvictionCase, there: Cluster, members: int, *, seed: int, until: float, most: int = MOST_EVENTS
) -> tuple[RelationRun, Counts] | None:
    """Returns a run of evictors and their placer; None where the placer finds no place for all members first.

    Who acts is looked at once a period of each (once a second where none is stated), in the order of the design.
    """
    draw, events = Random(seed), list[tuple[float, str, str]]()  # noqa: S311
    state, constants = _filled(there, members, draw), values_at(case, there, members)
    if state is None:
        return None
    periods = [period_of(loop) for loop in case.loops]
    turns = [(period, k) for k, period in enumerate(periods)]
    heapq.heapify(turns)
    while turns[0][0] <= until and len(events) < most and not _is_at_rest(case, there, state, constants):
        now, k = heapq.heappop(turns)
        heapq.heappush(turns, (now + periods[k], k))
        options = list(moves([case.evictors[k]], there, state, constants, every=True))
        if options:
            step = draw.choice(options)
            events.append((now, case.names[k], step.text))
            state = step.to
    return RelationRun(tuple(events), _is_at_rest(case, there, state, constants)), state


def period_of(loop: EvictingLoop) -> float:
    """Returns how often an evictor looks (s): once a second where the design does not say."""
    scale = loop.loop.timescale
    return float(scale.period.low) if scale is not None and scale.period is not None else 1.0


def _is_at_rest(case: EvictionCase, there: Cluster, state: Counts, constants: Mapping[str, Fraction]) -> bool:
    return not list(moves(case.evictors, there, state, constants))


def _filled(there: Cluster, members: int, draw: Random) -> Counts | None:
    """Returns a placement of all members, one after the other as the placer prefers."""
    state = empty(there)
    for _ in range(members):
        options = list(places(there, state, wishes=True, every=True))
        if not options:
            return None
        state = draw.choice(options).to
    return state
