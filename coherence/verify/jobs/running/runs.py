"""Runs jobs, evictors and placers as events over counts, by the steps that the proofs explore.

What is left open is drawn: who comes when, who is chosen among equals, where a placer puts a member.  Schedulers and
placers take no time; an eviction takes what the design states, member by member; an evictor acts once a period at most.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from coherence.base.number_text import render_seconds
from coherence.language.expressions.tree import Held
from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import FREES, arrivals, departures, nobody, scheduled
from coherence.verify.jobs.eviction import acts, moves
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

    Jobs come one by one within the first tenth.  Under every second seed they come all at once, before anything is
    scheduled, unless the design says how much older than others some are.
    """
    draw, state, now = Random(seed), nobody(jobs), 0.0  # noqa: S311
    spread = until / 10 if seed % 2 or any("age" in kind.attributes for kind in jobs.kinds) else 0.0
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

    Each looks at its own clock, those of one instant in the order of the design.
    """
    draw, events = Random(seed), list[tuple[float, str, str]]()  # noqa: S311
    state, constants = _filled(there, members, draw), values_at(case, there, members)
    if state is None:
        return None
    clocks = [EvictorClock(loop) for loop in case.loops]
    turns = [(clock.first, k) for k, clock in enumerate(clocks)]
    heapq.heapify(turns)
    while turns[0][0] <= until and len(events) < most and not _is_at_rest(case, there, state, constants):
        now, k = heapq.heappop(turns)
        heapq.heappush(turns, (now + clocks[k].period, k))
        evictor = case.evictors[k]
        if not clocks[k].is_due(now, holds=acts(evictor, there, state, constants)):
            continue
        options = list(moves([evictor], there, state, constants, every=True))
        if options:
            step = draw.choice(options)
            events.append((float(now), case.names[k], step.text))
            state = step.to
            clocks[k].acted = now
    return RelationRun(tuple(events), _is_at_rest(case, there, state, constants)), state


class EvictorClock:
    """Tells when an evictor looks and when it may act (s); of what is a range, the lower end.

    `first`: its first look; `acted`: when it last evicted.  Without a period it looks once a second, without a phase
    first at 0 s, as all loops do in a run.
    """

    def __init__(self, loop: EvictingLoop) -> None:
        scale, trigger = loop.loop.timescale, loop.trigger.tree
        period, phase, cooldown = (scale.period, scale.phase, scale.cooldown) if scale is not None else (None,) * 3
        self.name = loop.loop.name
        self.period = period.low if period is not None else Fraction(1)
        self.first = phase.low if phase is not None else Fraction(0)
        self.cooldown = cooldown.low if cooldown is not None else None
        self.lasts = trigger.duration if isinstance(trigger, Held) else Fraction(0)
        self.acted: Fraction | None = None
        self._since: Fraction | None = None
        stated = {"period": period, "phase": phase, "cooldown": cooldown}
        self._open = {key: value for key, value in stated.items() if value is not None and not value.exact}
        self._unstated = period is None, phase is None

    def is_due(self, now: Fraction, *, holds: bool) -> bool:
        """Decides at a look whether it acts: its trigger has held at all looks for long enough, and nothing cools."""
        if not holds:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        cools = self.cooldown is not None and self.acted is not None and now - self.acted <= self.cooldown
        return now - self._since >= self.lasts and not cools

    def notes(self) -> Iterator[str]:
        """Yields what a run takes of a clock where the design leaves it open, in words."""
        without_period, without_phase = self._unstated
        if without_period:
            yield f"{self.name} looks once a second, since no period is stated"
        if without_phase:
            yield f"{self.name} first looks at 0 s, since no phase is stated"
        yield from (f"{key} of {self.name} = {render_seconds(value.low)}" for key, value in self._open.items())


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
