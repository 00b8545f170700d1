"""Promises `a before b`: which of them are about timers and activities, and how the two events compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.design import Design
from coherence.finding import Step
from coherence.phrases import Promise
from coherence.units import seconds
from coherence.verify import occurrences
from coherence.verify.occurrences import Causes, Chain, Order

RANKS = ("before", "touches", "unknown", "possible", "after")
ELSEWHERE = ("last try", "attempts")  # events of calls, compared by the questions about retries


@dataclass(frozen=True, slots=True)
class Pair:
    """A promise, the keys of its events, and every comparison of them (None: nothing orders the two)."""

    promise: Promise
    first: str
    second: str
    orders: tuple[Order | None, ...]

    @property
    def apart(self) -> bool:
        """Does some way lead to one event without the other?"""
        return None in self.orders

    @property
    def gated(self) -> bool:
        """Is the first event a cause of the second, whatever way leads there?"""
        return all(order is not None and not order.first and order.second for order in self.orders)

    @property
    def worst(self) -> tuple[Order, str]:
        """The comparison that decides, and its relation (`after` only where every way says so)."""
        known = [order for order in self.orders if order is not None]
        relations = [occurrences.relation(order) for order in known]
        index = max(range(len(known)), key=lambda i: RANKS.index(relations[i]))
        said = relations[index]
        return known[index], "possible" if said == "after" and set(relations) != {"after"} else said


def pairs(design: Design) -> Iterator[Pair]:
    """Every promise that one event comes before another, both of timers or activities."""
    found = occurrences.causes(design)
    for promise in design.promises.values():
        if promise.kind != "before" or promise.first is None or promise.second is None:
            continue
        if any(word in promise.text for word in ELSEWHERE):
            continue
        first, second = (occurrences.key_of(event, design) for event in (promise.first, promise.second))
        if _timed(first, found) or _timed(second, found):
            yield Pair(promise, first, second, occurrences.orders(first, second, found))


def _timed(key: str, found: Causes) -> bool:
    """Is the event something that a timer or an activity brings about or begins?"""
    return key in found or any(link.cause == key and link.kind == "activity" for links in found.values() for link in links)


def is_activity(key: str, found: Causes) -> bool:
    """The start or the end of an activity."""
    ways = [link for links in found.values() for link in links if link.kind == "activity"]
    return any(key in (link.cause, link.effect) for link in ways)


def timeline(order: Order, *, kind: bool) -> tuple[Step, ...]:
    """One run from the common cause: the first event as early and the second as late as can be (`kind`), or the reverse."""
    steps = {(0, order.common): order.windows[0].earliest * 0}
    for chain, early in ((order.first, kind), (order.second, not kind)):
        time = order.windows[0].earliest * 0
        for link in reversed(chain):
            latest = link.window.latest
            time += link.window.earliest if early or latest is None else latest
            steps[len(steps), link.effect] = time
    ordered = sorted(steps.items(), key=lambda item: (item[1], item[0][0]))
    return tuple(Step(time, text) for (_, text), time in ordered)


def told(chain: Chain) -> str:
    """The parts of a chain in order of time: `heartbeat 600 s, then rank.dump 120 s`."""
    parts = [f"{link.name} {occurrences.between(link.window)}" for link in reversed(chain) if link.kind in ("timer", "activity")]
    return ", then ".join(parts) if parts else seconds(0)
