"""Evictions that take time, written a second time: every job by its name, the queue as a list, members one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from tests.verify.jobs.naive_jobs import reachable, some_state_never_rests

Holders = tuple[tuple[str, int], ...]  # (job, members that it holds), by name


@dataclass(frozen=True)
class SlowState:
    """Who waits, the first to come in front; who holds members, who is leaving and holds some, who has a promise."""

    queue: tuple[str, ...] = ()
    running: Holders = ()
    leaving: Holders = ()
    promised: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    @property
    def here(self) -> set[str]:
        return {*self.queue, *dict(self.running), *dict(self.leaving), *self.gone}


@dataclass(frozen=True)
class SlowJob:
    queue: str
    each: int
    members: int
    priority: int
    age: int
    lasts: bool

    @property
    def need(self) -> int:
        return self.each * self.members


@dataclass(frozen=True)
class SlowJobs:
    """Jobs that are admitted whole; `order` and `may` are plain functions of a state."""

    jobs: dict[str, SlowJob]
    capacity: int
    order: Callable[[SlowJobs, SlowState, str], Any]
    may: Callable[[SlowJobs, SlowState, str, str], bool]
    reserved: bool = False
    returns: bool = True
    head: bool = False
    by_age: bool = False
    by_queue: bool = False

    def used(self, state: SlowState, queue: str | None = None) -> int:
        return sum(self.jobs[j].each * n for j, n in state.running if queue is None or self.jobs[j].queue == queue)

    def open(self, state: SlowState) -> int:
        """What neither a running job holds nor a promise keeps, once all that leave have gone."""
        return self.capacity - self.used(state) - sum(self.jobs[j].need for j in state.promised)

    def fits(self, state: SlowState, job: str) -> bool:
        held = self.used(state) + sum(self.jobs[j].each * n for j, n in state.leaving)
        mine = job in state.promised or self.open(state) >= self.jobs[job].need
        return mine and self.capacity - held >= self.jobs[job].need

    def start(self, state: SlowState, job: str) -> SlowState:
        return replace(
            state, queue=tuple(j for j in state.queue if j != job), promised=state.promised - {job},
            running=tuple(sorted([*state.running, (job, self.jobs[job].members)])),
        )  # fmt: skip

    def back(self, state: SlowState, job: str) -> SlowState:
        if not self.returns:
            return replace(state, gone=state.gone | {job})
        return replace(state, queue=(job, *state.queue) if self.head else (*state.queue, job))

    def stop(self, state: SlowState, job: str) -> SlowState:
        rest = tuple(pair for pair in state.running if pair[0] != job)
        if not self.jobs[job].lasts:
            return self.back(replace(state, running=rest), job)
        leaving = (*state.leaving, (job, self.jobs[job].members))
        return replace(state, running=rest, leaving=tuple(sorted(leaving)))

    def following(self, state: SlowState) -> list[SlowState]:
        away = set(self.jobs) - state.here
        if self.by_age and away:
            away = {j for j in away if self.jobs[j].age == max(self.jobs[a].age for a in away)}
        found = [replace(state, queue=(*state.queue, job)) for job in away]
        found += [self.one_member_goes(state, job) for job, _ in state.leaving]
        able = [job for job in state.queue if self.fits(state, job)]
        if able:
            least = min(self.order(self, state, job) for job in able)
            return found + [self.start(state, j) for j in able if self.order(self, state, j) == least]
        return found + [after for taker in state.queue for after in self.takes(state, taker)]

    def one_member_goes(self, state: SlowState, job: str) -> SlowState:
        left = dict(state.leaving)[job] - 1
        rest = [pair for pair in state.leaving if pair[0] != job]
        if left:
            return replace(state, leaving=tuple(sorted([*rest, (job, left)])))
        return self.back(replace(state, leaving=tuple(rest)), job)

    def takes(self, state: SlowState, taker: str) -> Iterator[SlowState]:
        need = self.jobs[taker].need
        if taker in state.promised or (need <= self.capacity and self.open(state) >= need):
            return
        for order in permutations(dict(state.running)):
            here = state
            for victim in order:
                same = self.jobs[victim].queue == self.jobs[taker].queue
                if (self.by_queue and same) or not self.may(self, here, taker, victim):
                    break
                here = self.stop(here, victim)
                if need > self.capacity:
                    yield here
                    break
                if self.open(here) >= need:
                    yield self.kept(here, taker) if self.reserved else here
                    break

    def kept(self, state: SlowState, taker: str) -> SlowState:
        if self.fits(state, taker):
            return self.start(state, taker)
        return replace(state, promised=state.promised | {taker})

    def verdict(self) -> str:
        """Returns `none`, `certain` (some state never rests), or `escapes`."""
        graph = reachable([SlowState()], self.following)
        if not any(self.lasts_for_ever(graph, states) for states in circles(graph)):
            return "none"
        return "certain" if some_state_never_rests(graph) else "escapes"

    def lasts_for_ever(self, graph: dict[Any, set[Any]], states: set[SlowState]) -> bool:
        """Can a run stay in these states although nobody leaves for ever?"""
        return all(
            any(
                job not in dict(state.leaving)
                or any(to in states and dict(to.leaving).get(job) != dict(state.leaving)[job] for to in graph[state])
                for state in states
            )
            for job in self.jobs
        )


def circles(graph: dict[Any, set[Any]]) -> Iterator[set[Any]]:
    """Sets of states each of which leads to every other (Kosaraju), those with a step in them."""
    before: dict[Any, set[Any]] = {state: set() for state in graph}
    for state, after in graph.items():
        for to in after:
            before[to].add(state)
    seen: set[Any] = set()
    finished: list[Any] = []
    for root in graph:
        stack = [(root, False)]
        while stack:
            state, done = stack.pop()
            if done:
                finished.append(state)
            elif state not in seen:
                seen.add(state)
                stack += [(state, True), *((to, False) for to in graph[state] if to not in seen)]
    taken: set[Any] = set()
    for root in reversed(finished):
        group, waiting = set(), [root]
        while waiting:
            state = waiting.pop()
            if state not in taken:
                taken.add(state)
                group.add(state)
                waiting += before[state]
        if len(group) > 1 or any(state in graph[state] for state in group):
            yield group
