"""Decides whether every number of members can be placed one at a time, from every reachable state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from coherence.verify.jobs.placing import (
    ADD,
    PLACE,
    REMOVE,
    Counts,
    additions,
    canonical,
    canonical_edges,
    domains,
    empty,
    placed,
    places,
    removals,
    removed,
    taken_anywhere,
    total,
)
from coherence.verify.jobs.sites import Cluster
from coherence.verify.jobs.state_graph import StateGraph, StateStep, explore, way_to

CERTAIN, POSSIBLE, NONE, UNKNOWN = "certain", "possible", "none", "unknown"
MOST_STATES = 20_000
MOST_ON_PAPER = 200_000
BOUND = 50


@dataclass(frozen=True)
class Placement:
    """`reached` = the most members that some choice of places reaches; `stuck` = a state where the next has none."""

    verdict: str
    reached: int
    stuck: Counts | None
    graph: StateGraph[Counts]

    @property
    def blocked(self) -> int:
        """Returns the number of members that cannot be had from `stuck`."""
        return (total(self.stuck) if self.stuck is not None else self.reached) + 1


def placement(cluster: Cluster, low: int, high: int, *, most: int = MOST_STATES, evicted: bool = False) -> Placement:
    """Explores every count from 0 (the start) to `high`; scale-down goes no lower than `low`.

    With `evicted`, any member may go at any time, wherever it is.
    `certain`: no choice of places ever reaches `high`.  `possible`: some reachable state has no place for the next.
    """
    graph = explore(
        [canonical(cluster, empty(cluster))],
        lambda state: successors(cluster, state, low, high, evicted=evicted), most=most,
    )  # fmt: skip
    if not graph.complete:
        return Placement(UNKNOWN, 0, None, graph)
    reached = max(total(state) for state in graph.edges)
    stuck = next((s for s, edges in graph.edges.items() if total(s) < high and not _onward(edges)), None)
    verdict = NONE if stuck is None else CERTAIN if reached < high else POSSIBLE
    if verdict == CERTAIN:
        stuck = next(s for s, edges in graph.edges.items() if total(s) == reached and not _onward(edges))
    return Placement(verdict, reached, stuck, graph)


def _onward(edges: Sequence[StateStep[Counts]]) -> bool:
    return any(edge.kind in (PLACE, ADD) for edge in edges)


def successors(
    cluster: Cluster, state: Counts, low: int, high: int, *, evicted: bool = False
) -> list[StateStep[Counts]]:
    """Returns placements (a new place where there is none), and removals while there are more than `low`."""
    members = total(state)
    onward = placed(cluster, state) if members < high else []
    if members < high and not onward:
        onward = canonical_edges(cluster, additions(cluster, state))
    if evicted:
        return onward + taken_anywhere(cluster, state)
    return onward + (removed(cluster, state) if low < members <= high > low else [])


def steps_to(cluster: Cluster, graph: StateGraph[Counts], state: Counts) -> list[tuple[str, Counts]]:
    """Returns the run to a state with the places named: (what happens, members on each place afterwards)."""
    here, lines = empty(cluster), list[tuple[str, Counts]]()
    for edge in way_to(graph, state):
        step = concrete(cluster, here, edge)
        here = step.to
        lines.append((step.text, here))
    return lines


def concrete(cluster: Cluster, here: Counts, edge: StateStep[Counts]) -> StateStep[Counts]:
    """Returns the named step whose result stands for the same state as the edge's."""
    makers = {PLACE: places, REMOVE: removals}
    steps = makers[edge.kind](cluster, here, every=True) if edge.kind in makers else additions(cluster, here)
    return next(step for step in steps if canonical(cluster, step.to) == edge.to)


@dataclass(frozen=True)
class Levels:
    """Placement alone from nothing, count by count: `ceiling` = the most that can be reached (None: none up to
    `checked`), `first` = the smallest count after which some choice blocks; and why nothing changes later."""

    ceiling: int | None
    first: int | None
    checked: int
    reason: str


def levels(cluster: Cluster, bound: int, *, most: int = MOST_STATES) -> Levels:
    """Follows the sets of reachable states; a set that comes again, all places fuller by the same, repeats for ever."""
    level = {canonical(cluster, empty(cluster))}
    seen: dict[frozenset[Counts], int] = {}
    first, states = None, 0
    shifts = _even(cluster)
    for count in range(bound + 1):
        shape = frozenset(_shifted(cluster, state) for state in level)
        if shifts and shape in seen:
            every = count - seen[shape]
            return Levels(None, first, count, f"the same states come again every {_members(every)}: it stays so")
        seen[shape] = count
        following = set[Counts]()
        for state in level:
            onward = [canonical(cluster, edge.to) for edge in _next(cluster, state)]
            first = count if not onward and first is None else first
            following.update(onward)
        states += len(following)
        if not following:
            return Levels(count, first, count, "members come one by one, so no larger number is reached")
        if states > most:
            return Levels(None, first, count, f"checked up to {count}")
        level = following
    return Levels(None, first, bound, f"checked up to {bound}")


def _next(cluster: Cluster, state: Counts) -> list[StateStep[Counts]]:
    """Returns placements; where there is none, those after a place was added."""
    direct = list(places(cluster, state))
    return direct or [edge for more in additions(cluster, state) for edge in places(cluster, more.to)]


def _even(cluster: Cluster) -> bool:
    """Decides whether one member more on every place leaves every rule as it is: differences are, counts are not."""
    if any(site.room is not None or site.most != site.number for site in cluster.sites):
        return False
    if any(rule.capped for rule in cluster.musts):
        return False
    ones = tuple((1,) * site.number for site in cluster.sites)
    return all(len(set(domains(cluster, ones, rule.by))) <= 1 for rule in cluster.musts)


def _members(number: int) -> str:
    return "member" if number == 1 else f"{number} members"


def _shifted(cluster: Cluster, state: Counts) -> Counts:
    least = min((held for nodes in state for held in nodes), default=0)
    del cluster
    return tuple(tuple(held - least for held in nodes) for nodes in state)


def on_paper(cluster: Cluster, count: int) -> Counts | bool | None:
    """Returns a placement of so many within all musts, however it is reached; None: none; False: too many to try."""
    nodes = sum(site.number for site in cluster.sites)
    rooms = [count if s.room is None else min(s.room, count) for s in cluster.sites for _ in range(s.number)]
    if (count + 1) ** max(0, nodes - 1) > MOST_ON_PAPER:
        return False
    return next((state for state in _splits(cluster, count, rooms) if holds(cluster, state)), None)


def _splits(cluster: Cluster, count: int, rooms: list[int]) -> Iterator[Counts]:
    for part in product(*(range(room + 1) for room in rooms[:-1])):
        last = count - sum(part)
        if 0 <= last <= rooms[-1]:
            yield _grouped(cluster, [*part, last])


def _grouped(cluster: Cluster, flat: list[int]) -> Counts:
    groups, at = [], 0
    for site in cluster.sites:
        groups.append(tuple(flat[at : at + site.number]))
        at += site.number
    return tuple(groups)


def holds(cluster: Cluster, state: Counts) -> bool:
    """Decides whether every must holds in the state."""
    for rule in cluster.musts:
        counts = domains(cluster, state, rule.by)
        if rule.together and sum(1 for held in counts if held) > 1:
            return False
        least = 0 if rule.capped else min(counts)
        if not rule.together and max(counts) - least > rule.at_most:
            return False
    return True
