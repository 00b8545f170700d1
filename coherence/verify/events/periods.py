"""Computes how far apart the firings of a timer are that starts again: by its period, or by a way back to itself."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.entries.actions import ENDS, action_in, takes_back
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import is_paced_by_reply, longest_spacing
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.graph import Chain, EventLink
from coherence.verify.timers import firing
from coherence.verify.timers.firing import NOW, FiringWindow


def periods(design: Design, timer: Timer, *, without: str = "") -> Iterator[FiringWindow]:
    """Yields the times between two firings of a timer, one for each way from a firing to the next.

    `without`: an event that lies between two firings on no way that counts.
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
        yield FiringWindow(shortest, longest + late - early)
        return
    chains = [*_back_to_itself(design, f"{timer.name} fires")]
    for chain in chains:
        if without not in (link.cause for link in chain):
            yield orders.total(chain)
    if not chains:
        yield from _of_its_start(design, timer, without)


def _of_its_start(design: Design, timer: Timer, without: str) -> Iterator[FiringWindow]:
    """Yields the times between two firings of a timer on no circle, whose start comes again: those of it, apart by as
    much more or less as the timer takes.
    """
    own, links_to = firing.lease(timer), graph.event_graph(design)
    if own is None or own.window.latest is None or timer.start is None or timer.renew is not None:
        return
    spread = own.window.latest - own.window.earliest
    for chain in event_ways.rounds(graph.key_of(timer.start, design), links_to):
        if without not in (link.cause for link in chain) and not any(
            _from_a_new_member(design, link) for link in chain
        ):
            apart = orders.total(chain)
            latest = None if apart.latest is None else apart.latest + spread
            yield FiringWindow(max(Fraction(0), apart.earliest - spread), latest)


def begins_anew(timer: Timer, thing: str) -> bool:
    """Decides whether a timer ends what it counts from."""
    words = timer.then.text.split() if timer.then is not None else []
    ends = action_in(" ".join(words)) == ENDS or takes_back(" ".join(words))
    return firing.counts_from_start(timer, thing) and ends and words[1:2] == [thing]


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
