"""Timers that never fire because another one always fires first and ends what both run from."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import acted_on, action_in
from coherence.verify.events import graph, orders
from coherence.verify.events.orders import EventOrder
from coherence.verify.timers.firing import hands_out_again


def answers(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per timer that another one of the same start always forestalls."""
    from coherence.verify.events import forestalling

    pairs = forestalling.pairs(subject.design)
    never = {(pair.early.name, pair.other.name) for pair in pairs if pair.always}
    for pair in pairs:
        early, other = pair.early, pair.other
        if _promised(subject.design, early, other):
            continue
        if pair.always:
            yield _answer(ask, early, other, pair.order)
        elif _may_come_later(pair.order) and (other.name, early.name) not in never:
            yield _may_fire(ask, early, other, pair.order)


def _may_come_later(order: EventOrder) -> bool:
    """Decides whether one timer can fire after another could; at one instant neither surely does."""
    first, second = order.reached
    return first.latest is not None and not order.open and second.earliest < first.latest


def _promised(design: Design, early: Timer, other: Timer) -> bool:
    """Decides whether the design asks for this order: then the later one is a second net, and no dead timer."""
    befores = ((p.first, p.second) for p in design.promises.values() if p.kind == "before")
    pairs = ((graph.key_of(a, design), graph.key_of(b, design)) for a, b in befores if a is not None and b is not None)
    return (f"{early.name} fires", f"{other.name} fires") in pairs


def _does_the_same(early: Timer, other: Timer) -> bool:
    if early.then is None or other.then is None:
        return False
    words, others = early.then.text, other.then.text
    alike = action_in(words) == action_in(others) != "" and acted_on(words) == acted_on(others)
    return alike or words == others


def _answer(ask: Question, early: Timer, other: Timer, order: EventOrder) -> Finding:
    first, second = order.windows
    assert first.latest is not None
    earliest, latest, start = second.earliest, first.latest, order.common
    names = (other.name, early.name)
    places = (
        other.place.labelled(f"fires after {render_seconds(earliest)} at the earliest"),
        early.place.labelled(
            f"has fired by {render_seconds(latest)} and ends {early.start.thing if early.start else ''}"
        ),
    )
    numbers = {f"{early.name} at the latest": (latest, "s"), f"{other.name} at the earliest": (earliest, "s")}
    steps = (
        Step(Fraction(0), f"{start}: both run"),
        Step(latest, f"{early.name} has fired: {early.then.text if early.then else ''}"),
        Step(earliest, f"{other.name} would fire: what it runs from is gone"),
    )
    message = f"{other.name} never fires: {early.name} always fires first ({render_seconds(latest)} at the latest)"
    evidence = arithmetic(numbers, witness=steps, certificate=orders.certificate(order, "<"))
    if _does_the_same(early, other):
        return ask.note(f"{message}; both do the same", places, names, evidence)
    if hands_out_again(other):
        return ask.note(f"{message}; it is there for a worker that dies before", places, names, evidence)
    return ask.conflict(message, places, names, evidence, certain=False)


def _may_fire(ask: Question, early: Timer, other: Timer, order: EventOrder) -> Finding:
    """Answers that a timer need not wait for the one that ends what both run from; what else lifts it is not asked."""
    first, second = order.reached
    latest, earliest = first.latest or Fraction(0), second.earliest
    numbers = {f"{early.name} at the latest": (latest, "s"), f"{other.name} at the earliest": (earliest, "s")}
    places = (
        other.place.labelled(f"fires after {render_seconds(earliest)} at the earliest"),
        early.place.labelled(f"fires after {render_seconds(latest)} at the latest"),
    )
    evidence = arithmetic(
        numbers, certificate=Certificate(claim=f"(< {rational(earliest)} {rational(latest)})").script()
    )
    message = (
        f"{early.name} does not forestall {other.name}: it may take {render_seconds(latest)}, "
        f"{other.name} is due after {render_seconds(earliest)}"
    )
    return ask.proved(message, places, (other.name, early.name), evidence)


__all__ = ["answers"]
