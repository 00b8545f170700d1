"""Decides whether members find places again when some go away: lost with all that lies there, or drained one by one.

A place that is drained takes nobody and counts for the rules still (as a cordoned node does); one that is lost counts
no more.  Members look for a place one at a time, in any order with the evictions of a drain.

For answers that count members as staying it counts how many are away at once when places go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.members_that_stay import DRAINED, LOST, things_on_places
from coherence.verify.jobs.count_ranges import count_range, variants
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, MOST_STATES, NONE, POSSIBLE, UNKNOWN, placement
from coherence.verify.jobs.placing import EVICT, Counts, canonical, canonical_edges, placed, put, total
from coherence.verify.jobs.sites import Cluster, cluster, without
from coherence.verify.jobs.state_graph import StateGraph, StateStep, explore
from coherence.verify.timers.removals import Departure, Removal, members_stay, unbounded_departures

Going: TypeAlias = dict[tuple[int, str], int]  # (class, kind) -> so many of one class go at once at most
MOST_MEMBERS = 60
COUNTED = "places of one entry go at once, and are back before others go: {} of {} are away at most"
BLOCKED = "blocked"  # not all members find a place while every place is there


@dataclass(frozen=True)
class PlaceLoss:
    """How so many places of a class go at once, and where members lay when they did; `stuck`: where they lie at last.

    `verdict`: `certain` = whatever is chosen some member finds no place; `possible` = by some choices.
    """

    verdict: str
    kind: str = ""
    before: Counts = ()
    gone: tuple[int, ...] = ()  # nodes of the class that go
    site: int = 0
    after: Cluster | None = None
    stuck: Counts = ()
    states: int = 0
    away: int = 0  # the most members that find no place until those drained are back, all of them emptied
    waiting: tuple[Counts, ...] = ()  # states in which a member looks for a place and no other is to be evicted
    cases: tuple[tuple[Cluster, tuple[Counts, ...]], ...] = ()  # of `none`: all those, for each way in which places go


def losses(there: Cluster, going: Going, low: int, high: int, spared: Mapping[int, int] | None = None) -> PlaceLoss:
    """Returns the worst outcome over all reachable placements of `low` to `high` members and all places that may go.

    `spared`: for a number of members, so many may be missing at once by budgets, which hold further evictions back; a
    drain that comes to its end with no more than those missing is none of the bad outcomes.
    """
    placements = placement(there, low, high)
    if placements.verdict != NONE:
        return PlaceLoss(UNKNOWN if placements.verdict == UNKNOWN else BLOCKED)
    starts = [state for state in placements.graph.edges if low <= total(state) <= high and total(state) > 0]
    outcomes, budget = [], MOST_STATES
    waiting: dict[tuple[int, str, int], tuple[Cluster, dict[Counts, None]]] = {}
    for state in starts:
        worst = PlaceLoss(NONE)
        for outcome in map(_outcome, courses(there, state, going, (spared or {}).get(total(state)))):
            budget -= outcome.states
            if budget < 0 or outcome.verdict == UNKNOWN:
                return PlaceLoss(UNKNOWN)
            if outcome.after is not None:
                way = (outcome.site, outcome.kind, len(outcome.gone))
                waiting.setdefault(way, (outcome.after, {}))[1].update(dict.fromkeys(outcome.waiting))
            worst = min(worst, outcome, key=lambda loss: ((CERTAIN, POSSIBLE, NONE).index(loss.verdict), -loss.away))
        outcomes.append(worst)
    return _over_all(outcomes, tuple((after, tuple(states)) for after, states in waiting.values()))


def _over_all(outcomes: list[PlaceLoss], cases: tuple[tuple[Cluster, tuple[Counts, ...]], ...]) -> PlaceLoss:
    """Returns the worst outcome; certain where every placement has one that is."""
    bad = [outcome for outcome in outcomes if outcome.verdict != NONE]
    if not bad:
        return replace(max(outcomes, key=lambda outcome: outcome.away, default=PlaceLoss(NONE)), cases=cases)
    certain = all(outcome.verdict == CERTAIN for outcome in outcomes)
    return replace(bad[0], verdict=CERTAIN if certain else POSSIBLE)


@dataclass(frozen=True)
class LossCourse:
    """What may happen once some places of a class have gone: `graph` begins with the members that are left."""

    kind: str
    before: Counts
    gone: tuple[int, ...]
    site: int
    after: Cluster
    graph: StateGraph[Counts]
    drains: int | None  # the class of those that are drained
    spare: int | None = None  # so many may be missing at once

    @property
    def waiting(self) -> tuple[Counts, ...]:
        """Returns states in which a member looks for a place and no other is to be evicted."""
        members = total(self.before)
        idle = (s for s in self.graph.edges if self.drains is None or not any(s[self.drains]))
        return tuple(s for s in idle if total(s) < members)


def courses(there: Cluster, state: Counts, going: Going, spare: int | None = None) -> Iterator[LossCourse]:
    """Yields what follows where members lie so, for each choice of places that go at once."""
    for (k, kind), most in going.items():
        for number in range(1, most + 1):
            seen = set()
            for nodes in combinations(range(len(state[k])), number):
                members = tuple(sorted(state[k][n] for n in nodes))
                if members not in seen:
                    seen.add(members)
                    yield _course(there, state, k, nodes, kind, spare)


def _course(
    there: Cluster, state: Counts, k: int, nodes: tuple[int, ...], kind: str, spare: int | None
) -> LossCourse:  # fmt: skip
    after, members = without(there, k, nodes, drained=kind == DRAINED), total(state)
    rest = [tuple(held for n, held in enumerate(row) if j != k or n not in nodes) for j, row in enumerate(state)]
    rows = [row for j, row in enumerate(rest) if j != k or len(nodes) < there.sites[k].number]
    if kind == DRAINED:
        rows.append(tuple(state[k][n] for n in nodes))
    drains = len(rows) - 1 if kind == DRAINED else None
    here = canonical(after, tuple(rows))
    graph = explore([here], lambda s: _following(after, s, members, drains, spare), most=MOST_STATES)
    return LossCourse(kind, state, nodes, k, after, graph, drains, spare)


def _outcome(course: LossCourse) -> PlaceLoss:
    """Returns whether every member finds a place once these nodes go, but for those that budgets spare."""
    graph, members = course.graph, total(course.before)
    if not graph.complete:
        return PlaceLoss(UNKNOWN)
    missing = [quiet for quiet in graph.quiet if total(quiet) < members]
    stuck = [quiet for quiet in missing if course.drains is None or not course.spare or any(quiet[course.drains])]
    away = max((members - total(quiet) for quiet in missing), default=0) if not stuck else 0
    verdict = NONE if not stuck else CERTAIN if len(stuck) == len(graph.quiet) else POSSIBLE
    return PlaceLoss(
        verdict, course.kind, course.before, course.gone, course.site, course.after, stuck[0] if stuck else (),
        len(graph.edges), away, course.waiting,
    )  # fmt: skip


def _following(
    after: Cluster, state: Counts, members: int, drains: int | None, spare: int | None
) -> list[StateStep[Counts]]:
    """Returns the next evictions from places that are drained, and the next member to find a place."""
    onward = placed(after, state) if total(state) < members else []
    if drains is None or (spare and members - total(state) >= spare):
        return onward
    nodes = [n for n, held in enumerate(state[drains]) if held]
    evictions = (StateStep(EVICT, "", put(state, drains, n, -1)) for n in nodes)
    return onward + canonical_edges(after, evictions)


def stated_losses(design: Design) -> Iterator[Place]:
    """Yields where a place is said to go."""
    for given in design.places.values():
        yield from (given[kind].place.labelled("may go away") for kind in (LOST, DRAINED) if kind in given)


def nodes_of(facts: DesignFacts, thing: str, numbers: Mapping[str, int], *, by: tuple[str, ...] = ()) -> Cluster:
    """Returns the places one by one: each may go, and none is added; `by`: further labels that matter."""
    there = cluster(facts, thing, by=("node", *by), numbers=numbers, soft=False)
    return replace(there, sites=tuple(replace(site, most=site.number) for site in there.sites))


def going_of(facts: DesignFacts, there: Cluster) -> Going:
    """Returns how many places of each class go at once at most, lost or drained.  Raises NeedsError."""
    going: Going = {}
    for k, site in enumerate(there.sites):
        for kind in (LOST, DRAINED):
            most = max(_number(facts, name, kind) for name in site.name.split(", "))
            if most and site.room != 0:
                going[k, kind] = min(most, site.number)
    return going


def going_by_entry(facts: DesignFacts) -> Iterator[tuple[str, str, int]]:
    """Yields each entry of places of which some go at once, how, and how many at most.  Raises NeedsError."""
    for name in facts.design.places:
        for kind in (LOST, DRAINED):
            most = _number(facts, name, kind)
            if most:
                yield name, kind, most


def _number(facts: DesignFacts, name: str, kind: str) -> int:
    value = facts.design.places[name].get(kind)
    if value is None:
        return 0
    if not isinstance(value, Quantity) or value.high.denominator != 1 or value.low < 0:
        raise NeedsError(f"how many of {name} are {kind} at once ({kind}: 1)", value.place)
    return int(value.high)


def most_lost(facts: DesignFacts, thing: str) -> int | None:
    """Returns the most members that lie on places that go at once, wherever all of them lie; None: not followed.

    Members of others leave fewer ways to lie, and may keep those that were lost from finding a place again: no more
    are away for that.
    """
    try:
        low, high = count_range(facts, thing, MOST_MEMBERS, facts.design.components[thing].place)
        tried = [nodes_of(facts, thing, numbers) for numbers in variants(facts)]
        most = [_most_on(there, going_of(facts, there), low, high) for there in tried]
    except NeedsError:
        return None
    return None if None in most else max((number for number in most if number is not None), default=0)


def _most_on(there: Cluster, going: Going, low: int, high: int) -> int | None:
    placements = placement(there, low, high)
    if placements.verdict != NONE:
        return None
    states = [state for state in placements.graph.edges if low <= total(state) <= high]
    return max((_on(state, k, most) for state in states for (k, _), most in going.items()), default=0)


def _on(state: Counts, k: int, most: int) -> int:
    return max(map(sum, combinations(state[k], min(most, len(state[k])))), default=0)


def members_left(facts: DesignFacts, thing: str, spare: int = 0) -> tuple[Departure | None, tuple[str, ...]]:
    """Returns what takes members of a thing away some day, and what is assumed where so many may be spared.

    Members that places take with them are counted, or are what takes some away.
    """
    by_places, lost, assumed = lost_with_places(facts, thing, spare)
    if by_places is not None:
        return by_places, ()
    departure, stay = members_stay(facts, thing, max(0, spare - lost))
    return departure, (*assumed, *stay)


def lost_with_places(facts: DesignFacts, thing: str, spare: int) -> tuple[Departure | None, int, tuple[str, ...]]:
    """Returns the places that take more members of a thing with them than may be spared, else how many they take.

    The last: what is assumed where they take no more.
    """
    going = list(stated_losses(facts.design))
    if not going or thing not in things_on_places(facts.design):
        return None, 0, ()
    lost = most_lost(facts, thing)
    if lost is not None and lost <= spare:
        return None, lost, (COUNTED.format(lost, thing),) if lost else ()
    names = [name for name, given in facts.design.places.items() if LOST in given or DRAINED in given]
    return Departure(" and ".join(names), going[0], certain=True, most=lost), lost or 0, ()


def gone_beside(facts: DesignFacts, removal: Removal, spare: int = 0) -> tuple[list[Departure], tuple[str, ...]]:
    """Returns what takes members of a thing away beside a removal and what shares its caps, and what is assumed.

    Among it places that go, where they take more members than may be spared.
    """
    by_places, _, assumed = lost_with_places(facts, removal.thing, spare)
    return [*unbounded_departures(facts, removal), *([by_places] if by_places is not None else [])], assumed
