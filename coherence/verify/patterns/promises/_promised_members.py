"""Holds promises about the members left against how many of a thing go: in a cascade, or at once by one event."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.language.design import Timer
from coherence.language.entries.actions import acted_on, action_in
from coherence.language.expressions import names as used
from coherence.language.sentences import Promise
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.ranges import point, truth, with_ranges
from coherence.verify.patterns.timers import _overrun
from coherence.verify.timers.firing import action_of, never
from coherence.verify.timers.removals import LEFT, OUT, REMOVING, Removal, caps_on

BROKEN = {"always": False, "never": True}
STILL_UP = ("healthy", "up")  # what is only taken off a list may be these
MOST_MEMBERS = 10_000


def broken_promises(
    facts: DesignFacts, thing: str, members: int, out: int, *, unlisted: bool = False
) -> tuple[Promise, ...]:
    """Returns the promises about how many there are that do not hold with `out` of `members` out of service."""
    left = {f"{thing}.{word}": point(members - out) for word in LEFT if not (unlisted and word in STILL_UP)}
    gone = {f"{thing}.{word}": point(out) for word in OUT}
    values = with_ranges(facts.values, {f"{thing}.copies": point(members)} | left | gone)
    return tuple(
        promise
        for promise in facts.design.promises.values()
        if promise.kind in BROKEN and promise.condition is not None
        and not (left | gone).keys().isdisjoint(used(promise.condition.tree))
        and truth(promise.condition.tree, values) is BROKEN[promise.kind]
    )  # fmt: skip


def taken_at_once(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a conflict per timer that one event starts for each member of a thing, where a promise counts on some."""
    for timer in facts.design.timers.values():
        thing = timer.per.text if timer.per is not None else ""
        if thing in facts.design.components and _takes_each(facts, timer, thing):
            yield from _emptied(question, facts, timer, thing)


def _takes_each(facts: DesignFacts, timer: Timer, thing: str) -> bool:
    """Decides whether the timer removes members, and whether what starts it is one event of another thing."""
    start, then = timer.start, timer.then.text if timer.then is not None else ""
    removes = acted_on(then) == thing and (action_in(then) in REMOVING or action_of(timer) in REMOVING)
    if not removes or start is None or not start.activity or start.thing == thing or never(timer):
        return False
    others = copies(facts, start.thing)
    alone = start.thing in facts.design.components and (others is None or others.high == 1)
    return alone and (timer.unless is None or _relation(facts, timer) in ("possible", "after"))


def _relation(facts: DesignFacts, timer: Timer) -> str:
    cases = _overrun.cases(facts.design)
    return next((case.relation for case in cases if case.timer.name == timer.name), "unknown")


def _emptied(question: Question, facts: DesignFacts, timer: Timer, thing: str) -> Iterator[Finding]:
    range_ = copies(facts, thing)
    if range_ is None or range_.low is None or range_.high is None or timer.start is None:
        return
    low, unlisted = max(1, math.ceil(range_.low)), action_of(timer) == "takes off the list"
    removal = Removal(thing, timer.name, "", timer.place, None, driven=False, caps=tuple(caps_on(facts, thing)))
    for members in range(low, min(math.floor(range_.high), low + MOST_MEMBERS) + 1):
        out = removal.most(facts, members)
        broken = broken_promises(facts, thing, members, out, unlisted=unlisted) if out else ()
        if out and broken:
            yield _conflict(question, removal, timer.start.text, (members, out), broken)
            return


def _conflict(
    question: Question, removal: Removal, event: str, size: tuple[int, int], broken: tuple[Promise, ...]
) -> Finding:
    members, out = size
    message = (
        f"{removal.name} takes {out} of {members} {removal.thing} out, since one event starts it for each of them: "
        f"'{event}'"
    )
    witness = (
        Step(None, event),
        Step(None, f"{removal.name} fires for {out} of {members} {removal.thing}: {members - out} are left"),
    )
    places = (*removal.places, *(promise.place.labelled("promised") for promise in broken))
    of = (*removal.of, removal.thing, *(promise.name for promise in broken))
    numbers = {"members": (members, ""), "out": (out, "")}
    return question.conflict(message, places, of, arithmetic(numbers, witness=witness), certain=False)
