"""Limits on how often a thing is begun again after it failed, that no crash loop ever reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Limit
from coherence.language.schema_kinds import Quantity
from coherence.verify.events import graph
from coherence.verify.events.crash_loops import CrashLoop, counts, crash_loops
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.patterns.writers._pair import Numbers


def answers(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per limit that counts within a window how often a thing is begun again after it failed."""
    facts = known(subject)
    loops = crash_loops(subject.design)
    for limit in subject.design.limits.values() if loops else ():
        for loop in loops:
            if counts(limit, loop) and not _beside(subject.design, loop, loops):
                yield from _answer(ask, subject, facts, limit, loop)


def _beside(design: Design, loop: CrashLoop, loops: tuple[CrashLoop, ...]) -> bool:
    """Decides whether something else begins the thing again, or ends it, so that the limit counts that as well."""
    named = (timer.then.text.split() for timer in design.timers.values() if timer.then and timer != loop.timer)
    acted = any(loop.thing in words for words in named)
    evicted = (each.actuation.evict for each in design.loops.values() if each.actuation is not None)
    return (
        acted
        or any(thing is not None and thing.text == loop.thing for thing in evicted)
        or len([other for other in loops if other.thing == loop.thing]) > 1
    )


def _answer(
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
        message, places, names, evidence, certain=False, repairs=tuple(_repairs(subject, limit, loop, allowed))
    )


def _repairs(subject: Subject, limit: Limit, loop: CrashLoop, allowed: int) -> Iterator[Repair]:
    """Yields the shortest window that a thing which fails at once fills."""
    from coherence.base.units import SECOND

    window = limit.window
    needed = repairs.upward_round(allowed * loop.apart)
    proposal = repairs.proposal(repairs.rewrite(subject, window.place, needed, SECOND)) if window is not None else None
    yield from [proposal] if proposal is not None else []


__all__ = ["answers"]
