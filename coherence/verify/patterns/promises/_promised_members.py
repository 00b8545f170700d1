"""Holds promises about the members left against how many of a thing go: in a cascade, at once by one event, or none.

None go where all timers that take members out never fire, and nothing else in the design moves, evicts or loses any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.solver import joined
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.findings.standing_proofs import taken_out
from coherence.language.design import Limit, Timer
from coherence.language.entries.actions import acted_on
from coherence.language.expressions import names as used
from coherence.language.sentences import Event, Promise
from coherence.language.words import OVER
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import caps_at_all_times, needs_shares
from coherence.verify.facts.members_that_stay import unmoved
from coherence.verify.facts.ranges import point, truth, with_ranges
from coherence.verify.facts.satisfiability import SatQuery, opposite
from coherence.verify.patterns.timers import _overrun
from coherence.verify.queues.member_rates import member_rate
from coherence.verify.queues.offered_load import offered
from coherence.verify.timers.firing import action_of, never
from coherence.verify.timers.removals import (
    CAPPED,
    LEFT,
    OUT,
    REMOVING,
    TAKES_NONE,
    Removal,
    caps_of_places,
    caps_on,
    departures,
    failing,
    removals,
    taken_out_by,
)

BROKEN = {"always": False, "never": True}
STILL_UP = ("healthy", "up")  # what is only taken off a list may be these
UNLISTS = "takes off the list"
UNLISTED, ENDED = {*CAPPED, "out", "unready"}, {"removed", "out", "down", "unavailable"}  # what a cap counts of each
MOST_MEMBERS = 10_000
Keeping = Callable[[Removal, int, int], Iterator[Repair]]  # of so many members so many


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


def refuted_by(facts: DesignFacts, removal: Removal, left: int) -> tuple[str, ...]:
    """Returns what proofs that all members serve take for granted, where a removal leaves so few that they do not."""
    demand, each = offered(facts, removal.thing), member_rate(facts, removal.thing)
    if demand is not None and each is not None and left * each.low > demand.high:
        return ()
    return (*taken_out(facts.design, removal.name), TAKES_NONE.format(removal.name, removal.thing))


def taken_at_once(question: Question, facts: DesignFacts, keeping: Keeping) -> Iterator[Finding]:
    """Yields a conflict per timer that one event starts for each member of a thing, where a promise counts on some.

    `keeping` proposes what keeps so many of the members.
    """
    for timer, removal in _removals_of_each(facts):
        yield from _emptied(question, facts, timer, removal, keeping)


def _removals_of_each(facts: DesignFacts) -> Iterator[tuple[Timer, Removal]]:
    for timer in facts.design.timers.values():
        thing = timer.per.text if timer.per is not None else ""
        if thing in facts.design.components and _takes_each(facts, timer, thing):
            caps = tuple(caps_on(facts, thing))
            yield timer, Removal(thing, timer.name, "", timer.place, None, driven=False, caps=caps)


def _removals_one_by_one(facts: DesignFacts) -> Iterator[tuple[Timer, Removal]]:
    """Yields timers that take out the member that is overloaded, or that fails, where it is said how many fail."""
    for removal in removals(facts):
        timer, fails = facts.design.timers.get(removal.name), failing(facts, removal.thing)
        words = timer.start.text.split() if timer is not None and timer.start is not None else []
        if timer is None or timer.per is not None or removal.thing not in words or never(timer):
            continue
        if removal.driven and fails is None:
            yield timer, removal
        elif fails is not None and fails.high is not None and words[-1] in OVER:
            yield timer, replace(removal, bound=fails.high, caps=())


def kept_by_caps(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields the proof of each promise that a cap or floor keeps where one event takes out each member of a thing, or
    load one after the other; and of each that so many keep as do not fail.

    Only where nothing else is stated that takes any out, and the cap counts at all times what these timers do.
    """
    answered: set[str] = set()
    for timer, removal in (*_removals_of_each(facts), *_removals_one_by_one(facts)):
        thing, action = removal.thing, action_of(timer)
        caps = tuple(limit for limit in removal.caps if _holds_back(limit, action))
        acting = (other for other in facts.design.timers.values() if _acts_on(other) == thing)
        timers = [other for other in acting if removal.bound is None or other == timer]
        alike = all(action_of(other) == action for other in timers)
        bounded = caps or removal.bound is not None
        if thing not in answered and bounded and alike and _stays_otherwise(facts, thing, timers, removal):
            answered.add(thing)
            names = " and ".join(limit.name for limit in caps)
            counted = f"{names} counts each of {thing} that is taken out, by whatever name"
            if removal.bound is not None:
                counted = f"at most {removal.bound} of {thing} fail together, and are back before others do"
            assumed = (f"all of {thing} are up when a run begins", counted, *unmoved(facts.design, thing))
            yield from _enough(question, facts, replace(removal, caps=caps), assumed)


def _holds_back(limit: Limit, action: str) -> bool:
    """Decides whether a limit bounds at all times how many members an action has taken out, or those it leaves."""
    words = {path.rpartition(".")[2] for path in (used(limit.counts.tree) if limit.counts is not None else ())}
    off, up = (UNLISTED, set(LEFT) - {*STILL_UP}) if action == UNLISTS else (ENDED, {*LEFT} - {"listed", "left"})
    return caps_at_all_times(limit) and words <= (up if limit.at_most is None else off)


def enough_left(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a proof per promise and timer that what one event takes out at once leaves as many as are promised."""
    for _, removal in _removals_of_each(facts):
        yield from _enough(question, facts, removal, ())


def _enough(question: Question, facts: DesignFacts, removal: Removal, assumed: tuple[str, ...]) -> Iterator[Finding]:
    range_ = copies(facts, removal.thing)
    exact = range_ is not None and range_.exact and range_.low is not None and range_.low.denominator == 1
    members = int(range_.low) if exact and range_ is not None and range_.low is not None else 0
    out = removal.most(facts, members) if members > 0 else None
    for promise in facts.design.promises.values() if out is not None else ():
        for finding in _left_enough(question, facts, removal, promise, (members, out or 0)):
            yield replace(finding, assumptions=(*finding.assumptions, *assumed))


def _left_enough(
    question: Question, facts: DesignFacts, removal: Removal, promise: Promise, size: tuple[int, int]
) -> Iterator[Finding]:
    (members, out), thing = size, removal.thing
    remaining, gone = Interval(Fraction(members - out), Fraction(members)), Interval(Fraction(0), Fraction(out))
    own = {f"{thing}.{word}": remaining for word in LEFT} | {f"{thing}.{word}": gone for word in OUT}
    if promise.kind not in BROKEN or promise.condition is None or own.keys().isdisjoint(used(promise.condition.tree)):
        return
    tree = facts.tree(promise.condition.tree)
    values = with_ranges(facts.values, {f"{thing}.copies": point(members)} | own)
    if not own.keys().isdisjoint(facts.quantities) or truth(tree, values) is not (not BROKEN[promise.kind]):
        return
    script = SatQuery((opposite(tree) if promise.kind == "always" else tree,), values).script()
    message = f"{promise.text}: {removal.name} takes out {out} of {members} {thing} at most"
    places = (promise.place.labelled("promised"), *removal.places)
    of = (*removal.of, thing, promise.name)
    evidence = arithmetic({"members": (members, ""), "out": (out, "")}, certificate=script)
    yield question.absent(message, places, of, evidence, assumptions=[f"nothing else takes {thing} out"])


def _takes_each(facts: DesignFacts, timer: Timer, thing: str) -> bool:
    """Decides whether the timer removes members, and whether what starts it is one event of another thing."""
    start = timer.start
    if taken_out_by(timer) != thing or start is None or never(timer) or not _comes_once(facts, start, thing):
        return False
    return timer.unless is None or _relation(facts, timer) in ("possible", "after")


def _comes_once(facts: DesignFacts, start: Event, thing: str) -> bool:
    """Decides whether an event is one for all members of a thing: of what there is one of, or from outside.

    An outside event that names the thing, or a timer that there is one of for each of something, is each member's own.
    """
    design, words = facts.design, start.text.split()
    if start.kind != "outside":
        return bool(start.activity) and start.thing != thing and _single(facts, start.thing)
    each = {name for name, policy in (design.timers | design.loops).items() if policy.per is not None}
    names = {word.partition(".")[0] for word in words}
    others = names & design.components.keys()
    return not start.of and thing not in names and each.isdisjoint(words) and all(_single(facts, n) for n in others)


def _single(facts: DesignFacts, thing: str) -> bool:
    members = copies(facts, thing)
    return thing in facts.design.components and (members is None or members.high == 1)


def _relation(facts: DesignFacts, timer: Timer) -> str:
    cases = _overrun.cases(facts.design)
    return next((case.relation for case in cases if case.timer.name == timer.name), "unknown")


def _emptied(
    question: Question, facts: DesignFacts, timer: Timer, removal: Removal, keeping: Keeping
) -> Iterator[Finding]:
    thing = removal.thing
    range_ = copies(facts, thing)
    if range_ is None or range_.low is None or range_.high is None or timer.start is None:
        return
    low, unlisted = max(1, math.ceil(range_.low)), action_of(timer) == UNLISTS
    for members in range(low, min(math.floor(range_.high), low + MOST_MEMBERS) + 1):
        out = removal.most(facts, members)
        broken = broken_promises(facts, thing, members, out, unlisted=unlisted) if out else ()
        if out and broken and (limit := next(caps_of_places(facts, thing), None)) is not None:
            where = (*removal.places, limit.place.labelled("one for each"))
            yield question.undecided(needs_shares(limit, thing), where, (removal.name, limit.name, thing))
            return
        if out and broken:
            goes = (
                n for n in range(out - 1, -1, -1) if not broken_promises(facts, thing, members, n, unlisted=unlisted)
            )
            fewer = next(goes, None)
            proposals = () if fewer is None else keeping(removal, members, members - fewer)
            conflict = _conflict(question, removal, timer.start.text, (members, out), broken, tuple(proposals))
            yield conflict.refuting(*refuted_by(facts, removal, members - out))
            return


def _conflict(
    question: Question,
    removal: Removal,
    event: str,
    size: tuple[int, int],
    broken: tuple[Promise, ...],
    proposals: tuple[Repair, ...],
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
    evidence = arithmetic(numbers, witness=witness)
    return question.conflict(message, places, of, evidence, certain=False, repairs=proposals)


def taken_by_nobody(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields the proof of each promise about members of which every timer that takes some out never fires."""
    for promise in facts.design.promises.values():
        if promise.kind not in BROKEN or promise.condition is None:
            continue
        words = used(promise.condition.tree)
        things = {path.partition(".")[0] for path in words if path.rpartition(".")[2] in (*LEFT, *OUT)}
        thing = next(iter(things)) if len(things) == 1 else ""
        timers = [timer for timer in facts.design.timers.values() if thing and _acts_on(timer) == thing]
        idle = [case for case in _overrun.cases(facts.design) if case.timer in timers and case.relation == "before"]
        if idle and len(idle) + sum(map(never, timers)) == len(timers) and _stays_otherwise(facts, thing, timers):
            yield from _all_left(question, facts, promise, thing, idle)


def _acts_on(timer: Timer) -> str:
    return acted_on(timer.then.text) if timer.then is not None else ""


def _stays_otherwise(facts: DesignFacts, thing: str, timers: Collection[Timer], removal: Removal | None = None) -> bool:
    """Decides whether nothing but these timers is stated that takes members of a thing out or adds some.

    Of a `removal` its caps tell of no others, nor its start where a bound or load says how many go.
    """
    design, component = facts.design, facts.design.components.get(thing)
    bounded = removal is not None and removal.bound is not None
    if component is None or component.part is not None or (failing(facts, thing) is not None and not bounded):
        return False
    caps, own = (removal.caps, removal.name if bounded or removal.driven else "") if removal is not None else ((), "")
    names = {timer.name for timer in timers}
    host = component.runs_on.text if component.runs_on is not None else ""
    things = (thing, host) if host in design.components else (thing,)
    goes = any(departure.name not in names for each in things for departure in departures(facts, each))
    moved = any(path.partition(".")[0] == thing for path in facts.written)
    lost = any(not {"lost", "drained"}.isdisjoint(place) for place in design.places.values())
    actions = [timer.then.text.split() for timer in timers if timer.then is not None]
    verbs = {word for words in actions for word in words if word != thing}
    events = ((t.start if t.name != own else None, t.unless) for t in design.timers.values())
    heard = (event.text.split() for pair in events for event in pair if event)
    other = any(thing in words and not words[-1].startswith(tuple(verbs)) for words in heard)
    known = {limit.name for limit in caps} | (names if caps or own else set())
    beside = any(removal.thing == thing and removal.name not in known for removal in removals(facts))
    spoken = any(_speaks_of(timer, thing) for timer in design.timers.values() if timer.name not in names)
    return not (goes or moved or lost or other or beside or spoken)


def _speaks_of(timer: Timer, thing: str) -> bool:
    """Decides whether a timer that acts on another thing, or on none, may take members of this one out."""
    words = timer.then.text.split() if timer.then is not None else []
    each = timer.per is not None and timer.per.text == thing
    return thing in words or (each and action_of(timer) in REMOVING)


def _all_left(
    question: Question, facts: DesignFacts, promise: Promise, thing: str, idle: Sequence[_overrun.OverrunCase]
) -> Iterator[Finding]:
    members = copies(facts, thing)
    if members is None or members.low is None or not members.exact or promise.condition is None:
        return
    own = {f"{thing}.{word}": members for word in ("copies", *LEFT)} | {f"{thing}.{word}": point(0) for word in OUT}
    tree = facts.tree(promise.condition.tree)
    values = with_ranges(facts.values, own)
    if truth(tree, values) is not (not BROKEN[promise.kind]):
        return
    broken = SatQuery((opposite(tree) if promise.kind == "always" else tree,), values)
    proofs = [_overrun.proved(question, case) for case in idle]
    names = " and ".join(case.timer.name for case in idle)
    verb = "fires" if len(idle) == 1 else "fire"
    message = f"{promise.text}: all {render_quantity(members.low)} {thing} are left, since {names} never {verb}"
    places = (promise.place.labelled("promised"), *(place for proof in proofs for place in proof.places))
    certificate = joined([broken.script(), *(proof.evidence.certificate or "" for proof in proofs)])
    assumed = (f"nothing else takes {thing} out", f"all of {thing} are up when a run begins")
    assumptions = (*assumed, *(words for proof in proofs for words in proof.assumptions))
    of = (promise.name, thing, *(name for proof in proofs for name in proof.of))
    evidence = arithmetic({"members": (members.low, "")}, certificate=certificate)
    yield question.proved(message, places, of, evidence, assumptions=tuple(dict.fromkeys(assumptions)))
