"""Finds the ways that lead from one event of a design to another, along the links of its event graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from coherence.language.design import Design
from coherence.language.entries.actions import action_in
from coherence.language.sentences import Event
from coherence.verify.events import graph
from coherence.verify.events.along_calls import call_begins
from coherence.verify.events.graph import Causes, Chain, EventLink, lasting_for

MOST_CHAINS = 32


def ways(first: str, then: str, links_to: Causes, design: Design) -> tuple[Chain, ...]:
    """Returns every way back from one event to another, calls included.  Raises OverflowError beyond MOST_CHAINS."""
    called = {effect: (*links_to.get(effect, ()), *links) for effect, links in _called(design).items()}
    links_to = {**links_to, **called}
    after, front = {first}, [first]
    effects: dict[str, list[str]] = {}
    for effect, links in links_to.items():
        for link in links:
            effects.setdefault(link.cause, []).append(effect)
    while front:
        fresh = {effect for event in front for effect in effects.get(event, ())} - after
        after |= fresh
        front = list(fresh)
    between = {effect: tuple(link for link in links if link.cause in after) for effect, links in links_to.items()}
    return tuple(chain for chain in chains(then, {**between, first: ()}) if chain and chain[-1].cause == first)


def _called(design: Design) -> Causes:
    """Returns the answers of things -> the calls that begin them."""
    return design.queries.get(_called, lambda: _calls_by_effect(design))


def _calls_by_effect(design: Design) -> Causes:
    links_to: dict[str, list[EventLink]] = {}
    for call in call_begins(design):
        link = EventLink("call", call.name, call.cause, call.effect, call.time.window, places=(call.place,))
        links_to.setdefault(call.effect, []).append(lasting_for(link, call.time))
    return {effect: tuple(links) for effect, links in links_to.items()}


def chains(event: str, links_to: Causes) -> tuple[Chain, ...]:
    """Returns every way back from an event; a cycle stops where it closes.  Raises OverflowError beyond MOST_CHAINS."""
    ways = tuple(itertools.islice(_back(event, links_to, (event,)), MOST_CHAINS + 1))
    if len(ways) > MOST_CHAINS:
        raise OverflowError(f"more than {MOST_CHAINS} ways lead to '{event}'")
    return ways


def only_way(event: str, links_to: Causes) -> Chain:
    """Returns the way back from an event that has one alone; empty where it has none or several."""
    ways = chains(event, links_to)
    return ways[0] if len(ways) == 1 else ()


def rounds(event: str, links_to: Causes) -> tuple[Chain, ...]:
    """Returns every way back from an event to the last time that it came.  Raises OverflowError beyond MOST_CHAINS."""
    ways = tuple(itertools.islice(_around(event, event, links_to, (event,)), MOST_CHAINS + 1))
    if len(ways) > MOST_CHAINS:
        raise OverflowError(f"more than {MOST_CHAINS} ways lead from '{event}' to itself")
    return ways


def _around(first: str, event: str, links_to: Causes, seen: tuple[str, ...]) -> Iterator[Chain]:
    for link in links_to.get(event, ()):
        if link.cause == first:
            yield (link,)
        elif link.cause not in seen:
            yield from ((link, *rest) for rest in _around(first, link.cause, links_to, (*seen, link.cause)))


def _back(event: str, links_to: Causes, seen: tuple[str, ...]) -> Iterator[Chain]:
    links = [link for link in links_to.get(event, ()) if link.cause not in seen]
    if not links:
        yield ()
    for link in links:
        for rest in _back(link.cause, links_to, (*seen, link.cause)):
            yield (link, *rest)


def brought_again(design: Design, event: Event) -> tuple[str, ...]:
    """Returns the timers that bring an outside event about once more: what follows each time runs from that time."""
    if event.kind != "outside":
        return ()
    bring = ((name, timer.then) for name, timer in design.timers.items() if timer.then is not None)
    key = graph.key_of(event, design)
    return tuple(
        name for name, then in bring
        if then.kind == "outside" and graph.key_of(then, design) == key and not action_in(then.text)
    )  # fmt: skip
