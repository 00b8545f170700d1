"""Explores a finite relation state by state: what is reachable, what never comes to rest, and a way there.

States are values with members of one kind sorted, so that states alike are one.  An edge has a kind (who acts),
a text (for the timeline) and the state it leads to.  A state without edges is quiet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from coherence.base.graphs import cycles, reached

S = TypeVar("S")


@dataclass(frozen=True)
class StateStep(Generic[S]):
    """One step: who acts, in words (made when they are read), and the state after it."""

    kind: str
    words: str | Callable[[], str] = field(compare=False)
    to: S

    @property
    def text(self) -> str:
        """Returns what happens, for the timeline."""
        return self.words if isinstance(self.words, str) else self.words()


Successors = Callable[[S], Iterable[StateStep[S]]]


@dataclass(frozen=True)
class StateGraph(Generic[S]):
    """Reachable states with their steps; `came` gives the step by which each was first reached (None: a start)."""

    edges: Mapping[S, tuple[StateStep[S], ...]]
    came: Mapping[S, tuple[S, StateStep[S]] | None]
    complete: bool

    @property
    def quiet(self) -> list[S]:
        """Returns states in which nobody acts."""
        return [state for state, steps in self.edges.items() if not steps]


def explore(starts: Iterable[S], successors: Successors[S], *, most: int) -> StateGraph[S]:
    """Returns all states reachable from the starts, breadth first; not complete where there are more than `most`."""
    came: dict[S, tuple[S, StateStep[S]] | None] = dict.fromkeys(starts)
    waiting, edges = deque(came), dict[S, tuple[StateStep[S], ...]]()
    while waiting and len(came) <= most:
        state = waiting.popleft()
        edges[state] = tuple(dict.fromkeys(successors(state)))
        for edge in edges[state]:
            if edge.to not in came:
                came[edge.to] = (state, edge)
                waiting.append(edge.to)
    return StateGraph(edges, came, not waiting)


def trapped(graph: StateGraph[S]) -> list[S]:
    """Returns states from which no quiet state can be reached, whatever is chosen; in order of discovery."""
    before: dict[S, list[S]] = {}
    for state, steps in graph.edges.items():
        for edge in steps:
            before.setdefault(edge.to, []).append(state)
    calm = reached(graph.quiet, lambda state: before.get(state, ()))
    return [state for state in graph.edges if state not in calm]


def components(graph: StateGraph[S]) -> list[list[S]]:
    """Returns the strongly connected components that contain a step, the last found state of each first."""
    return [list(reversed(group)) for group in cycles({s: [e.to for e in es] for s, es in graph.edges.items()})]


def way_to(graph: StateGraph[S], state: S) -> list[StateStep[S]]:
    """Returns the steps of a shortest run from a start to the state."""
    steps: list[StateStep[S]] = []
    came = graph.came[state]
    while came is not None:
        steps.append(came[1])
        came = graph.came[came[0]]
    return steps[::-1]


def start_of(graph: StateGraph[S], state: S) -> S:
    """Returns the start from which `way_to` leads to the state."""
    while (came := graph.came[state]) is not None:
        state = came[0]
    return state


def round_trip(graph: StateGraph[S], state: S, within: Collection[S]) -> list[StateStep[S]]:
    """Returns a shortest cycle through the state that stays in `within`; empty where there is none."""
    return route(graph, state, state, within)


def route(graph: StateGraph[S], state: S, to: S, within: Collection[S]) -> list[StateStep[S]]:
    """Returns the steps of a shortest run from one state to another that stays in `within`, at least one step long."""
    came: dict[S, tuple[S, StateStep[S]]] = {}
    waiting = deque([state])
    while waiting:
        here = waiting.popleft()
        for edge in graph.edges.get(here, ()):
            if edge.to == to:
                return [*_back(came, state, here), edge]
            if edge.to in within and edge.to not in came:
                came[edge.to] = (here, edge)
                waiting.append(edge.to)
    return []


def _back(came: Mapping[S, tuple[S, StateStep[S]]], first: S, state: S) -> list[StateStep[S]]:
    steps: list[StateStep[S]] = []
    while state != first:
        state, edge = came[state]
        steps.append(edge)
    return steps[::-1]
