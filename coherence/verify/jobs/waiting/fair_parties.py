"""Says which parties must act some day in a fair run of jobs, and which of them a set of states would keep from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import SCHEDULER, TAKE, VAIN
from coherence.verify.jobs.job_states import holding, is_leaving, pool_of
from coherence.verify.jobs.order_words import may_take
from coherence.verify.jobs.state_graph import StateGraph, StateStep

PassState: TypeAlias = tuple[State, bool]  # the jobs, and whether a pass of the scheduler goes on
Edge: TypeAlias = tuple[PassState, StateStep[PassState]]
Turn: TypeAlias = tuple[PassState, StateStep[PassState] | None]  # a state to pass through, and the step to take there
ALL = 1  # the number of the scheduler; those of jobs follow


@dataclass(frozen=True)
class JobParty:
    """The jobs of a kind that run on one of its pools, or that are leaving it."""

    kind: int
    pool: int
    leaving: bool


@dataclass(frozen=True)
class FairParties:
    """Parties of a contest that has been explored, by number.

    One that is obliged in every state of a run from some time on acts in it again and again: else the run is not fair.
    Jobs that run act where one of them ends, or is taken away: which of several is not told apart, so each may be.
    """

    contest: Contest
    graph: StateGraph[PassState]

    @cached_property
    def jobs(self) -> tuple[JobParty, ...]:
        """Returns the parties after the scheduler, in the order of their numbers."""
        pools = [(k, pool) for k, kind in enumerate(self.contest.kinds) for pool in range(max(1, len(kind.pools)))]
        return tuple(JobParty(k, pool, leaving) for k, pool in pools for leaving in (False, True))

    @property
    def numbers(self) -> range:
        return range(ALL, ALL + 1 + len(self.jobs))

    @cached_property
    def swapped(self) -> frozenset[int]:
        """Returns the kinds of which one job may take another: then as many run as before, and not the same."""
        several = [k for k, kind in enumerate(self.contest.kinds) if kind.number > 1]
        takes = [state for (state, _), edges in self.graph.edges.items() if any(e.kind in (TAKE, VAIN) for e in edges)]
        kinds = self.contest.kinds
        return frozenset(
            k for k in several if any(max(s[k]) > 0 and may_take(self.contest, s, kinds[k], kinds[k]) for s in takes)
        )

    def is_obliged(self, party: int, moment: PassState) -> bool:
        """Decides whether a party may not stay in a state for ever without acting."""
        if party == ALL:
            return any(edge.kind in SCHEDULER for edge in self.graph.edges[moment])
        return self._present(self.jobs[party - ALL - 1], moment) > 0

    def acts(self, party: int, moment: PassState, edge: StateStep[PassState]) -> bool:
        """Decides whether a step is one of the party."""
        if party == ALL:
            return edge.kind in SCHEDULER
        own = self.jobs[party - ALL - 1]
        swaps = not own.leaving and edge.kind in (TAKE, VAIN) and own.kind in self.swapped
        return swaps or self._present(own, edge.to) < self._present(own, moment)

    def _present(self, own: JobParty, moment: PassState) -> int:
        """Returns how many jobs run on the pool, or how many members are leaving it."""
        jobs = [job for job in moment[0][own.kind] if pool_of(job) == own.pool]
        if own.leaving:
            return sum(holding(job) for job in jobs if is_leaving(job))
        return sum(job >= self.contest.kinds[own.kind].barrier for job in jobs)

    def inside(self, group: Collection[PassState]) -> Iterator[Edge]:
        """Yields the steps that stay in a set of states."""
        states = set(group)
        return ((s, e) for s in group for e in self.graph.edges[s] if e.to in states)

    def neglected(self, group: Collection[PassState]) -> int:
        """Returns a party that a run that stays in these states for ever wrongs; 0 where it may be fair to all."""
        return next((party for party in self.numbers if self.turn(party, group) is None), 0)

    def turn(self, party: int, group: Collection[PassState]) -> Turn | None:
        """Returns a state and the party's step from it, or a state (and no step) in which it is not obliged."""
        act = next(((s, e) for s, e in self.inside(group) if self.acts(party, s, e)), None)
        return act or next(((s, None) for s in group if not self.is_obliged(party, s)), None)
