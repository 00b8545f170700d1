"""Follows what ends a timer on the way of a response first (`unless`), where it leads to the promised event itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.verify.events import graph, orders
from coherence.verify.patterns.timers import _before
from coherence.verify.patterns.timers._response_path import ResponsePath
from coherence.verify.patterns.writers._pair import Numbers


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
