"""Promises `a before b`: which of them are about timers and activities, and how the two events compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Step
from coherence.language.design import Design, Timer
from coherence.language.sentences import Event, Promise
from coherence.verify.timers import occurrences, orders
from coherence.verify.timers.occurrences import Chain
from coherence.verify.timers.orders import EventOrder
from coherence.verify.timers.removals import LOADED

RANKS = ("before", "touches", "unknown", "possible", "after")
SPARING, ENDING = ("unlist", "eject", "drain"), ("restart", "kill", "stop", "evict")
ELSEWHERE = ("last try", "attempts")  # events of calls, compared by the questions about retries


@dataclass(frozen=True)
class OrderPromise:
    """A promise, the keys of its events, and every comparison of them (None: nothing orders the two).

    Of comparisons that stand together the best counts, since whatever is over soonest ends an activity.
    `activities`: both events are starts or ends of declared things.
    """

    promise: Promise
    first: str
    second: str
    alternatives: tuple[tuple[EventOrder | None, ...], ...]
    activities: bool

    @property
    def ways(self) -> tuple[EventOrder | None, ...]:
        """Returns every comparison."""
        return tuple(dict.fromkeys(order for together in self.alternatives for order in together))

    @property
    def apart(self) -> bool:
        """Returns whether some way leads to one event without the other."""
        return None in self.ways

    @property
    def gated(self) -> bool:
        """Returns whether the first event is a cause of the second, whatever way leads there."""
        known = [order for order in self.ways if order is not None and not order.rests]
        return len(known) == len(self.ways) and all(order.second and not order.first for order in known)

    @property
    def worst(self) -> tuple[EventOrder, str]:
        """Returns the comparison that decides, and its relation (`after` only where every way says so)."""
        best = [
            min((order for order in together if order is not None), key=_rank)
            for together in self.alternatives
            if any(order is not None for order in together)
        ]
        worst = max(best, key=_rank)
        relation, certain = orders.relation(worst), {orders.relation(order) for order in best} == {"after"}
        return worst, "possible" if relation == "after" and not certain else relation


def _rank(order: EventOrder) -> int:
    return RANKS.index(orders.relation(order))


def pairs(design: Design) -> tuple[OrderPromise, ...]:
    """Returns every promise that one event comes before another, both of timers or activities; gathered once."""
    return design.queries.get(pairs, lambda: tuple(_pairs(design)))


def _pairs(design: Design) -> Iterator[OrderPromise]:
    causes = occurrences.with_ends(design)
    for promise in design.promises.values():
        if promise.kind != "before" or promise.first is None or promise.second is None:
            continue
        if any(word in promise.text for word in ELSEWHERE):
            continue
        first, second = (occurrences.key_of(event, design) for event in (promise.first, promise.second))
        activities = all(_is_activity(event, design) for event in (promise.first, promise.second))
        if activities or first in causes or second in causes:
            yield OrderPromise(promise, first, second, orders.alternatives(first, second, causes), activities)


def gentle(design: Design) -> Iterator[OrderPromise]:
    """Yields an overloaded thing is unlisted before it is ended, where no promise says so and one event times both."""
    sparing, ending = list(_acting(design, SPARING)), list(_acting(design, ENDING))
    promised = {frozenset((p.first.text, p.second.text)) for p in design.promises.values() if p.first and p.second}
    causes = occurrences.with_ends(design) if sparing and ending else {}
    for (first, thing), (second, same) in itertools.product(sparing, ending):
        if thing == same and first.start == second.start and frozenset((first.name, second.name)) not in promised:
            promise = Promise("before", f"{first.name} before {second.name}", second.place)
            keys = f"{first.name} fires", f"{second.name} fires"
            yield OrderPromise(promise, *keys, orders.alternatives(*keys, causes), False)


def _acting(design: Design, verbs: tuple[str, ...]) -> Iterator[tuple[Timer, str]]:
    """(timer, thing) of those that do one of these to an overloaded thing."""
    for timer in design.timers.values():
        words = timer.then.text.split() if timer.then is not None else []
        if len(words) > 1 and words[0] in verbs and _overloaded(timer):
            yield timer, words[1]


def _overloaded(timer: Timer) -> bool:
    """Returns whether it runs from an event that an overloaded member is in."""
    start = timer.start
    return start is not None and start.kind == "outside" and bool(LOADED & set(start.text.split()))


def _is_activity(event: Event, design: Design) -> bool:
    return event.kind in ("starts", "ends") and event.thing in design.components


def timeline(order: EventOrder, *, kind: bool) -> tuple[Step, ...]:
    """Returns one run: the first event as early and the second as late as can be (`kind`), or the reverse."""
    moments = orders.moments(order.first, early=kind) + orders.moments(order.second, early=not kind)
    return orders.sorted_steps([Step(Fraction(0), order.common), *(Step(time, link.effect) for time, link in moments)])


def chain_text(chain: Chain) -> str:
    """Returns the parts of a chain in order of time: `heartbeat 600 s, then rank.dump 120 s`."""
    timed = [link for link in reversed(chain) if link.kind in ("timer", "activity")]
    return ", then ".join(f"{link.name} {orders.between(link.window)}" for link in timed) or render_seconds(0)
