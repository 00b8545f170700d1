"""Finds cycles of a contest in which every job that is leaving goes some day: evictions end, however long they take."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from coherence.verify.jobs.contest import State
from coherence.verify.jobs.contest_steps import FREES
from coherence.verify.jobs.job_states import is_leaving
from coherence.verify.jobs.state_graph import StateGraph, StateStep, round_trip, route


def may_last(graph: StateGraph[State], states: Sequence[State]) -> bool:
    """Decides whether a run that stays in these states for ever may let every job go that is leaving."""
    inside, kinds = set(states), range(len(states[0]))
    return all(any(not _leaving(s, k) or _next(graph, s, k, inside) is not None for s in states) for k in kinds)


def fair_cycle(graph: StateGraph[State], first: State, inside: Collection[State]) -> list[StateStep[State]]:
    """Returns a cycle through the state in which no job is leaving all the time."""
    cycle = round_trip(graph, first, inside)
    for k in range(len(first)):
        states = [first, *(edge.to for edge in cycle)]
        if all(_leaving(s, k) for s in states) and not any(map(goes, cycle, states, [k] * len(cycle))):
            cycle += _detour(graph, first, k, inside)
    return cycle


def _detour(graph: StateGraph[State], first: State, k: int, inside: Collection[State]) -> list[StateStep[State]]:
    """Returns a cycle through the state on which no job of a kind is leaving somewhere, or one of them goes."""
    for state in inside:
        going = _next(graph, state, k, inside)
        if going is not None or not _leaving(state, k):
            last, turn = (going.to, [going]) if going is not None else (state, [])
            there = route(graph, first, state, inside) if state != first else []
            return [*there, *turn, *(route(graph, last, first, inside) if last != first else [])]
    return []


def _next(graph: StateGraph[State], state: State, k: int, inside: Collection[State]) -> StateStep[State] | None:
    """Returns a step by which a member of a kind goes and the run stays in these states."""
    return next((edge for edge in graph.edges[state] if goes(edge, state, k) and edge.to in inside), None)


def goes(edge: StateStep[State], state: State, k: int) -> bool:
    """Decides whether a member of a kind goes by a step."""
    return edge.kind == FREES and _leaving(edge.to, k) != _leaving(state, k)


def _leaving(state: State, k: int) -> list[int]:
    return list(filter(is_leaving, state[k]))
