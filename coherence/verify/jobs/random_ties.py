"""Decides which evictions go on whatever a placer draws that chooses at random among equal places.

A state lasts where some eviction leads to states that last alone.  Every eviction in any other state has an answer that
is nearer to rest, and each answer has some chance: whichever is evicted, it comes to rest with probability 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TypeAlias

from coherence.verify.jobs.placing import Counts
from coherence.verify.jobs.state_graph import StateGraph, StateStep

Draws: TypeAlias = Mapping[Counts, tuple[tuple[Counts, ...], ...]]  # for each eviction in a state, what may follow


def nearness(draws: Draws) -> dict[Counts, int]:
    """Returns how near to rest each state is, of those that do not last: 0 where nobody evicts."""
    near = {state: 0 for state, evictions in draws.items() if not evictions}
    fresh, far = bool(near), 0
    while fresh:
        far += 1
        level = {
            state: far for state, evictions in draws.items()
            if state not in near and all(any(to in near for to in answers) for answers in evictions)
        }  # fmt: skip
        near |= level
        fresh = bool(level)
    return near


def lasting_part(graph: StateGraph[Counts], draws: Draws) -> StateGraph[Counts]:
    """Returns the states that last whatever the placer draws, with the evictions that do not leave them."""
    near, edges = nearness(draws), dict[Counts, tuple[StateStep[Counts], ...]]()
    for state, evictions in draws.items():
        if state not in near:
            staying = (answers for answers in evictions if not any(to in near for to in answers))
            edges[state] = tuple(StateStep("move", "", to) for to in chain.from_iterable(staying))
    return StateGraph(edges, graph.came, graph.complete)


def nearer_by_chance(draws: Draws) -> str:
    """Returns a script: whatever is evicted in a state, some answer leads to one that is nearer to rest."""
    near = nearness(draws)
    names = {state: f"s{number}" for number, state in enumerate(draws)}
    numbers = [f"(define-fun {name} () Int {near[state]}) ; {state}" for state, name in names.items()]
    claims = [
        f"  (or {' '.join(f'(< {names[to]} {names[state]})' for to in answers)})"
        for state, evictions in draws.items() for answers in evictions
    ]  # fmt: skip
    return "\n".join(["(set-logic QF_LIA)", *numbers, "(assert (not (and true", *claims, ")))", "(check-sat)"]) + "\n"
