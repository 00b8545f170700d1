"""Says which parties must act some day in a fair run of jobs, and which of them a set of states would keep from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import FREES, SCHEDULER, TAKE, VAIN
from coherence.verify.jobs.fair_cycles import has_gone
from coherence.verify.jobs.job_states import is_leaving
from coherence.verify.jobs.order_words import may_take
from coherence.verify.jobs.state_graph import StateGraph, StateStep

PassState: TypeAlias = tuple[State, bool]  # the jobs, and whether a pass of the scheduler goes on
Edge: TypeAlias = tuple[PassState, StateStep[PassState]]
Turn: TypeAlias = tuple[PassState, StateStep[PassState] | None]  # a state to pass through, and the step to take there
ALL = 1  # the scheduler; of kind k, 2 + 2 k are the jobs that run, and 3 + 2 k those that are leaving


@dataclass(frozen=True)
class FairParties:
    """Parties of a contest that has been explored, by number.

    One that is obliged in every state of a run from some time on acts in it again and again: else the run is not fair.
    Jobs that run act where one of them ends, or is taken away: which of several is not told apart, so each may be.
    """

    contest: Contest
    graph: StateGraph[PassState]

    @property
    def numbers(self) -> range:
        return range(ALL, 2 + 2 * len(self.contest.kinds))

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
        k, leaving = divmod(party - 2, 2)
        return any(map(is_leaving, moment[0][k])) if leaving else self._running(moment, k) > 0

    def acts(self, party: int, moment: PassState, edge: StateStep[PassState]) -> bool:
        """Decides whether a step is one of the party."""
        if party == ALL:
            return edge.kind in SCHEDULER
        k, leaving = divmod(party - 2, 2)
        if leaving:
            return edge.kind == FREES and has_gone(moment[0], edge.to[0], k)
        swaps = edge.kind in (TAKE, VAIN) and k in self.swapped
        return swaps or self._running(edge.to, k) < self._running(moment, k)

    def _running(self, moment: PassState, k: int) -> int:
        return sum(job >= self.contest.kinds[k].barrier for job in moment[0][k])

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
