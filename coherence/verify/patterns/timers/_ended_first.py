"""Follows what ends a timer on the way of a response first (`unless`), where it leads to the promised event itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design
from coherence.language.expressions import names as used
from coherence.verify.events import graph, orders
from coherence.verify.patterns.timers import _before, _overrun
from coherence.verify.patterns.timers._overrun import OverrunCase
from coherence.verify.patterns.timers._response_path import ResponsePath
from coherence.verify.patterns.writers._pair import Numbers

SURE = ("timer", "activity", "begins")


def outside_end(subject: Subject, way: ResponsePath, by_event: graph.Causes) -> str:
    """Returns the outside event that may end the only timer on a way that something ends first; or nothing."""
    design, second = subject.design, way.chain[0].effect
    timers = [design.timers[link.name] for link in way.chain if link.kind == "timer"]
    ends = [graph.key_of(timer.unless, design) for timer in timers if timer.unless is not None]
    other = [event for event in ends if event != second]
    return other[0] if len(other) == 1 and other[0] not in by_event else ""


def ended_first(question: Question, way: ResponsePath, event: str, after: Sequence[ResponsePath]) -> Finding | None:
    """Returns the answer where an event ends a timer of the only way first and leads to the promised one by others."""
    if not after:
        return None
    quick = min(after, key=lambda own: (own.window.latest is None, own.window.latest or 0))
    then, latest = quick.window.latest, way.window.latest
    if then is not None and latest is not None and latest + then <= way.limit and not (quick.unless or quick.missing):
        return _also_then(question, way, event, quick)
    soon, running = min(after, key=lambda own: own.reached.earliest), _running(way)
    if running + soon.reached.earliest > way.limit and not any(own.missing for own in after):
        return _too_late(question, way, event, soon)
    return None


def always_ended(question: Question, design: Design, ways: Sequence[ResponsePath]) -> Finding | None:
    """Returns the conflict where each way passes a timer that something always ends first; None where one may not.

    What ends it comes by activities and by timers that nothing ends.
    """
    cases = (case for case in _overrun.cases(design) if case.relation == "before")
    before = {case.timer.name: case for case in cases if _surely(design, case)}
    if not all(way.unless in before for way in ways):
        return None
    way = ways[0]
    case, second = before[way.unless], way.chain[0].effect
    (ends, fires), unless = case.order.windows, case.timer.unless
    assert unless is not None
    assert ends.latest is not None
    steps = [Step(Fraction(0), case.order.common)]
    steps += [Step(time, link.effect) for time, link in orders.moments(case.order.first, early=False)]
    steps.append(Step(fires.earliest, f"{way.unless} would fire: '{unless.text}' has ended it"))
    numbers: Numbers = {"ended at the latest": (ends.latest, "s"), "fires at the earliest": (fires.earliest, "s")}
    by = f"{render_seconds(ends.latest)} at the latest, and it waits {render_seconds(fires.earliest)}"
    names = dict.fromkeys((*way.of, *_overrun.names_of(case)))
    return question.conflict(
        f"'{second}' never follows '{way.start}': '{unless.text}' always ends {way.unless} first ({by})",
        (unless.place.labelled("ends it"), *way.places), tuple(names),
        arithmetic(numbers, witness=orders.sorted_steps(steps)), certain=False,
        assumptions=tuple(dict.fromkeys((*case.order.assumptions, *(t for own in way.chain for t in own.assumptions)))),
    )  # fmt: skip


def _surely(design: Design, case: OverrunCase) -> bool:
    """Decides whether what ends a timer comes whenever what it runs from does."""
    links = case.order.first
    counted = {name for limit in design.limits.values() if limit.counts is not None for name in used(limit.counts.tree)}
    timers = [design.timers[link.name] for link in links if link.kind == "timer"]
    lifted = any(timer.unless is not None or timer.name in counted for timer in timers)
    known = links and case.order.windows[0].latest is not None
    return bool(known) and not lifted and all(link.kind in SURE for link in links)


def _running(way: ResponsePath) -> Fraction:
    """Returns how long after the first event the timer that may be ended still runs, in a run in which it is quick."""
    on = list(reversed(way.chain))
    last = next(number for number, link in enumerate(on) if link.kind == "timer" and link.name == way.unless)
    return orders.total_reached(tuple(on[: last + 1])).earliest


def _also_then(question: Question, way: ResponsePath, event: str, after: ResponsePath) -> Finding:
    latest, then = way.window.latest or Fraction(0), after.window.latest or Fraction(0)
    constants = {"ended": "Real", "then": "Real"}
    facts = (f"(<= ended {rational(latest)})", f"(<= then {rational(then)})")
    script = Certificate(constants, facts, f"(<= (+ ended then) {rational(way.limit)})").script()
    numbers: Numbers = {"within": (way.limit, "s"), "fires by": (latest, "s"), "after its end": (then, "s")}
    message = f"'{way.promise.text}' holds: by {render_seconds(latest)}, or {render_seconds(then)} after '{event}'"
    assumed = dict.fromkeys(text for link in (*way.chain, *after.chain) for text in link.assumptions)
    return question.proved(
        message, (*way.places, *after.places), _of(way, after), arithmetic(numbers, certificate=script),
        assumptions=tuple(assumed), margin=latest + then < way.limit,
    )  # fmt: skip


def _of(way: ResponsePath, after: ResponsePath) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*way.of, *after.of)))


def _too_late(question: Question, way: ResponsePath, event: str, after: ResponsePath) -> Finding:
    second, least, running = way.chain[0].effect, after.reached.earliest, _running(way)
    ended = max(Fraction(0), (running + way.limit - least) / 2)  # while it runs, and too late for what follows
    by = f"{orders.between(after.reached)} after it ({_before.chain_text(after.chain)})"
    steps = [Step(Fraction(0), way.start), Step(ended, f"{event}: {way.unless} ends without firing")]
    steps += [Step(way.limit, "the promised time is over"), Step(ended + least, second)]
    numbers: Numbers = {"within": (way.limit, "s"), "ended after": (ended, "s"), "at the earliest": (least, "s")}
    return question.conflict(
        f"'{second}' may come late: '{event}' ends {way.unless} first, and it follows {by}, "
        f"not within {render_seconds(way.limit)} of '{way.start}'",
        (*way.places, *after.places), _of(way, after),
        arithmetic(numbers, witness=orders.sorted_steps(steps)), certain=False,
        assumptions=(f"'{event}' comes before {way.unless} fires",),
    )  # fmt: skip
