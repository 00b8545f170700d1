"""Fills in what a design implies: what answers its probes, and what its places have."""

from __future__ import annotations

from coherence.language.design import Component, Design, Job, Timer, needed
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event, event_of


def with_implied(design: Design) -> Design:
    """Returns the design with what it implies."""
    return _with_resources(_with_replies(design))


def is_answered_by_default(timer: Timer) -> bool:
    """Decides whether `unless` of a probe is not stated but follows from the start that it counts from."""
    return timer.unless is not None and timer.start is not None and timer.unless.place == timer.start.place


def _with_replies(design: Design) -> Design:
    """Returns the design in which each probe that counts from the start of a thing is answered once that is over."""
    answered = {timer.name: event for timer in design.timers.values() if (event := _reply(design, timer)) is not None}
    if not answered:
        return design
    timers = {
        name: timer.replace(unless=answered[name]) if name in answered else timer
        for name, timer in design.timers.items()
    }
    return design.replace(timers=timers)


def _reply(design: Design, timer: Timer) -> Event | None:
    """Returns the end of the start of what a probe looks at; None where it is stated, or another probe waits for it."""
    start = timer.start
    if timer.unless is not None or timer.every is None or timer.misses is None or start is None:
        return None
    component = design.components.get(start.thing) if start.kind == "starts" and not start.activity else None
    begins = in_role(component, "start") if component is not None else []
    if not begins or is_held_back(design, timer):
        return None
    return event_of(f"{start.thing}.{begins[-1][0]} ends", start.place)


def is_held_back(design: Design, timer: Timer) -> bool:
    """Decides whether a startup probe of the same thing holds this probe back until the start is over."""
    return (timer.every is not None and timer.misses is not None) and any(
        other.part is not None and other.part.text == "startup_probe" and other.start == timer.start
        for other in design.timers.values()
        if other.name != timer.name
    )


def _with_resources(design: Design) -> Design:
    """Returns the design whose places have what their components state of a resource that somebody needs."""
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    wanted = {resource for owner in owners for resource in needed(owner)} if design.places else set()
    given = {name: _stated(design.components.get(name), wanted) for name in design.places}
    if not any(given.values()):
        return design
    return design.replace(places={name: given[name] | place for name, place in design.places.items()})


def _stated(component: Component | None, wanted: set[str]) -> dict[str, Quantity]:
    constants = component.constants if component is not None else {}
    return {word: value for word in wanted if isinstance(value := constants.get(word), Quantity)}
