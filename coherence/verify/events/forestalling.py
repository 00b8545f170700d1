"""Finds timers that another timer of the same start always forestalls: it fires first and ends what both run from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coherence.language.design import Design, Timer
from coherence.language.entries.actions import drained_by
from coherence.language.implied import is_held_back
from coherence.language.roles import in_role, things, whole_life
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.orders import EventOrder
from coherence.verify.timers.firing import ended_by, firing


@dataclass(frozen=True)
class TimerPair:
    """A timer that ends what another one runs from, and how their firings stand to each other."""

    early: Timer
    other: Timer
    order: EventOrder

    @property
    def always(self) -> bool:
        """Returns whether the other one never fires."""
        return orders.relation(self.order) == "before"


def pairs(design: Design) -> tuple[TimerPair, ...]:
    """Returns every pair of timers of one start of which the first ends what both run from; gathered once."""
    return design.queries.get(pairs, lambda: tuple(_pairs(design)))


def forestaller(design: Design, timer: Timer) -> TimerPair | None:
    """Returns the pair by which a timer never fires; None where no other timer surely forestalls it."""
    return next((pair for pair in _pairs_by_other(design).get(timer.name, ()) if pair.always), None)


def never_fires(design: Design, timer: Timer) -> bool:
    """Decides whether another timer always ends first what a timer runs from, so that it never fires."""
    return len(design.timers) > 1 and forestaller(design, timer) is not None


def never_comes(design: Design, event: str) -> TimerPair | None:
    """Returns the pair by which an event never comes: the only way to it is through a timer that never fires."""
    if len(design.timers) < 2 or not any(pair.always for pair in pairs(design)):
        return None
    timers = [link.name for link in event_ways.only_way(event, graph.event_graph(design)) if link.kind == "timer"]
    dead = (forestaller(design, design.timers[name]) for name in timers if name in design.timers)
    return next((pair for pair in dead if pair is not None), None)


def _pairs_by_other(design: Design) -> Mapping[str, list[TimerPair]]:
    """Returns the pairs by the name of the timer that may be forestalled; gathered once."""

    def gathered() -> dict[str, list[TimerPair]]:
        by_name: dict[str, list[TimerPair]] = {}
        for pair in pairs(design):
            by_name.setdefault(pair.other.name, []).append(pair)
        return by_name

    return design.queries.get(_pairs_by_other, gathered)


def _pairs(design: Design) -> Iterator[TimerPair]:
    timers = [timer for timer in design.timers.values() if firing(timer) is not None and timer.renew is None]
    begun: dict[str, list[Timer]] = {}  # by the thing that starts: all pairs of 5,000 timers would be 25 million
    for timer in timers:
        if timer.start is not None and timer.start.kind == "starts":
            begun.setdefault(timer.start.thing, []).append(timer)
    for early in timers:
        for other in begun.get(_ended_thing(design, early), ()):
            order = _order(design, early, other) if other is not early and _is_armed(design, early, other) else None
            if order is not None:
                yield TimerPair(early, other, order)


def _order(design: Design, early: Timer, other: Timer) -> EventOrder | None:
    """Returns how one firing stands to another, where one event leads to both in every run."""
    ways = orders.alternatives(f"{early.name} fires", f"{other.name} fires", graph.event_graph(design), armed=True)
    worst = orders.deciding_order(ways)
    return worst[0] if worst is not None and not any(None in together for together in ways) else None


def _ended_thing(design: Design, timer: Timer) -> str:
    """Returns the thing from whose start a timer runs, where its firing ends that at once; else nothing.

    What is ordered to end in its own time drains first, or waits for its work: others fire meanwhile.
    """
    start, then = timer.start, timer.then
    if start is None or start.kind != "starts" or then is None or ended_by(timer) != start.thing:
        return ""
    component = things(design).get(start.thing)
    waits = component is not None and (in_role(component, "drain") or whole_life(design, start.thing))
    return "" if waits and drained_by(then.text) else start.thing


def _is_armed(design: Design, early: Timer, other: Timer) -> bool:
    """Returns whether `early` is armed whenever `other` would fire: no probe is while a startup probe runs."""
    starting = early.part is not None and early.part.text == "startup_probe"
    if is_held_back(design, early) or (starting and is_held_back(design, other)):
        return False
    lifts = [graph.key_of(timer.unless, design) if timer.unless is not None else "" for timer in (early, other)]
    return lifts[0] in ("", lifts[1]) and early.sees == other.sees and str(early.per) == str(other.per)
