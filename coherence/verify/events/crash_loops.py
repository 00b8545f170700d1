"""Finds what timers begin again after it failed, and the limits that count how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Design, Limit, Timer
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Quantity
from coherence.language.words import BEGUN_AGAIN, OVER
from coherence.verify.events import event_ways, graph, orders

COUNTED = frozenset({"restarts", "starts", "failures", "crashes"})


@dataclass(frozen=True)
class CrashLoop:
    """A thing that a timer begins again after it is over, at the soonest `apart` after the time before."""

    thing: str
    timer: Timer
    counted: frozenset[str]  # the timers that fire once each time
    apart: Fraction


def crash_loops(design: Design) -> tuple[CrashLoop, ...]:
    """Returns what timers begin again after it failed; gathered once."""
    return design.queries.get(crash_loops, lambda: tuple(_crash_loops(design)))


def holds_back(design: Design, limit: Limit) -> bool:
    """Decides whether a limit counts, within a window, how often a thing is begun again after it failed."""
    return any(counts(limit, loop) for loop in crash_loops(design))


def _crash_loops(design: Design) -> Iterator[CrashLoop]:
    for timer in design.timers.values():
        thing = _begun_again(timer)
        component = design.components.get(thing)
        if not thing or (component is not None and component.copies is not None):
            continue  # of several members one may fail while another one is begun again
        for chain in event_ways.chains(f"{timer.name} fires", graph.event_graph(design)):
            apart = orders.total(chain).earliest
            if apart > 0 and is_over(chain[-1].cause, thing):
                fired = frozenset(link.name for link in chain if link.kind == "timer")
                yield CrashLoop(thing, timer, fired, apart)


def _begun_again(timer: Timer) -> str:
    """Returns the thing that a timer begins (`start service`, `service starts`); else nothing."""
    then = timer.then
    if then is None:
        return ""
    if then.kind == "starts" and not then.activity:
        return then.thing
    verb, _, thing = then.text.partition(" ")
    return thing if verb in BEGUN_AGAIN else ""


def is_over(event: str, thing: str) -> bool:
    """Decides whether the words of an event say that a thing runs no more."""
    of, _, word = event.rpartition(" ")
    return of == thing and word in OVER


def counts(limit: Limit, loop: CrashLoop) -> bool:
    """Decides whether a limit counts within a window how often a thing is begun again, and ends it when it is full."""
    tree = limit.counts.tree if limit.counts is not None else None
    if not isinstance(tree, Name) or not isinstance(limit.window, Quantity):
        return False
    thing, _, signal = tree.path.partition(".")
    stops = limit.when_full is None or limit.when_full.text == "fail and lose"
    return stops and (tree.path in loop.counted or (thing == loop.thing and signal in COUNTED))
