"""Lays recorded evictions and placements beside the relation of which proofs explore every order.

Each recorded placement is asked whether the placer of the design may choose that node, each eviction whether an evictor
may take from that node then, and each period in which nobody was evicted whether a trigger held.  All are asked in the
recorded state, so that what happens otherwise once is told once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Limit, Loop
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Held
from coherence.simulate.logs.member_events import (
    Episode,
    MemberChange,
    MemberEvent,
    episodes,
    events_file,
    member_events,
    named_alike,
)
from coherence.simulate.logs.tables import utc
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.eviction import acts, victims
from coherence.verify.jobs.eviction_case import (
    EvictingLoop,
    EvictionCase,
    counting_loops,
    evicting,
    eviction_case,
    values_at,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placing import Counts, empty, places, put, shown
from coherence.verify.jobs.running.runs import EvictorClock
from coherence.verify.jobs.sites import Cluster, cluster

MOST_WAYS = 2_000  # in which recorded nodes may be places of the design
MOST_SHOWN = 3  # of what the design does otherwise

Spot = tuple[int, int]  # (class of places, node)


@dataclass(frozen=True)
class EpisodeAgreement:
    """One recorded episode beside the design.

    `moves`: recorded evictions and placements; `others`: those that the design would not make, in words.  `errors`:
    how far each eviction was from a whole number of periods after the one before (s); `missed`: times after the first
    eviction (s) at which a trigger held, one or more periods after the last eviction, and nobody was evicted.
    `untimed`: why times are not compared, where no period (s) says them.
    """

    episode: Episode
    moves: int
    others: tuple[str, ...]
    errors: tuple[float, ...]
    missed: tuple[float, ...]
    period: float | None
    untimed: str = ""

    @property
    def agrees(self) -> bool:
        """Decides whether everything that happened, and when, is what the design may do."""
        late = self.period is not None and any(error >= self.period / 2 for error in self.errors)
        return not (self.others or self.missed or late)


@dataclass(frozen=True)
class RecordedEvictions:
    """Every episode of a log in which members of a thing were evicted, beside the design."""

    thing: str
    log: str
    episodes: tuple[EpisodeAgreement, ...]

    @property
    def agrees(self) -> bool:
        """Decides whether every episode agrees."""
        return all(laid.agrees for laid in self.episodes)


def recorded_evictions(design: Design, where: Path) -> tuple[RecordedEvictions, ...]:
    """Returns for each thing that loops of the design evict what a log says of it.  Raises InputError, UsageError."""
    path, facts = events_file(where), known(Subject(design))
    return tuple(_of_thing(facts, thing, loops, path) for thing, loops in evicting(design).items())


def _of_thing(facts: DesignFacts, thing: str, loops: Sequence[Loop], path: Path) -> RecordedEvictions:
    parts = episodes(member_events(path, thing))
    if not parts:
        raise UsageError(f"{path.name} shows no eviction of {thing}")
    try:
        return RecordedEvictions(thing, path.name, _compared(facts, thing, loops, parts))
    except NeedsError as error:
        place = error.place or Place(facts.design.file, 1, 1, 1, 1)
        message = f"evictions of {thing} cannot be laid beside a log: {error.needs}"
        raise InputError([Problem(place, message, "state it in the design")]) from None


def _compared(
    facts: DesignFacts, thing: str, loops: Sequence[Loop], parts: Sequence[Episode]
) -> tuple[EpisodeAgreement, ...]:  # fmt: skip
    """Returns each episode beside the design.  Raises NeedsError."""
    counting = tuple(counting_loops(thing, loops))
    if len(counting) < len(loops):
        raise NeedsError(f"triggers of its evictors that count {thing} on places")
    case = eviction_case(facts, thing, counting)
    if case.low != case.high:
        raise NeedsError(f"one number of {thing}")
    there = cluster(facts, thing, by=case.labels)
    constants = values_at(case, there, case.high)
    closed = {name for name in facts.design.places if not any(name in site.name.split(", ") for site in there.sites)}
    look = _look(facts.design, case)
    return tuple(_nearest(case, there, constants, part, closed, look) for part in parts)


def _nearest(
    case: EvictionCase,
    there: Cluster,
    constants: Mapping[str, Fraction],
    episode: Episode,
    closed: Collection[str],
    look: float | str,
) -> EpisodeAgreement:
    """Returns the comparison under the naming of nodes that agrees best; nodes alike have no names in a design.

    closed: places of the design that take no member of the thing.
    """
    every = dict.fromkeys(event.node for event in episode.events)
    nodes = [node for node in every if not any(named_alike(name, node) for name in closed)]
    compared = (_Replay(case, there, constants, episode, named, look).agreement() for named in _namings(there, nodes))
    best = min(compared, key=lambda naming: (len(naming.others), len(naming.missed)), default=None)
    if best is None:
        raise NeedsError(f"places for the {len(nodes)} nodes of the log ({', '.join(nodes)})")
    return best


def _namings(there: Cluster, nodes: Sequence[str]) -> Iterator[dict[str, Spot]]:
    """Yields each way to take recorded nodes for places of the design; by their names where a place has that name."""
    known_as = [
        [k for k, site in enumerate(there.sites) for name in site.name.split(", ") if named_alike(name, node)]
        for node in nodes
    ]
    unnamed = next((node for own, node in zip(known_as, nodes, strict=True) if not own), None)
    if unnamed is not None and any(known_as):
        raise NeedsError(f"a place called {unnamed}, as the log calls a node, or no such names")
    choices = [own[:1] or list(range(len(there.sites))) for own in known_as]
    ways = 1
    for own in choices:
        ways *= len(own)
    if ways > MOST_WAYS:
        raise NeedsError("places with the names of the nodes in the log")
    for classes in product(*choices):
        taken = [classes[:n].count(k) for n, k in enumerate(classes)]
        if not there.each:
            yield {node: (k, 0) for node, k in zip(nodes, classes, strict=True)}
        elif all(n < there.sites[k].number for n, k in zip(taken, classes, strict=True)):
            yield {node: (k, n) for node, k, n in zip(nodes, classes, taken, strict=True)}


def _look(design: Design, case: EvictionCase) -> float | str:
    """Returns how often an evictor looks (s), and acts where its trigger holds; what is missing where nothing says so.

    Several have clocks of their own, and a log says nothing of parts of a second.
    """
    period = float(EvictorClock(case.loops[0]).period)
    if len(case.loops) > 1 or period < 1 or not _is_clock(case.loops[0]):
        return "the design does not state one period at which its evictors look"
    watched = {case.thing, *case.names}
    holding = (limit.name for limit in design.limits.values() if _counts(limit, watched))
    held_back = next(holding, "")
    return f"{held_back} may hold {case.names[0]} back" if held_back else period


def _counts(limit: Limit, things: Collection[str]) -> bool:
    """Decides whether a limit counts something of things, or what it counts is not stated."""
    paths = used(limit.counts.tree) if limit.counts is not None else ()
    return limit.counts is None or any(path.split(".")[0] in things for path in paths)


def _is_clock(evicting_loop: EvictingLoop) -> bool:
    """Decides whether a loop acts at each instant of one stated period at which its trigger holds."""
    loop, scale = evicting_loop.loop, evicting_loop.loop.timescale
    if isinstance(evicting_loop.trigger.tree, Held) or scale is None or scale.period is None or not scale.period.exact:
        return False
    stated = (scale.cooldown, scale.hold_up, scale.hold_down, scale.lands)
    rated = loop.actuation is not None and loop.actuation.rate
    return all(own is None for own in stated) and not rated


@dataclass
class _Replay:
    """Goes through an episode, and asks of each event whether the design may do so."""

    case: EvictionCase
    there: Cluster
    constants: Mapping[str, Fraction]
    episode: Episode
    spots: Mapping[str, Spot]  # nodes that are not in it take no member
    look: float | str
    others: list[str] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    missed: list[float] = field(default_factory=list)

    def agreement(self) -> EpisodeAgreement:
        """Returns what was found."""
        state, moves, start = empty(self.there), 0, self.episode.evictions[0].time
        due, last, since = None, None, None
        period = None if isinstance(self.look, str) else self.look
        for event in self.episode.events:
            if period is not None and due is not None:
                due = self._idle(since, due, event, period, start)
            spot = self.spots.get(event.node)
            if event.change is MemberChange.PLACED:
                self._ask_placer(state, event, spot, start)
            elif event.change is MemberChange.EVICTED:
                self._ask_evictors(state, event, spot, start)
                if last is not None and period is not None:
                    gap = float(event.time - last)
                    self.errors.append(abs(gap - max(1, round(gap / period)) * period))
                last = event.time
                due = None if period is None else last + period
            moves += event.change is not MemberChange.ENDED
            if spot is not None:
                state = put(state, *spot, 1 if event.change is MemberChange.PLACED else -1)
            holds = any(acts(evictor, self.there, state, self.constants) for evictor in self.case.evictors)
            since = (event.time if since is None else since) if holds else None
        return EpisodeAgreement(
            self.episode, moves, tuple(self.others), tuple(self.errors), tuple(self.missed), period,
            self.look if isinstance(self.look, str) else "",
        )  # fmt: skip

    def _idle(self, since: int | None, due: float, event: MemberEvent, period: float, start: int) -> float:
        """Notes the periods before an event in which nobody was evicted, and a trigger had held; returns the next one.

        Half a period around each look is left to the clock of the log.  since: from when on a trigger has held.
        """
        while due < min(event.time, self.episode.watched) - period / 2:
            if since is not None and since <= due - period / 2:
                self.missed.append(due - start)
            due += period
        return due

    def _ask_placer(self, state: Counts, event: MemberEvent, spot: Spot | None, start: int) -> None:
        options = {step.to for step in places(self.there, state, wishes=True, every=True)}
        if spot is None or put(state, *spot, 1) not in options:
            self._otherwise(state, event, start, f"the placer does not choose {event.node}")

    def _ask_evictors(self, state: Counts, event: MemberEvent, spot: Spot | None, start: int) -> None:
        taken = {
            victim
            for evictor in self.case.evictors
            for victim in victims(evictor, self.there, state, self.constants, every=True)
        }
        if spot not in taken:
            self._otherwise(state, event, start, f"nobody evicts from {event.node}")

    def _otherwise(self, state: Counts, event: MemberEvent, start: int, what: str) -> None:
        self.others.append(f"{render_seconds(event.time - start)}: {what} with {shown(self.there, state)}")


def rendered(log: RecordedEvictions) -> str:
    """Returns a few lines for a terminal."""
    count = len(log.episodes)
    return "\n".join(
        line
        for number, episode in enumerate(log.episodes, 1)
        for line in _episode_lines(log.thing, episode, f" {number} of {count}" if count > 1 else "")
    )


def _episode_lines(thing: str, laid: EpisodeAgreement, which: str) -> Iterator[str]:
    start, taken = laid.episode.evictions[0].time, laid.episode.evictions
    reasons = ", ".join(dict.fromkeys(event.by for event in taken))
    yield f"evictions of {thing}, episode{which} (time 0 is {utc(start)})"
    yield f"  observed   {len(taken)} by {reasons} in {render_seconds(laid.episode.watched - start)}"
    right = laid.moves - len(laid.others)
    yield f"  steps      {right} of {laid.moves} evictions and placements are steps of the design"
    yield from (f"             {text}" for text in _first(laid.others))
    if laid.period is None:
        yield f"  times      not compared: {laid.untimed}"
    else:
        yield f"  times      {_times(laid)}"
        if laid.missed:
            at = ", ".join(map(render_seconds, laid.missed[:MOST_SHOWN]))
            more = " and so on" if len(laid.missed) > MOST_SHOWN else ""
            yield f"             nobody was evicted though a trigger held: {len(laid.missed)} times, at {at}{more}"
    yield f"  verdict    {'possible' if laid.agrees else 'different'}"


def _times(laid: EpisodeAgreement) -> str:
    assert laid.period is not None
    every = f"one look every {render_seconds(laid.period)}"
    if not laid.errors:
        return every
    mean = sum(laid.errors) / len(laid.errors)
    return f"{every}: mean {render_seconds(round(mean, 1))}, at most {render_seconds(max(laid.errors))} apart"


def _first(texts: Sequence[str]) -> Iterator[str]:
    yield from texts[:MOST_SHOWN]
    if len(texts) > MOST_SHOWN:
        yield f"and {len(texts) - MOST_SHOWN} more"
