"""Finds the jobs that may be taken from again and again before they end, by others that come again."""

from __future__ import annotations

from coherence.base.graphs import cycles
from coherence.verify.jobs.contest import Contest
from coherence.verify.jobs.contest_steps import ENDS, TAKE
from coherence.verify.jobs.job_states import holding, is_leaving
from coherence.verify.jobs.state_graph import StateGraph, StateStep
from coherence.verify.jobs.waiting.fair_parties import PassState


def evicted_for_ever(contest: Contest, graph: StateGraph[PassState]) -> tuple[str, ...]:
    """Returns the names of jobs that some run takes from for ever, while others come and end and they do not."""
    kinds = enumerate(contest.kinds) if contest.preempt is not None else ()
    return tuple(kind.name for k, kind in kinds if _is_evicted_for_ever(graph, k))


def _is_evicted_for_ever(graph: StateGraph[PassState], k: int) -> bool:
    unended = {
        state: [edge for edge in edges if not (edge.kind == ENDS and _is_less(state, edge, k))]
        for state, edges in graph.edges.items()
    }
    for group in cycles({state: [edge.to for edge in edges] for state, edges in unended.items()}):
        inside = set(group)
        steps = [(state, edge) for state in group for edge in unended[state] if edge.to in inside]
        taken = any(edge.kind == TAKE and _is_less(state, edge, k) for state, edge in steps)
        if taken and any(edge.kind == ENDS for _, edge in steps):
            return True
    return False


def _is_less(state: PassState, edge: StateStep[PassState], k: int) -> bool:
    """Decides whether fewer members of a kind run after a step."""
    before, after = (sum(holding(job) for job in jobs if not is_leaving(job)) for jobs in (state[0][k], edge.to[0][k]))
    return after < before
