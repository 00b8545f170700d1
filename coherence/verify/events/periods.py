"""Computes how far apart the firings of a timer are that starts again: by its period, or by a way back to itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import is_paced_by_reply, longest_spacing
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.clock_lives import begun_anew_by, clock_behind, returning, within_lives
from coherence.verify.events.forestalling import never_comes
from coherence.verify.events.graph import Chain, EventLink
from coherence.verify.timers import firing
from coherence.verify.timers.firing import NOW, FiringWindow


def periods(
    design: Design, timer: Timer, *, without: Collection[str] = (), starts: str | None = None
) -> Iterator[FiringWindow]:
    """Yields the times between two firings of a timer, one for each way from a firing to the next.

    `without`: events that lie between two firings on no way that counts.  `starts`: the thing whose activity is
    started in the end, to count over the ends of what a clock counts from too; None: in one life of that.
    """
    if firing.never(timer) or (timer.every is not None and firing.misses_of(timer) != (1, 1)):
        return
    if timer.every is not None and timer.start is not None and begins_anew(timer, timer.start.thing):
        fires = firing.firing(timer)
        if fires is not None and firing.begins_again(timer) and not timer.start.activity:
            yield fires.window
        return
    if timer.every is not None:
        early, late = shift_of(timer.jitter)  # two firings come closer, or further apart, by the jitter of both
        shortest = max(Fraction(0), timer.every.low - (late - early))
        longest = longest_spacing(timer) if is_paced_by_reply(timer) else timer.every.high
        period = FiringWindow(shortest, longest + late - early)
        yield from (period,) if starts is None else within_lives(design, timer, period, starts)
        return
    chains = [*_back_to_itself(design, f"{timer.name} fires")]
    for chain in chains:
        if not any(link.cause in without for link in chain):
            yield orders.total(chain)
    if not chains:
        yield from _of_its_start(design, timer, without, starts)


@dataclass(frozen=True)
class RecurringStart:
    """How far apart an event comes that begins a timer, on the way from the time before, and how late it then is."""

    apart: FiringWindow
    way: Chain
    late: FiringWindow = NOW
    clock: str = ""


def _of_its_start(design: Design, timer: Timer, without: Collection[str], starts: str | None) -> Iterator[FiringWindow]:
    """Yields the times between two firings of a timer on no circle, whose start comes again: those of it, apart by as
    much more or less as the timer takes.
    """
    own = firing.lease(timer)
    if own is None or own.window.latest is None or timer.renew is not None:
        return
    for again in _recurring_starts(design, timer, starts):
        if any(link.cause in without or _from_a_new_member(design, link) for link in again.way):
            continue
        spread, lifted = own.window + again.late, any(_may_be_lifted(design, link) for link in again.way)
        if spread.latest is not None:
            more = spread.latest - spread.earliest
            latest = None if again.apart.latest is None or lifted else again.apart.latest + more
            yield FiringWindow(max(Fraction(0), again.apart.earliest - more), latest)


def _recurring_starts(design: Design, timer: Timer, starts: str | None = None) -> Iterator[RecurringStart]:
    """Yields how the start of a timer comes again: after each of its rounds, or as often as a timer with `every` fires
    that brings it about.
    """
    if timer.start is None or timer.every is not None:
        return
    links_to = graph.event_graph(design)
    event = graph.key_of(timer.start, design)
    if never_comes(design, event) is not None:
        return
    if starts is not None and starts != timer.start.thing:
        yield from _after_each_life(design, timer)
    rounds = event_ways.rounds(event, links_to)
    yield from (RecurringStart(orders.total(chain), chain) for chain in rounds)
    for chain in event_ways.chains(event, links_to) if not rounds else ():
        clock = next((n for n, link in enumerate(chain) if link.kind == "timer" and _is_clock(design, link)), None)
        name, way = (
            (chain[clock].name, chain[:clock]) if clock is not None else (clock_behind(design, event, chain), chain)
        )
        if name:
            for apart in periods(design, design.timers[name], starts=starts):
                yield RecurringStart(apart, way, orders.total(way), name)


def _after_each_life(design: Design, timer: Timer) -> Iterator[RecurringStart]:
    """Yields how a thing starts again whose start begins a timer: after a life in which that fires, which then goes on
    for at least as long as it takes.
    """
    own, lives = firing.lease(timer), list(returning(design, timer))
    if own is None or own.window.latest is None:
        return
    for life in lives:
        lasts = life.lasts or FiringWindow(Fraction(0), None)
        if lasts.latest is None or lasts.latest >= own.window.earliest:
            sure = life.sure and life.away == 0 and len(lives) == 1
            apart = FiringWindow(max(lasts.earliest, own.window.latest) + life.away, lasts.latest if sure else None)
            yield RecurringStart(apart, (), clock=life.by)


def _is_clock(design: Design, link: EventLink) -> bool:
    return design.timers[link.name].every is not None


def _may_be_lifted(design: Design, link: EventLink) -> bool:
    return link.kind == "timer" and design.timers[link.name].unless is not None


def brought_by(design: Design, timer: Timer) -> tuple[str, ...]:
    """Returns the timers on the ways by which the start of a timer comes again, and what begins that anew."""
    every = [*_recurring_starts(design, timer)]
    on = [link.name for again in every for link in again.way if link.kind == "timer"]
    clocks = (again.clock for again in every if again.clock)
    return tuple(dict.fromkeys((*on, *clocks, *begun_anew_by(design, timer))))


def begun_beside(design: Design, timer: Timer) -> tuple[str, ...]:
    """Returns the timers that begin what a timer runs from besides the ways by which that comes again."""
    on = {link.cause for again in _recurring_starts(design, timer) for link in again.way}
    links_to, known = graph.event_graph(design), brought_by(design, timer)
    begins = [link for event in on for link in links_to.get(event, ()) if link.kind == "begins"]
    names = {link.cause.removesuffix(" fires") for link in begins if link.cause not in on}
    return tuple(sorted(names - set(known)))


def begins_anew(timer: Timer, thing: str) -> bool:
    """Decides whether a timer ends what it counts from."""
    return firing.counts_from_start(timer, thing) and firing.ended_by(timer) == thing


def _last_firings(design: Design) -> graph.Causes:
    """Returns `last ping` -> the firing that it is."""
    again: dict[str, tuple[EventLink, ...]] = {}
    for name in design.timers:
        for words in (f"last {name}", f"last {name} fires"):
            again[words] = (EventLink("begins", words, f"{name} fires", words, NOW),)
    return again


def _back_to_itself(design: Design, event: str) -> Iterator[Chain]:
    """Yields every way from an event back to the one before of the same kind."""
    links_to = {**graph.event_graph(design), **_last_firings(design)}
    for link in links_to.pop(event, ()):
        for chain in event_ways.chains(link.cause, links_to) if link.cause != event else ((),):
            whole = (link, *chain)
            if whole[-1].cause == event and not any(_from_a_new_member(design, step) for step in whole):
                yield whole


def _from_a_new_member(design: Design, link: EventLink) -> bool:
    """Decides whether a timer runs from the start of a whole thing: that of a member is not each one of an activity."""
    start = design.timers[link.name].start if link.kind == "timer" else None
    return start is not None and start.kind == "starts" and not start.activity
