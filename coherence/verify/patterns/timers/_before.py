"""Promises `a before b`: which of them are about timers and activities, and how the two events compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Step
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import drained_by
from coherence.language.sentences import Event, Promise
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.drains import tells_to_go
from coherence.verify.events.graph import Causes, Chain
from coherence.verify.events.orders import Alternatives, EventOrder
from coherence.verify.timers.firing import action_of
from coherence.verify.timers.removals import HUNG, LOADED

SPARING, ENDING = "takes off the list", "ends"
ELSEWHERE = ("last try", "attempts")  # events of calls, compared by the questions about retries


@dataclass(frozen=True)
class OrderPromise:
    """A promise, the keys of its events, and every comparison of them (None: nothing orders the two).

    `activities`: both events are starts or ends of declared things.  `followed`: one way alone leads to the second.
    """

    promise: Promise
    first: str
    second: str
    alternatives: Alternatives
    activities: bool
    followed: bool = False

    @property
    def ways(self) -> tuple[EventOrder | None, ...]:
        """Returns every comparison."""
        return tuple(dict.fromkeys(order for together in self.alternatives for order in together))

    @property
    def apart(self) -> bool:
        """Returns whether some way leads to one event without the other.

        A run of an activity that something else starts (a save each hour beside one on notice) is another one than that
        which the promise orders, as its comparison says.
        """
        known = [order for order in self.ways if order is not None]
        others = known and self.followed and all(any(link.rivals for link in order.first) for order in known)
        return None in self.ways and not others

    @property
    def gated(self) -> bool:
        """Returns whether the first event is a cause of the second, whatever way leads there."""
        known = [order for order in self.ways if order is not None and not (order.rests or order.again)]
        return len(known) == len(self.ways) and all(order.second and not order.first for order in known)

    @property
    def worst(self) -> tuple[EventOrder, str]:
        """Returns the comparison that decides, and its relation."""
        worst = orders.deciding_order(self.alternatives)
        assert worst is not None
        return worst


def pairs(design: Design) -> tuple[OrderPromise, ...]:
    """Returns every promise that one event comes before another, both of timers or activities; gathered once."""
    return design.queries.get(pairs, lambda: tuple(_pairs(design)))


def _pairs(design: Design) -> Iterator[OrderPromise]:
    causes = graph.event_graph(design)
    for promise in design.promises.values():
        if promise.kind != "before" or promise.first is None or promise.second is None:
            continue
        if any(word in promise.text for word in ELSEWHERE):
            continue
        first, second = (graph.key_of(event, design) for event in (promise.first, promise.second))
        activities = all(_is_activity(event, design) for event in (promise.first, promise.second))
        if activities or first in causes or second in causes:
            armed = second.removesuffix(" fires") in design.timers  # its round begins with what it runs from
            every = _compared(design, first, second, causes, armed=armed)
            followed = len(event_ways.chains(second, causes)) == 1
            yield OrderPromise(promise, first, second, every, activities, followed)


def _compared(design: Design, first: str, second: str, causes: Causes, *, armed: bool) -> Alternatives:
    """Returns every comparison of two events.

    Two timers that one event starts and one event renews count from the last that came, which is the same for both.
    """
    for names in _renewed_alike(design):
        alone = _counted_from_the_last(design, names, causes)
        every = orders.alternatives(first, second, alone, armed=armed)
        if every and all(order is not None and _of_both(order, names) for together in every for order in together):
            return every
    return orders.alternatives(first, second, causes, armed=armed)


def _counted_from_the_last(design: Design, names: list[str], causes: Causes) -> Causes:
    """Returns the links with some timers as they are after the last event that renews them all."""
    alone = reduce(lambda links, name: graph.without_renewals(design.timers[name], links), names, causes)
    renew = design.timers[names[0]].renew
    assert isinstance(renew, Event)
    last = f"{' and '.join(names)} count from the same last '{renew.text}'"
    fires = {effect: alone[effect] for name in names if (effect := f"{name} fires") in alone}
    return {**alone, **{effect: tuple(replace(link, assumptions=(*link.assumptions, last)) for link in links)
                        for effect, links in fires.items()}}  # fmt: skip


def _renewed_alike(design: Design) -> Iterator[list[str]]:
    """Yields the names of timers that run from one event and are renewed by one."""
    together: dict[tuple[str, str], list[str]] = {}
    for timer in design.timers.values():
        if timer.start is not None and isinstance(timer.renew, Event):
            keys = graph.key_of(timer.start, design), graph.key_of(timer.renew, design)
            together.setdefault(keys, []).append(timer.name)
    yield from (names for names in together.values() if len(names) > 1)


def _of_both(order: EventOrder, names: list[str]) -> bool:
    """Decides whether both ways of a comparison begin with a timer of these, and none of them comes later on one."""
    begin = all(way and way[-1].kind == "timer" and way[-1].name in names for way in (order.first, order.second))
    return begin and not any(link.name in names for way in (order.first, order.second) for link in way[:-1])


def gentle(design: Design) -> Iterator[OrderPromise]:
    """Yields that a thing is unlisted before it is ended, where no promise says so and one event times both: of what
    is only overloaded, and of what is told to go and is ended at once.
    """
    for pair in _pairs_of_one_event(design):
        order = _unlisted_first(design, *pair) if _start_words(pair[0]) & LOADED or _told_to_go(pair) else None
        if order is not None:
            yield order


def _told_to_go(pair: tuple[Timer, Timer]) -> bool:
    """Decides whether two timers run from an order to go, and what ends the thing waits for nothing under way."""
    start, ending = pair[0].start, [timer for timer in pair if action_of(timer) == ENDING]
    at_once = any(timer.then is not None and not drained_by(timer.then.text) for timer in ending)
    return start is not None and tells_to_go(start.text) and at_once


def unclear(design: Design) -> Iterator[tuple[Timer, Timer, str]]:
    """Yields two timers of one event on one thing, and a word of theirs that decides whether their order matters.

    It does not where the one that takes it off the list comes first anyway.
    """
    for timer, other in _pairs_of_one_event(design):
        if word := _unknown_word(timer, other):
            order = _unlisted_first(design, timer, other)
            if order is None or order.apart or order.worst[1] != "before":
                yield timer, other, word


def _pairs_of_one_event(design: Design) -> Iterator[tuple[Timer, Timer]]:
    """Yields timers that an outside event starts, that act on one thing, and whose order no promise states."""
    promised = {frozenset((p.first.text, p.second.text)) for p in design.promises.values() if p.first and p.second}
    together: dict[tuple[str, str], list[Timer]] = {}
    for timer in design.timers.values():
        known = _thing(timer) in design.components or _thing(timer) in _start_words(timer)
        if known and timer.start is not None and timer.start.kind == "outside":
            together.setdefault((timer.start.text, _thing(timer)), []).append(timer)
    for timers in together.values():
        for timer, other in itertools.combinations(timers, 2):
            if timer.start == other.start and frozenset((timer.name, other.name)) not in promised:
                yield timer, other


def _unlisted_first(design: Design, timer: Timer, other: Timer) -> OrderPromise | None:
    """Returns that the one that takes a thing off the list fires before the one that ends it, where they are these."""
    first, second = (timer, other) if action_of(timer) == SPARING else (other, timer)
    if (action_of(first), action_of(second)) != (SPARING, ENDING):
        return None
    promise = Promise("before", f"{first.name} before {second.name}", second.place)
    keys = f"{first.name} fires", f"{second.name} fires"
    return OrderPromise(promise, *keys, orders.alternatives(*keys, graph.event_graph(design)), False)


def _unknown_word(timer: Timer, other: Timer) -> str:
    """Returns what is not understood by name of two timers of one event; empty where nothing of it matters."""
    actions, words = (action_of(timer), action_of(other)), _start_words(timer)
    if timer.start is None or words & HUNG or tells_to_go(timer.start.text):
        return ""
    if {"tells", "hands out again"} & {*actions} or actions[0] == actions[1] != "":
        return ""
    if "" in actions:
        if not words & LOADED:  # nothing says that the thing is overloaded either
            return ""
        unknown = other if actions[0] else timer
        return unknown.then.text.partition(" ")[0] if unknown.then is not None else ""
    return "" if words & LOADED else timer.start.text


def _thing(timer: Timer) -> str:
    """Returns the last word of what a timer does: what it acts on."""
    return timer.then.text.rpartition(" ")[2] if timer.then is not None and " " in timer.then.text else ""


def _start_words(timer: Timer) -> frozenset[str]:
    return frozenset(timer.start.text.split()) if timer.start is not None else frozenset()


def _is_activity(event: Event, design: Design) -> bool:
    return event.kind in ("starts", "ends") and event.thing in design.components


def timeline(order: EventOrder, *, kind: bool) -> tuple[Step, ...]:
    """Returns one run: the first event as early and the second as late as can be (`kind`), or the reverse."""
    moments = orders.moments(order.first, early=kind) + orders.moments(order.second, early=not kind)
    return orders.sorted_steps([Step(Fraction(0), order.common), *(Step(time, link.effect) for time, link in moments)])


def chain_text(chain: Chain) -> str:
    """Returns the parts of a chain in order of time: `heartbeat 600 s, then rank.dump 120 s`."""
    timed = [link for link in reversed(chain) if link.kind in ("timer", "activity")]
    return ", then ".join(f"{link.name} {orders.between(link.reached)}" for link in timed) or render_seconds(0)
