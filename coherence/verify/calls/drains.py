"""Finds how long a removed thing still answers: its drain, stated by the component or by a timer.

A component says it as `drain: 60 s` or `takes: {drain: 60 s}`.  A timer says it when it ends the thing
(`then: stop pool`) some time after an event of draining (`pool drains`, `drain starts`, `spot notice`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.language.design import Design, Timer
from coherence.language.jitter import shift_of
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.words import ACTIVITIES
from coherence.verify.calls.attempts import ZERO, DurationInterval
from coherence.verify.calls.call_graph import ended_by

DRAIN_KEYS = ACTIVITIES["drain"]
_DRAINING = (
    "drain",
    "stop",
    "terminat",
    "preempt",
    "reclaim",
    "evict",
    "shutdown",
    "shut down",
    "notice",
    "interrupt",
    "unlist",
    "scale down",
)


@dataclass(frozen=True)
class Drain:
    """From the event on, `thing` answers for `lasts` seconds and is then gone.

    `waits`: it ends as soon as nothing is in flight any more; `lasts` is its longest time.
    """

    name: str  # of the timer, or of the component that says it
    thing: str
    lasts: DurationInterval
    place: Place
    text: str
    waits: bool = False


def drains(design: Design) -> Iterator[Drain]:
    """Yields every drain of the design."""
    for component in design.components.values():
        stated = next((q for key in DRAIN_KEYS if isinstance(q := component.constants.get(key), Quantity)), None)
        activity = time_of(component, "drain")
        if stated is not None:
            yield _of_component(component.name, stated, DurationInterval(stated.low, stated.high))
        elif activity is not None:  # it waits for what is in flight: its shortest time is that of an idle member
            yield _of_component(component.name, activity, DurationInterval(activity.high, activity.high), waits=True)
    for timer in design.timers.values():
        thing = ended_by(timer)
        if thing and isinstance(timer.after, Quantity) and begins_drain(timer):
            early, late = shift_of(timer.jitter)
            span = DurationInterval(max(ZERO, timer.after.low + early), timer.after.high + late)
            yield Drain(timer.name, thing, span, timer.after.place, timer.after.text)


def _of_component(name: str, stated: Quantity, lasts: DurationInterval, *, waits: bool = False) -> Drain:
    return Drain(name, name, lasts, stated.place, stated.text, waits=waits and not stated.exact)


def begins_drain(timer: Timer) -> bool:
    """Decides whether the timer runs from an event that begins a drain."""
    return (
        timer.start is not None
        and timer.start.kind in ("outside", "starts")
        and any(word in timer.start.text for word in _DRAINING)
    )


def unlisted(design: Design, thing: str) -> Quantity | None:
    """Returns how long after the drain began new calls still reach the thing: a timer `then: unlist thing`."""
    for timer in design.timers.values():
        words = timer.then.text.split() if timer.then else []
        if words[:1] == ["unlist"] and words[-1] == thing and begins_drain(timer) and isinstance(timer.after, Quantity):
            return timer.after
    return None
