"""Timers that never fire because another one always fires first and ends what both run from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.actions import acted_on, action_in
from coherence.language.design import Design, Timer
from coherence.language.words import ACTIONS
from coherence.verify.events import graph, orders
from coherence.verify.events.orders import EventOrder
from coherence.verify.timers.firing import LEASES, firing

ENDS = ACTIONS["ends"]


def answers(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per timer that another one of the same start always forestalls."""
    design = subject.design
    timers = [timer for timer in design.timers.values() if firing(timer) is not None and timer.renew is None]
    for early, other in itertools.permutations(timers, 2):
        if _forestalls(design, early, other) and not _promised(design, early, other):
            yield from _compared(ask, design, early, other)


def _compared(ask: Question, design: Design, early: Timer, other: Timer) -> Iterator[Finding]:
    order = _order(design, early, other)
    if order is None:
        return
    if orders.relation(order) == "before":
        yield _answer(ask, early, other, order)
    elif _may_come_later(order):
        back = _order(design, other, early) if _forestalls(design, other, early) else None
        if back is None or orders.relation(back) != "before":
            yield _may_fire(ask, early, other, order)


def _order(design: Design, early: Timer, other: Timer) -> EventOrder | None:
    """Returns how one firing stands to another, where one event leads to both in every run."""
    ways = orders.alternatives(f"{early.name} fires", f"{other.name} fires", graph.event_graph(design), armed=True)
    worst = orders.deciding_order(ways)
    return worst[0] if worst is not None and not any(None in together for together in ways) else None


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


def _hands_out_again(other: Timer) -> bool:
    """Decides whether the timer gives the work to another one: it is there for a worker that dies before."""
    return other.then is not None and other.then.text.split(" ")[0] in LEASES


def _forestalls(design: Design, early: Timer, other: Timer) -> bool:
    """Returns whether `early` is armed whenever `other` would fire, and its firing ends what both run from."""
    start, begins = early.start, other.start
    if start is None or begins is None or early.then is None or (start.kind, begins.kind) != ("starts", "starts"):
        return False
    lifts = [graph.key_of(timer.unless, design) if timer.unless is not None else "" for timer in (early, other)]
    armed = lifts[0] in ("", lifts[1]) and early.sees == other.sees and str(early.per) == str(other.per)
    verb, _, thing = early.then.text.partition(" ")
    return armed and verb in ENDS and thing.strip() == start.thing == begins.thing


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
    if _hands_out_again(other):
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
