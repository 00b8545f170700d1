"""Fills in what a design implies: what answers its probes, what its places have, numbers that stand by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.base.units import SECOND
from coherence.language import names
from coherence.language.design import Component, Design, Job, Loop, Timer, needed
from coherence.language.expressions.tree import Name
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.sentences import Event, event_of


def with_implied(design: Design) -> Design:
    """Returns the design with what it implies."""
    return _with_resources(_behind_startup_probes(_with_replies(design)))


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
    component = design.components.get(start.thing) if start.kind == "starts" else None
    begins = [name for name, _ in in_role(component, "start")] if component is not None else []
    counts = begins and (not start.activity or start.activity in begins)
    if not counts or is_held_back(design, timer):
        return None
    return event_of(f"{start.thing}.{begins[-1]} ends", start.place)


def _behind_startup_probes(design: Design) -> Design:
    """Returns the design in which a probe that states what answers it counts from the end of its startup probe."""
    held = {
        timer.name: _held(timer, probe)
        for timer in design.timers.values()
        if timer.unless is not None and (probe := startup_probe(design, timer)) is not None and probe.unless is not None
    }
    return design.replace(timers={**design.timers, **held}) if held else design


def _held(timer: Timer, probe: Timer) -> Timer:
    """Returns a probe that looks for the first time after a startup probe has been answered, at its own or next tick.

    Its first delay counts from the start of the thing, so that it may be over by then.
    """
    assert probe.unless is not None
    assert timer.start is not None
    delays = [
        span for span in (timer.first or timer.after, probe.every, probe.reply_within) if isinstance(span, Quantity)
    ]
    latest = sum((span.high for span in delays), Fraction(0))
    first = Quantity(Fraction(0), latest, SECOND, f"0 s .. {render_seconds(latest)}", timer.start.place)
    start = event_of(probe.unless.text, timer.start.place)
    return timer.replace(start=start, first=first, after=None)


def startup_probe(design: Design, timer: Timer) -> Timer | None:
    """Returns the startup probe that holds this probe back until the start of their thing is over."""
    if timer.every is None or timer.misses is None:
        return None
    probes = (
        probe for probe in design.timers.values() if probe.part is not None and probe.part.text == "startup_probe"
    )
    return next((probe for probe in probes if probe.name != timer.name and _starts_with(probe, timer)), None)


def _starts_with(probe: Timer, timer: Timer) -> bool:
    """Decides whether two probes count from the start of one thing, or from one other event."""
    start, other = probe.start, timer.start
    if start is None or other is None:
        return start == other
    return start == other or (start.kind == other.kind == "starts" and start.thing == other.thing)


def is_held_back(design: Design, timer: Timer) -> bool:
    """Decides whether a startup probe of the same thing holds this probe back until the start is over."""
    return startup_probe(design, timer) is not None


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


def with_named_numbers(design: Design) -> Design:
    """Returns the design with numbers for `from` and `bounds` of its loops where the name of a constant stands."""
    if not any(isinstance(stated, Formula) for loop in design.loops.values() for stated in _numbers_of(loop)):
        return design
    index = dict(names.bare_names(design))
    return design.replace(loops={name: _with_numbers(design, index, loop) for name, loop in design.loops.items()})


def takes_names(design: Design) -> bool:
    """Returns whether a loop states a number by its name: an edit elsewhere may change it."""
    stated = (each for loop in design.loops.values() for each in _numbers_of(loop))
    return any(isinstance(each, Formula) or (isinstance(each, Quantity) and each.text[:1].isalpha()) for each in stated)


def _numbers_of(loop: Loop) -> tuple[object, ...]:
    return (loop.actuation.initial, *loop.actuation.bounds) if loop.actuation is not None else ()


def _with_numbers(design: Design, index: Mapping[str, str], loop: Loop) -> Loop:
    actuation = loop.actuation
    if actuation is None or not any(isinstance(stated, Formula) for stated in _numbers_of(loop)):
        return loop

    def number(stated: Any) -> Any:
        return _constant(design, index, stated) or stated if isinstance(stated, Formula) else stated

    bounds = tuple(map(number, actuation.bounds))
    return loop.replace(actuation=actuation.replace(initial=number(actuation.initial), bounds=bounds))


def _constant(design: Design, index: Mapping[str, str], stated: Formula) -> Quantity | None:
    """Returns the constant that a name stands for, at the place of the name; None for anything else."""
    if not isinstance(stated.tree, Name):
        return None
    thing, _, key = index.get(stated.tree.path, stated.tree.path).partition(".")
    component = design.components.get(thing)
    constant = component.constants.get(key) if component is not None else None
    return replace(constant, text=stated.text, place=stated.place) if isinstance(constant, Quantity) else None
