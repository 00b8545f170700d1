"""response time: a promise that one event follows another in time, where timers and activities make it follow.

## What
A promise `after request arrives then model.infer ends within 120 ms` about timers and activities.  The way back from
the second event to the first is added up: windows of timers (a batch window, a poll, a check that only happens when
something else ends) and ranges of activities.  Where several ways lead there, the quickest counts, and a timer that
brings the same event later (a watchdog behind a heartbeat) takes nothing back.  The promise may be met exactly.  A
timer that something else may end first (`unless`) promises nothing by itself; where what ends it leads to the second
event too, it has to come in time from there.  An activity in which a thing answers
lasts as long as the calls that it makes, at any depth, their tries that fail included.  What waits for itself, by
whatever way, never comes; nor does what a timer brings that looks at the same outside event, or at one that brings the
first event about, renew each time before it is over (`renew: recheck`), where nothing ends the looks.  What nothing of
the design brings about may come at any time: a limit in a window on how often a timer fires (`counts: recover`,
`when_full: reject`) leaves one that comes too soon without its response.

## Why it hurts
Each wait is short and has its reason.  Their sum is what a caller sees, and it is above what was promised: a batch
window of 100 ms in front of 50 ms of work cannot answer in 120 ms, and a queue time-out of 10 s that is looked at only
when the running request ends comes after its 90 s.

## Example
```yaml
coherence: 1
components: {model: {takes: {infer: 50 ms}}}
timers: {window: {from: request arrives, after: 0 ms .. 100 ms, then: model.infer starts}}
promises: {slo: after request arrives then model.infer ends within 120 ms}
```

## Instead
```yaml
coherence: 1
components: {model: {takes: {infer: 50 ms}}}
timers: {window: {from: request arrives, after: 0 ms .. 60 ms, then: model.infer starts}}
promises: {slo: after request arrives then model.infer ends within 120 ms}
```

## Source
Triton documentation, dynamic batcher: max_queue_delay_microseconds; triton-inference-server/server (queue time-outs are
evaluated at dequeue: 90 s instead of 10 s).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Repair, Step, Verdict
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Timer
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event, Promise
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.orders import between
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.timers import _before
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers import firing, repairs
from coherence.verify.timers.firing import FiringWindow

if TYPE_CHECKING:
    from coherence.verify.patterns.timers._response_path import ResponsePath

QUESTION = Question("COH243", "response-time", "ai.04 runtime control coherence", regardless=frozenset({"end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise of this kind whose events timers or activities bring about."""
    design = subject.design
    promises = [promise for promise in design.promises.values() if promise.kind == "response"]
    if not promises or not (design.timers or any(c.takes for c in design.components.values())):
        return
    from coherence.verify.events.endings import with_decided_ends, with_ends_of_things
    from coherence.verify.patterns.timers._circles import never_begins

    of_things = with_ends_of_things(design, graph.event_graph(design))
    by_event = with_decided_ends(design, graph.with_failures(of_things))
    kind = graph.without_rests(by_event)
    for promise in promises:
        assert promise.first is not None
        assert promise.second is not None
        first, second = (graph.key_of(event, design) for event in (promise.first, promise.second))
        if second in by_event:
            ways = [_ways(subject, promise, causes, first, second) for causes in (by_event, kind)]
            never = None if ways[0] else never_begins(QUESTION, subject, promise, by_event, second)
            outside = promise.first.kind == "outside" and first not in by_event
            beside = _beside(by_event, first, second)
            yield never or _answer(subject, promise, *ways, beside=beside, outside=outside, causes=by_event)


def _ways(subject: Subject, promise: Promise, by_event: graph.Causes, first: str, second: str) -> list[ResponsePath]:
    """Returns every way back from the second event that meets the first."""
    from coherence.verify.patterns.timers._response_path import ResponsePath

    limit = promise.within.low if promise.within is not None else Fraction(0)
    reached = []
    for chain in event_ways.ways(first, second, by_event, subject.design):
        held = [subject.design.timers[link.name] for link in chain if link.kind == "timer"]
        renewing = tuple(name for timer in held for name in _renewing(subject.design, timer))
        unless = next((timer.name for timer in held if _may_fail(subject, timer, second, by_event)), "")
        reached.append(ResponsePath(promise, first, chain, limit, unless, renewing))
    return reached


def _renewing(design: Design, timer: Timer) -> Iterator[str]:
    """Yields the timer that renews another one, by its name, and the one that ends it."""
    sender = design.timers.get(timer.renew.text) if isinstance(timer.renew, Event) else None
    if sender is not None:
        yield sender.name
        yield from (sender.unless.text,) if sender.unless and sender.unless.text in design.timers else ()


def _beside(by_event: graph.Causes, first: str, second: str) -> str:
    """Returns what brings the second event about beside the first one, from a cause that both have; nothing if none."""
    before = {link.cause for chain in event_ways.chains(first, by_event) for link in chain}
    for chain in event_ways.chains(second, by_event):
        passed = [link.cause for link in chain]
        if first not in passed and not before.isdisjoint(passed):
            return next(link.effect for link in reversed(chain) if link.cause in before)
    return ""


def _may_fail(subject: Subject, timer: Timer, second: str, causes: graph.Causes) -> bool:
    """Decides whether a timer on the way may be ended first, by what does not bring the promised event at once."""
    if timer.unless is None or (ended := graph.key_of(timer.unless, subject.design)) == second:
        return False
    at_once = (link.cause for link in causes.get(second, ()) if link.kind == "begins" and link.window == firing.NOW)
    return ended not in at_once


def _answer(
    subject: Subject,
    promise: Promise,
    ways: list[ResponsePath],
    kind: list[ResponsePath],
    *,
    beside: str,
    outside: bool,
    causes: graph.Causes,
) -> Finding:
    if not ways or promise.first is None or promise.second is None:
        needs = f"needs what makes '{promise.second.text if promise.second else ''}' follow"
        first = promise.first.text if promise.first else ""
        place = promise.place.labelled("nothing in the design ties the two together")
        return QUESTION.undecided(f"{needs} '{first}'", (place,), (promise.name,))
    way = min(ways, key=lambda way: (not way.keeps, way.window.latest is None, way.window.latest or 0))
    quick = min(kind, key=lambda way: way.reached.latest or way.reached.earliest)
    late = all(w.reached.latest is not None and w.reached.latest > w.limit for w in kind)
    if late and beside:
        return _undecided(quick, f"when '{beside}' brings it about without '{way.start}' is not followed")
    if late and not any(link.missing and link.inner is None for w in kind for link in w.chain):
        return _conflict(subject, quick, certain=all(w.reached.earliest > w.limit for w in kind))
    if missing := way.missing:
        return _never(subject, ways) or _undecided(way, f"needs {missing}")
    if way.window.latest is None or way.window.latest > way.limit:
        rest = next((link.effect for link in way.chain if link.window.latest is None), way.start)
        return _undecided(
            way, f"needs what starts {rest.removesuffix(' starts')}: how long it rests before is not said"
        )
    if way.unless:
        ended = _always_ended(subject, ways) or (_ended_first(subject, way, causes) if len(ways) == 1 else None)
        if ended is not None:
            return ended
        return _undecided(way, f"what comes of it where {way.unless} is ended first (its `unless`) is not followed")
    if outside and len(kind) == 1 and (limited := _limited(subject, way)) is not None:
        return limited
    held = orders.interruptions(subject.design, way.chain)
    if held.loops and way.window.latest + held.longest > way.limit:
        return _undecided(way, f"whether {held.words} prolongs it is not decided")
    return _proved(way, way.window.latest, _also(subject, way))


def _always_ended(subject: Subject, ways: list[ResponsePath]) -> Finding | None:
    from coherence.verify.patterns.timers._ended_first import always_ended

    return always_ended(QUESTION, subject.design, ways)


def _ended_first(subject: Subject, way: ResponsePath, causes: graph.Causes) -> Finding | None:
    """Returns the answer where what ends a timer of the only way first leads to the second event by another way."""
    from coherence.verify.patterns.timers._ended_first import ended_first, outside_end

    event = outside_end(subject, way, causes)
    after = _ways(subject, way.promise, causes, event, way.chain[0].effect) if event else []
    ended = ended_first(QUESTION, way, event, after)
    held = any(orders.interruptions(subject.design, own.chain).loops or _limited(subject, own) for own in (way, *after))
    return None if held and ended is not None and ended.verdict is Verdict.PROVED else ended


def _also(subject: Subject, way: ResponsePath) -> tuple[str, ...]:
    """Returns other timers that bring the second event, where the way passes timers alone: nothing that they end.

    And those that bring the first one about again: each time has its own response.
    """
    again = event_ways.brought_again(subject.design, way.promise.first) if way.promise.first is not None else ()
    if any(link.kind not in ("timer", "begins") for link in way.chain):
        return again
    causes = graph.event_graph(subject.design).get(way.chain[0].effect, ())
    brings = (link.cause.removesuffix(" fires") for link in causes if link.kind == "begins")
    return (*again, *(name for name in brings if name in subject.design.timers and name not in way.of))


def _limited(subject: Subject, way: ResponsePath) -> Finding | None:
    """Returns the conflict of a limit on how often a timer fires with a response that each event is promised."""
    if not any(isinstance(limit.window, Quantity) for limit in subject.design.limits.values()):
        return None
    from coherence.verify.patterns.timers._held_responses import held_response, message

    held = held_response(known(subject), way.chain, way.window.latest or way.limit, way.limit)
    if held is None:
        return None
    second = way.chain[0].effect
    steps = [Step(held.apart * n, f"{way.start}: {held.timer} answers") for n in range(min(held.most, 7))]
    steps.append(Step(held.due, f"{way.start} once more: {held.limit.name} holds {held.timer} back"))
    steps.append(Step(held.due + way.limit, f"the promised time is over, without '{second}'"))
    numbers: Numbers = {"within": (way.limit, "s"), "lets through": (held.most, ""), "window": (held.window, "s")}
    return QUESTION.conflict(
        message(held, way.start, second, way.limit), (held.limit.place.labelled("holds it back"), *way.places),
        (*way.of, held.limit.name), arithmetic(numbers, witness=steps), certain=False,
        assumptions=(f"'{way.start}' comes again as soon as it has been answered", *_assumed(way)),
    )  # fmt: skip


def _never(subject: Subject, ways: list[ResponsePath]) -> Finding | None:
    """Returns the conflict where each way passes a timer that renewals keep from firing; None where one may not."""
    from coherence.verify.events.renewals import kept_from_firing

    design = subject.design
    waits = [[design.timers[link.name] for link in way.chain if link.kind == "timer"] for way in ways]
    first = ways[0].start
    renewed = [[(timer, held) for timer in on if (held := kept_from_firing(design, timer, first))] for on in waits]
    if not all(renewed):
        return None
    way, (timer, renewal) = ways[0], renewed[0][0]
    lease, latest = firing.lease(timer), renewal.interval.latest
    assert lease is not None
    assert latest is not None
    assert renewal.timer is not None
    sender, wait = renewal.timer.name, lease.window.earliest
    steps = [Step(latest * n, f"{sender} fires: {timer.name} begins anew") for n in (1, 2, 3)]
    steps = [Step(Fraction(0), way.start), *steps, Step(way.limit, "the promised time is over")]
    message = f"{sender} renews {timer.name} every {render_seconds(latest)}, before its {render_seconds(wait)} are over"
    numbers: Numbers = {"renewed at the latest after": (latest, "s"), "waits at least": (wait, "s")}
    return QUESTION.conflict(
        f"'{way.chain[0].effect}' never comes: {message}",
        (renewal.place.labelled("renewed so often"), *way.places), tuple(dict.fromkeys((*way.of, sender))),
        arithmetic(numbers, witness=orders.sorted_steps(steps)), certain=True,
        assumptions=(f"{sender} goes on: nothing in the design ends it", *_assumed(way)),
        repairs=tuple(repairs.sooner(subject, timer, renewal.interval.earliest)),
    )  # fmt: skip


def _undecided(way: ResponsePath, needs: str) -> Finding:
    return QUESTION.undecided(needs, way.places, way.of)


def _assumed(way: ResponsePath) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for link in way.chain for text in link.assumptions))


def _numbers(way: ResponsePath, window: FiringWindow) -> Numbers:
    late: Numbers = {"at the latest": (window.latest, "s")} if window.latest is not None else {}
    return {"within": (way.limit, "s"), "at the earliest": (window.earliest, "s"), **late}


def _proved(way: ResponsePath, latest: Fraction, also: tuple[str, ...]) -> Finding:
    constants, facts = {}, []
    for number, link in enumerate(way.chain):
        constants[f"t{number}"] = "Real"
        facts += [f"(>= t{number} {link.lower})", f"(<= t{number} {link.upper})"]
    total = f"(+ 0.0 {' '.join(constants)})"
    script = Certificate(constants, tuple(facts), f"(<= {total} {rational(way.limit)})").script()
    message = f"'{way.promise.text}' holds: {between(way.window)} after {way.start}"
    evidence = arithmetic(_numbers(way, way.window), certificate=script)
    margin = latest < way.limit
    return QUESTION.proved(message, way.places, (*way.of, *also), evidence, assumptions=_assumed(way), margin=margin)


def _conflict(subject: Subject, way: ResponsePath, *, certain: bool) -> Finding:
    second = way.chain[0].effect
    verb = "comes" if certain else "may come"
    span = f"{between(way.reached)} after '{way.start}' ({_before.chain_text(way.chain)})"
    message = f"'{second}' {verb} {span}, not within {render_seconds(way.limit)}"
    moments = orders.moments(way.chain, early=certain)
    steps = [Step(Fraction(0), way.start), *(Step(time, link.effect) for time, link in moments)]
    steps.append(Step(way.limit, "the promised time is over"))
    evidence = arithmetic(_numbers(way, way.reached), witness=orders.sorted_steps(steps))
    return QUESTION.conflict(
        message, way.places, way.of, evidence, certain=certain, assumptions=_assumed(way),
        repairs=tuple(_repairs(subject, way)),
    )  # fmt: skip


def _repairs(subject: Subject, way: ResponsePath) -> Iterator[Repair]:
    """Yields each timer on the way as much sooner as the whole is late."""
    late = (way.window.latest or way.limit) - way.limit
    for link in way.chain:
        if link.kind == "timer" and link.window.latest is not None and link.window.latest > late:
            yield from repairs.sooner(subject, subject.design.timers[link.name], link.window.latest - late)
