"""Timers that never fire because another one always fires first and ends what both run from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Timer
from coherence.language.words import ACTIONS
from coherence.verify.timers.firing import LEASES, Firing, firing

ENDS = ACTIONS["ends"]


def answers(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per timer that another one of the same start always forestalls."""
    timers = [(timer, fires) for timer in subject.design.timers.values() if (fires := firing(timer)) is not None]
    alike: dict[tuple[object, ...], list[tuple[Timer, Firing]]] = {}
    for timer, fires in timers:
        if timer.start is not None and timer.renew is None and timer.start.kind == "starts":
            alike.setdefault((timer.start, str(timer.per)), []).append((timer, fires))
    for group in alike.values():
        for (early, first), (other, second) in itertools.permutations(group, 2):
            if not _forestalls(early, other) or _promised(subject, early, other):
                continue
            if _sooner(first, second):
                yield _answer(ask, early, other, first, second)
            elif _later(first, second) and not (_forestalls(other, early) and _sooner(second, first)):
                yield _may_fire(ask, (early, first), (other, second))


def _sooner(first: Firing, second: Firing) -> bool:
    """Returns whether one timer has always fired before another can."""
    return first.window.latest is not None and first.window.latest < second.window.earliest


def _later(first: Firing, second: Firing) -> bool:
    """Returns whether one timer can fire after another could; at one instant neither surely does."""
    return first.window.latest is not None and second.window.earliest < first.window.latest


def _promised(subject: Subject, early: Timer, other: Timer) -> bool:
    """Decides whether the design asks for this order: then the later one is a second net, and no dead timer."""
    befores = (promise for promise in subject.design.promises.values() if promise.kind == "before")
    pairs = ((p.first.subject, p.second.subject) for p in befores if p.first is not None and p.second is not None)
    return (early.name, other.name) in pairs


def _does_the_same(early: Timer, other: Timer) -> bool:
    return early.then is not None and other.then is not None and early.then.text == other.then.text


def _hands_out_again(other: Timer) -> bool:
    """Decides whether the timer gives the work to another one: it is there for a worker that dies before."""
    return other.then is not None and other.then.text.split(" ")[0] in LEASES


def _forestalls(early: Timer, other: Timer) -> bool:
    """Returns whether `early` is armed whenever `other` would fire, and its firing ends what both run from."""
    armed = early.unless is None or early.unless == other.unless
    if not armed or early.then is None or early.start is None or early.sees != other.sees:
        return False
    verb, _, thing = early.then.text.partition(" ")
    return verb in ENDS and thing.strip() == early.start.thing


def _answer(ask: Question, early: Timer, other: Timer, first: Firing, second: Firing) -> Finding:
    assert first.window.latest is not None
    earliest, latest = second.window.earliest, first.window.latest
    names = (other.name, early.name)
    places = (
        other.place.labelled(f"fires after {render_seconds(earliest)} at the earliest"),
        early.place.labelled(
            f"has fired by {render_seconds(latest)} and ends {early.start.thing if early.start else ''}"
        ),
    )
    numbers = {f"{early.name} at the latest": (latest, "s"), f"{other.name} at the earliest": (earliest, "s")}
    certificate = Certificate(claim=f"(< {first.upper} {second.lower})").script()
    steps = (
        Step(Fraction(0), f"{early.start.text if early.start else 'the event'}: both run"),
        Step(latest, f"{early.name} has fired: {early.then.text if early.then else ''}"),
        Step(earliest, f"{other.name} would fire: what it runs from is gone"),
    )
    message = f"{other.name} never fires: {early.name} always fires first ({render_seconds(latest)} at the latest)"
    evidence = arithmetic(numbers, witness=steps, certificate=certificate)
    if _does_the_same(early, other):
        return ask.note(f"{message}; both do the same", places, names, evidence)
    if _hands_out_again(other):
        return ask.note(f"{message}; it is there for a worker that dies before", places, names, evidence)
    return ask.conflict(message, places, names, evidence, certain=False)


def _may_fire(ask: Question, ending: tuple[Timer, Firing], later: tuple[Timer, Firing]) -> Finding:
    """Answers that a timer need not wait for the one that ends what both run from; what else lifts it is not asked."""
    (early, first), (other, second) = ending, later
    latest, earliest = first.window.latest or Fraction(0), second.window.earliest
    numbers = {f"{early.name} at the latest": (latest, "s"), f"{other.name} at the earliest": (earliest, "s")}
    places = (
        other.place.labelled(f"fires after {render_seconds(earliest)} at the earliest"),
        early.place.labelled(f"fires after {render_seconds(latest)} at the latest"),
    )
    evidence = arithmetic(numbers, certificate=Certificate(claim=f"(< {second.lower} {first.upper})").script())
    message = (
        f"{early.name} does not forestall {other.name}: it may take {render_seconds(latest)}, "
        f"{other.name} is due after {render_seconds(earliest)}"
    )
    return ask.proved(message, places, (other.name, early.name), evidence)


__all__ = ["answers"]
