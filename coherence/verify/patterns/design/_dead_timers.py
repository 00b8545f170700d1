"""Timers that another one always forestalls, and limits on how often one begins a thing again that none reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Limit, Timer
from coherence.language.entries.actions import ENDS, acted_on, action_in
from coherence.language.roles import role
from coherence.language.schema_kinds import Quantity
from coherence.verify.events import graph, orders
from coherence.verify.events.orders import EventOrder
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.jobs.selectors import NODE_WORDS
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.firing import hands_out_again

if TYPE_CHECKING:
    from coherence.verify.events.crash_loops import CrashLoop


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
            yield _answer(ask, subject.design, early, other, pair.order)
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


def _takes_the_place(design: Design, early: Timer, other: Timer) -> bool:
    """Decides whether a timer takes the node away of something that drains, which the earlier one ends there."""
    start, then = early.start, other.then.text if other.then is not None else ""
    thing = design.components.get(start.thing) if start is not None else None
    node = acted_on(then)
    drains = thing is not None and start is not None and role(thing, start.activity) == "drain"
    return drains and action_in(then) == ENDS and (node in NODE_WORDS or node in design.places)


def _answer(ask: Question, design: Design, early: Timer, other: Timer, order: EventOrder) -> Finding:
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
    if _takes_the_place(design, early, other):
        return ask.note(f"{message}; it is there for what does not end in spite of it", places, names, evidence)
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


def unreached(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per limit that counts within a window how often a thing is begun again after it failed."""
    from coherence.verify.events.crash_loops import counts, crash_loops

    facts = known(subject)
    loops = crash_loops(subject.design)
    for limit in subject.design.limits.values() if loops else ():
        for loop in loops:
            if counts(limit, loop) and not _beside(subject.design, loop, loops):
                yield from _reached(ask, subject, facts, limit, loop)


def _beside(design: Design, loop: CrashLoop, loops: tuple[CrashLoop, ...]) -> bool:
    """Decides whether something else begins the thing again, or ends it, so that the limit counts that as well."""
    named = (timer.then.text.split() for timer in design.timers.values() if timer.then and timer != loop.timer)
    acted = any(loop.thing in words for words in named)
    return (
        acted
        or any(each.evicted == loop.thing for each in design.loops.values())
        or len([other for other in loops if other.thing == loop.thing]) > 1
    )


def _reached(
    ask: Question, subject: Subject, facts: DesignFacts, limit: Limit, loop: CrashLoop
) -> Iterator[Finding]:  # fmt: skip
    tree, window = cap(facts, limit), limit.window
    bound = facts.range(tree).low if tree is not None else None
    if bound is None or not isinstance(window, Quantity):
        return
    allowed, most = math.floor(bound), math.floor(window.high / loop.apart) + 1
    places = (
        place_of(limit.at_most, limit).labelled(f"{limit.name} allows so many"),
        window.place.labelled("within this time"),
        *(place.labelled(f"{loop.timer.name} waits so long each time") for place in graph.values(loop.timer)[:1]),
    )
    names, ends = (limit.name, loop.timer.name, loop.thing), f"{loop.thing} fails as soon as it is begun again"
    numbers: Numbers = {
        "allowed": (allowed, ""),
        "at most in a window": (most, ""),
        "apart at the least": (loop.apart, "s"),
    }
    begun = f"{loop.thing} is begun again at most {most} times in {render_seconds(window.high)}"
    least = f"(* {allowed}.0 {rational(loop.apart)})"
    if most > allowed:
        claim = Certificate(claim=f"(<= {least} {rational(window.high)})").script()
        message = f"{limit.name} can be reached: {loop.thing} may be begun again {allowed + 1} times within its window"
        yield ask.proved(message, places, names, arithmetic(numbers, certificate=claim), assumptions=(ends,))
        return
    steps = tuple(Step(loop.apart * n, f"{loop.thing} failed again: {loop.timer.name} fires") for n in range(1, 5))
    evidence = arithmetic(numbers, witness=steps)
    message = f"{limit.name} never holds {loop.timer.name} back: {begun}, {allowed} are allowed"
    yield ask.conflict(
        message, places, names, evidence, certain=False, repairs=tuple(_windows(subject, limit, loop, allowed))
    )


def _windows(subject: Subject, limit: Limit, loop: CrashLoop, allowed: int) -> Iterator[Repair]:
    """Yields the shortest window that a thing which fails at once fills."""
    from coherence.base.units import SECOND

    window = limit.window
    needed = repairs.upward_round(allowed * loop.apart)
    proposal = repairs.proposal(repairs.rewrite(subject, window.place, needed, SECOND)) if window is not None else None
    yield from [proposal] if proposal is not None else []
