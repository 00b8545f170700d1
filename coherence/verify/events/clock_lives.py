"""Computes how far apart a clock ticks that begins anew: in one life of what it counts from, and over the end of one.

A clock that counts from the start of a member ends and begins with it.  Timers and loops that end the member or what it
runs on, and the time that its whole life takes, say when.  One that counts from another event begins anew where that
comes again, and each with what renews it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.design import Component, Design, Timer
from coherence.language.roles import whole_life
from coherence.language.schema_kinds import Quantity
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.crash_loops import is_over
from coherence.verify.events.graph import Chain
from coherence.verify.timers import firing
from coherence.verify.timers.firing import FiringWindow
from coherence.verify.timers.recurrences import away_for, comes_back


@dataclass(frozen=True)
class MemberLife:
    """How long a member lives where one thing ends it (None: at any time), how long it is away then, and whether that
    comes in every life which nothing else ends before.  `whole`: what the member does ends with it; `by`: what ends it.
    """

    lasts: FiringWindow | None
    away: Fraction
    sure: bool
    whole: bool = False
    by: str = ""


def within_lives(design: Design, timer: Timer, period: FiringWindow, starts: str) -> Iterator[FiringWindow]:
    """Yields the times between two ticks of a clock; `period`: of those in one life of what it counts from.

    `starts`: the thing whose activity is started in the end; where it is the same one, that ends with its life.
    """
    first, lives = firing.firing(timer), list(_lives(design, timer))
    if first is None or not lives:
        yield period
        return
    second = first.window + period
    shortest = [life.lasts for life in lives if life.lasts is not None]
    ends = [life.lasts.latest for life in lives if life.sure and life.lasts and life.lasts.latest is not None]
    if min(ends, default=second.earliest) >= second.earliest:
        whole = len(shortest) == len(lives) and second.latest is not None
        always = whole and all(lasts.earliest >= (second.latest or 0) for lasts in shortest)
        yield period if always else FiringWindow(period.earliest, None)
    own = timer.start is not None and starts == timer.start.thing
    for life in (life for life in lives if not (own and life.whole)):
        if life.lasts is None or life.lasts.latest is None or life.lasts.latest >= first.window.earliest:
            yield FiringWindow(first.window.earliest + life.away, None)  # a life may end right after a tick


def across_lives(
    design: Design, timer: Timer, period: FiringWindow, way: FiringWindow
) -> tuple[FiringWindow, tuple[str, ...]]:
    """Returns how far apart two ticks of a clock are, or what comes of them by a way, where it may begin anew between
    them, and what that takes for granted; `period`: of those between which it does not.
    """
    first, lives = firing.firing(timer), list(_lives(design, timer)) if timer.every is not None else []
    if first is None or not lives:
        return period, ()
    longest = period + first.window + way  # what a life ends with had begun, and is not counted
    windows = [
        FiringWindow(first.window.earliest + life.away, None if longest.latest is None else longest.latest + life.away)
        for life in lives
    ]
    latest = first.window.latest
    short = any(life.lasts is None or latest is None or life.lasts.earliest < latest for life in lives)
    return orders.hull([period, *windows]), (f"{timer.name} fires before it begins anew",) * short


def is_over_for_good(design: Design, timer: Timer) -> str:
    """Returns the thing from whose start a clock counts, where its whole life ends and it does not say that it comes
    back; or nothing.
    """
    component = _counted_from(design, timer)
    ends = component is not None and whole_life(design, component.name) and comes_back(component) is not True
    return component.name if component is not None and ends and not _begun_by_others(design, timer) else ""


def unsaid_return(design: Design, timer: Timer) -> str:
    """Returns what ends and of which nothing says whether it comes back, where a clock counts from its start; or ""."""
    component = _counted_from(design, timer)
    if component is None or comes_back(component) is not None or _begun_by_others(design, timer):
        return ""
    return component.name if any(_ended(design, timer, component, returns=True)) else ""


def _begun_by_others(design: Design, timer: Timer) -> bool:
    """Decides whether another timer brings the event that a clock counts from."""
    start = graph.key_of(timer.start, design) if timer.start is not None else ""
    others = (other for other in design.timers.values() if other.name != timer.name and not firing.never(other))
    return any(other.then is not None and graph.key_of(other.then, design) == start for other in others)


def _counted_from(design: Design, timer: Timer) -> Component | None:
    """Returns the thing from whose start a timer counts."""
    start = timer.start
    whole = start is not None and start.kind == "starts" and not start.activity and not start.of
    return design.components.get(start.thing) if whole and start is not None else None


def _lives(design: Design, timer: Timer) -> Iterator[MemberLife]:
    """Yields what begins a clock anew: what ends the thing from whose start it counts, and brings it back, its start
    that comes again, and its renewals.
    """
    yield from returning(design, timer)
    if timer.start is not None:
        component = _counted_from(design, timer)
        begun = _begun_again(design, graph.key_of(timer.start, design), timer.name)
        yield from (replace(life, whole=component is not None) for life in begun)
    if isinstance(timer.renew, Quantity):
        yield MemberLife(FiringWindow(timer.renew.low, timer.renew.high), Fraction(0), sure=True)
    elif timer.renew is not None:
        yield MemberLife(None, Fraction(0), sure=False)


def begun_anew_by(design: Design, timer: Timer) -> tuple[str, ...]:
    """Returns what ends and begins what a clock counts from, by name."""
    return tuple(dict.fromkeys(life.by for life in _lives(design, timer) if life.by))


def returning(design: Design, timer: Timer) -> Iterator[MemberLife]:
    """Yields what ends the thing from whose start a clock counts, or what that runs on, and brings it back."""
    component = _counted_from(design, timer)
    if component is not None:
        again = _begun_by_others(design, timer)
        yield from _ended(design, timer, component, returns=again or comes_back(component) is True)


def _begun_again(design: Design, event: str, clock: str) -> Iterator[MemberLife]:
    """Yields how an event comes again: after a round that leads back to it, or whenever another clock brings it."""
    links_to = graph.event_graph(design)
    rounds = event_ways.rounds(event, links_to)
    for chain in rounds:
        timers = [design.timers[link.name] for link in chain if link.kind == "timer"]
        if any(timer.name == clock for timer in timers):
            continue  # its own tick: that is what it counts its next one from
        lifted = any(timer.unless is not None for timer in timers)
        sure = not lifted and not any(link.kind == graph.MAY_END for link in chain)
        yield MemberLife(orders.total(chain), Fraction(0), sure)
    for chain in event_ways.chains(event, links_to) if not rounds else ():
        timers = [design.timers[link.name] for link in chain if link.kind == "timer"]
        clocks = (timer.name for timer in timers if timer.every is not None and timer.name != clock)
        if name := next(clocks, clock_behind(design, event, chain)):
            yield MemberLife(None, Fraction(0), sure=False, by=name)
        elif chain and timers and is_over(chain[-1].cause, event.partition(" ")[0].partition(".")[0]):
            yield MemberLife(None, orders.total(chain).earliest, sure=False, by=timers[-1].name)


def clock_behind(design: Design, event: str, chain: Chain) -> str:
    """Returns the clock, which counts from nothing, with which a way to an event begins; nothing where none does."""
    origin = chain[-1].cause if chain else event
    timer = design.timers.get(origin.removesuffix(" fires")) if origin.endswith(" fires") else None
    return timer.name if timer is not None and timer.start is None and timer.every is not None else ""


def _ended(design: Design, timer: Timer, component: Component, *, returns: bool) -> Iterator[MemberLife]:
    """Yields what ends a thing or what it runs on, where that brings it back or it `returns`."""
    host = component.runs_on.text if component.runs_on is not None else ""
    away = away_for(component) or Fraction(0)
    for other in design.timers.values():
        ended = next((thing for thing in (component.name, host) if thing and firing.ended_by(other) == thing), None)
        again = ended == component.name and firing.begins_again(other)
        if ended is None or other.name == timer.name or firing.never(other) or not (again or returns):
            continue
        own = ended == component.name and firing.counts_from_start(other, ended)
        fires = firing.firing(other) if own else None
        sure, back = own and other.unless is None, Fraction(0) if again else away
        yield MemberLife(fires.window if fires else None, back, sure, whole=True, by=other.name)
    for loop in design.loops.values() if returns else ():
        if loop.evicted and loop.evicted in (component.name, host):
            yield MemberLife(None, away, sure=False, whole=True, by=loop.name)
    life = whole_life(design, component.name)
    if life and returns:
        span = (component.takes or {})[life]
        yield MemberLife(FiringWindow(span.low, span.high), away, sure=True, whole=True)
