"""timer order: of two timed events the one that must come first does, with a margin.

## What
A promise `a before b` about timers and activities that one event starts.  The times of both are
added up from that event: a timer's window (jitter, phase of the ticker), the range of an activity,
the timer that starts it.  The promise holds when the latest `a` precedes the earliest `b`.
It says: whenever `b` comes, `a` has come before.  Where another timer always forestalls `b` it is kept, since `b` never
comes; where one forestalls `a` alone, `b` comes without it, and what else may end a timer on the way to `a` alone
(`unless`), or a limit that holds it back, leaves the promise open.  Where `b` is a probe that by the stated times is
always answered, it is asked whether that can fail: else nothing breaks the promise.  So it is where `a` is such a
probe, or one that a startup probe holds back, and `b` comes without it.

Two clocks that agree on paper do not agree in the field: equality of two timers is a conflict.  A
*stated worst case* (a chain with the range of an activity) may touch a timer's limit; that passes
with the warning "no margin".  `last ping` and `last ping seen` are one occurrence at two ends.  Two
probes with different `sees` do not look at the same event, so their numbers are not compared.

One order needs no promise: where an overloaded member (`server slow`) is both unlisted and restarted by timers that
run from the same event, it must be unlisted first.  The parts of probes say what they do; a word that is not understood
by name (docs/words.md) is asked about.

## Why it hurts
The order is the whole point of the second timer: dump before abort, unlist before restart, the
client closes an idle connection before the server does.  When both fire together the evidence is
lost, every replica restarts under load, or a request meets a closing connection.

## Example
```yaml
coherence: 1
components: {rank: {takes: {dump: 120 s}}}
timers:
  heartbeat: {from: step hangs, after: 600 s, then: rank.dump starts}
  nccl:      {from: step hangs, after: 600 s, then: abort job}
promises: {evidence: rank.dump ends before nccl}
```

## Instead
```yaml
coherence: 1
components: {rank: {takes: {dump: 120 s}}}
timers:
  heartbeat: {from: step hangs, after: 420 s, then: rank.dump starts}
  nccl:      {from: step hangs, after: 600 s, then: abort job}
promises: {evidence: rank.dump ends before nccl}
```

## Source
pytorch/pytorch#133028, grpc/grpc#28830, conbench/conbench#1156, kubernetes/ingress-nginx#5671; gRPC
proposal A8 (client-side keepalive, GOAWAY too_many_pings).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design, Limit, Timer
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.orders import EventOrder, between
from coherence.verify.patterns.timers import _before, _overrun
from coherence.verify.patterns.timers._before import OrderPromise
from coherence.verify.patterns.timers._overrun import OverrunCase
from coherence.verify.timers import repairs
from coherence.verify.timers.firing import hands_out_again
from coherence.verify.timers.recurrences import counted_timer

if TYPE_CHECKING:
    from coherence.verify.events.forestalling import TimerPair

QUESTION = Question("COH208", "timer-order", "ai.04 runtime control coherence", regardless=frozenset({"end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise about the order of two timed events, gates apart."""
    for pair in (*_before.pairs(subject.design), *_before.gentle(subject.design)):
        if pair.activities and (pair.apart or pair.gated):
            continue
        yield _apart(pair) if pair.apart else _answer(subject, pair)
    yield from (_unclear(*case) for case in _before.unclear(subject.design))


def _apart(pair: OrderPromise) -> Finding:
    promise = pair.promise
    assert promise.first is not None
    assert promise.second is not None
    needs = f"needs one event that starts both '{promise.first.text}' and '{promise.second.text}'"
    place = promise.place.labelled("nothing in the design times the two together")
    return QUESTION.undecided(needs, (place,), (pair.first, pair.second, promise.name))


def _unclear(timer: Timer, other: Timer, word: str) -> Finding:
    """Asks for a word that decides whether an overloaded thing has to be unlisted before it is ended."""
    meant = f"'{word}' is a load that passes (`overloaded`) or one member that `hangs`"
    if timer.start is None or word != timer.start.text:
        meant = f"'{word}' takes a thing off the list (`unlist`) or ends it (`restart`)"
    needs = f"needs whether {meant}: an overloaded thing is to be unlisted first ({timer.name} and {other.name})"
    places = tuple(each.place.labelled("does it act on what is only overloaded?") for each in (timer, other))
    return QUESTION.undecided(needs, places, (timer.name, other.name))


def _answer(subject: Subject, pair: OrderPromise) -> Finding:
    order, relation = pair.worst
    if never := _without_one(subject, pair, order, relation):
        return never
    looks = _looks(subject, order)
    if order.missing and relation == "unknown" and not order.rests:
        return _undecided(pair, order, f"needs {order.missing}")
    if looks:
        needs = f"needs one event that both see: {looks}"
        return QUESTION.undecided(needs, _places(pair, order), _names(pair, order), lacks_number=not pair.promise.name)
    if relation == "unknown":
        return _undecided(pair, order, f"needs what starts {order.rests}: how long it rests before is not said")
    if relation in ("before", "touches"):
        if (lift := _always_lifted(subject.design, pair)) is not None and lift.timer.misses is None:
            return _lifted(pair, order, lift)
        if never := _unanswered_first(subject.design, pair, order):
            return never
        interruptions = orders.interruptions(subject.design, order.first)
        if interruptions.spoil(order):
            why = f"whether {interruptions.words} prolongs what comes first is open"
            return _undecided(pair, order, why, loops=interruptions.loops)
        if pair.promise.name and (alone := _without_first(subject.design, pair, order)):
            return _undecided(pair, order, alone)
        return _proved(pair, order, touching=relation == "touches")
    if (lift := _always_lifted(subject.design, pair)) is not None and lift.timer.misses is not None:
        return _lifted(pair, order, lift)
    certain = relation == "after" and not _may_be_lifted(subject.design, order)
    return _conflict(subject, pair, order, certain=certain)


def idle_timers(design: Design) -> frozenset[str]:
    """Returns the timers that are promised to fire after an event, and are always lifted by what leads to it."""
    befores = _before.pairs(design) if any(timer.unless for timer in design.timers.values()) else ()
    lifts = (_always_lifted(design, pair) for pair in befores)
    return frozenset(lift.timer.name for lift in lifts if lift is not None and lift.timer.misses is None)


def _always_lifted(design: Design, pair: OrderPromise) -> OverrunCase | None:
    """Returns the timer on the only way to the second event that, by the stated times, what ends it lifts in every run:
    a probe, or one that waits for the first event and is ended by what leads there, so that it never fires after it.

    A deadline or a lease is there for the run in which its `unless` does not come, and is held against that.
    """
    return next(
        (
            case
            for case in _lifted_on_the_way(design, pair.second)
            if case.timer.misses or _ends_early(design, pair, case)
        ),
        None,
    )


def _lifted_on_the_way(design: Design, event: str) -> Iterator[OverrunCase]:
    """Yields the timers on the only way to an event that what ends them always lifts."""
    names = [link.name for link in event_ways.only_way(event, graph.event_graph(design)) if link.kind == "timer"]
    for case in _overrun.cases(design) if names else ():
        if case.timer.name in names and case.relation == "before" and case.order.first and len(case.order.second) == 1:
            yield case


def _ends_early(design: Design, pair: OrderPromise, case: OverrunCase) -> bool:
    """Decides whether each way from their common cause to the first event goes through what ends the timer."""
    assert case.timer.unless is not None
    unless = graph.key_of(case.timer.unless, design)
    return all(order is not None and any(link.cause == unless for link in order.first) for order in pair.ways)


def _may_be_lifted(design: Design, order: EventOrder) -> bool:
    """Decides whether what is stated lifts a timer on the way to the second event in some runs, and it never comes."""
    names = {link.name for link in order.second if link.kind == "timer"}
    waits = any(design.timers[name].unless is not None for name in names)
    return waits and any(case.timer.name in names and case.relation == "possible" for case in _overrun.cases(design))


def _without_first(design: Design, pair: OrderPromise, order: EventOrder) -> str:
    """Returns why the second event may come without the first: what ends or holds back a timer on the way to the first
    one alone.  A probe is there for the run in which it is not answered.
    """
    ways = (order.first, order.second)
    timers, after = ([design.timers[link.name] for link in way if link.kind == "timer"] for way in ways)
    ended = {pair.second, *(graph.key_of(timer.unless, design) for timer in after if timer.unless is not None)}
    never = {case.timer.name for case in _overrun.cases(design) if case.relation == "after"} if timers else set()
    for timer in timers:
        if timer.unless is None or timer.misses is not None or timer.name in never:
            continue
        if graph.key_of(timer.unless, design) not in ended:
            return f"what comes of it where {timer.name} is ended first (its `unless`) is not followed"
    holding = [(limit, counted_timer(design, limit)) for limit in design.limits.values() if _holds_back(limit)]
    held = ((limit.name, timer.name) for limit, timer in holding if timer is not None and timer in timers)
    return next((f"whether {limit} holds {timer} back is not followed" for limit, timer in held), "")


def _holds_back(limit: Limit) -> bool:
    return limit.when_full is not None and limit.when_full.text in ("reject", "wait")


def _unanswered_first(design: Design, pair: OrderPromise, order: EventOrder) -> Finding | None:
    """Asks for a run in which the first event, that of a probe, comes at all, where the second one comes without it."""
    if _is_probe(design, pair.second) or (probe := _never_fires(design, pair.first)) is None:
        return None
    without = f"by what is stated it never fires, and {pair.promise.text.partition(' before ')[2]} comes without it"
    needs = f"needs what keeps {probe} from being answered: {without}"
    return _undecided(pair, order, needs)


def _never_fires(design: Design, event: str) -> str | None:
    """Returns the probe on the only way to an event that is always answered, or that a startup probe holds back."""
    lift = next((case for case in _lifted_on_the_way(design, event) if case.timer.misses), None)
    if lift is not None:
        return lift.timer.name
    from coherence.language.implied import is_held_back

    names = (link.name for link in event_ways.only_way(event, graph.event_graph(design)) if link.kind == "timer")
    timers = [design.timers[name] for name in names]
    return next((each.name for each in timers if each.unless is None and is_held_back(design, each)), None)


def _is_probe(design: Design, event: str) -> bool:
    """Decides whether a probe fires on each way to an event."""
    chains = event_ways.chains(event, graph.event_graph(design))
    return all(any(link.kind == "timer" and design.timers[link.name].misses for link in chain) for chain in chains)


def _lifted(pair: OrderPromise, order: EventOrder, lift: OverrunCase) -> Finding:
    """Asks for a run in which the second event comes at all: what is stated never lets it."""
    unless, first = lift.timer.unless, pair.promise.first
    assert unless is not None
    assert first is not None
    needs = (
        f"needs whether '{unless.text}' can fail to come: by the stated times it always comes before {lift.timer.name} "
        f"fires, and without it {lift.timer.name} does not wait for '{first.text}'"
    )
    return _undecided(pair, order, needs)


def _without_one(subject: Subject, pair: OrderPromise, order: EventOrder, relation: str) -> Finding | None:
    """Answers where one of the two never comes: without the second the order is kept, without the first alone it is
    not.

    A lease that a limit forestalls is there for a worker that dies, and comes then.
    """
    if len(subject.design.timers) < 2:
        return None
    from coherence.verify.events import forestalling

    early = relation in ("before", "touches")
    second = forestalling.never_comes(subject.design, pair.second)
    if second is not None and not early:
        return None if hands_out_again(second.other) else _never_needed(pair, order, second)
    first = forestalling.never_comes(subject.design, pair.first) if early and second is None else None
    return None if first is None else _never_first(pair, order, first)


def _never_needed(pair: OrderPromise, order: EventOrder, dead: TimerPair) -> Finding:
    first, second = dead.order.windows
    message = (
        f"{_order_text(pair, 'need not precede')}: {dead.other.name} never fires, {dead.early.name} always fires first "
        f"({between(first)} against {between(second)} after {dead.order.common})"
    )
    evidence = _evidence(dead.order, certificate=orders.certificate(dead.order, "<"))
    places = (dead.other.place.labelled("never fires"), dead.early.place.labelled("ends what it runs from"))
    of = (*_names(pair, order), dead.early.name)
    return QUESTION.proved(message, places, tuple(dict.fromkeys(of)), evidence, assumptions=dead.order.assumptions)


def _never_first(pair: OrderPromise, order: EventOrder, dead: TimerPair) -> Finding:
    message = (
        f"{_order_text(pair, 'does not come before')}: {dead.other.name} never fires, "
        f"{dead.early.name} always fires first"
    )
    moments = [*orders.moments(dead.order.first, early=False), *orders.moments(order.second, early=False)]
    run = [Step(Fraction(0), order.common), *(Step(time, link.effect) for time, link in moments)]
    places = (dead.other.place.labelled("never fires"), *_places(pair, order))
    evidence = arithmetic({}, witness=orders.sorted_steps(list(dict.fromkeys(run))))
    of = (*_names(pair, order), dead.early.name)
    return QUESTION.conflict(
        message, places, tuple(dict.fromkeys(of)), evidence, certain=False, assumptions=order.assumptions
    )


def _looks(subject: Subject, order: EventOrder) -> str:
    """Returns what the two timers look at, where both say it and it differs."""
    timers = [next((link.name for link in chain if link.kind == "timer"), "") for chain in (order.first, order.second)]
    seen = [subject.design.timers[name].sees if name else None for name in timers]
    if None in seen or seen[0] == seen[1]:
        return ""
    return f"{timers[0]} sees {seen[0]}, {timers[1]} sees {seen[1]}"


def _undecided(pair: OrderPromise, order: EventOrder, needs: str, *, loops: tuple[str, ...] = ()) -> Finding:
    return QUESTION.undecided(needs, _places(pair, order), (*_names(pair, order), *loops))


def _proved(pair: OrderPromise, order: EventOrder, *, touching: bool) -> Finding:
    first, second = order.windows
    words = "comes no later than" if touching else "always precedes"
    margin = ", without margin" if touching else ""
    times = f"{between(first)} against {between(second)} after {order.common}"
    message = f"{_order_text(pair, words)}{margin}: {times}"
    evidence = _evidence(order, certificate=orders.certificate(order, "<=" if touching or not order.first else "<"))
    places, of = _places(pair, order), _names(pair, order)
    return QUESTION.proved(message, places, of, evidence, assumptions=order.assumptions, margin=not touching)


def _conflict(subject: Subject, pair: OrderPromise, order: EventOrder, *, certain: bool) -> Finding:
    first, second = order.reached
    words = "never precedes" if certain else "may not precede"
    tie = " (equal clocks race)" if first.latest == second.earliest else ""
    times = f"{_before.chain_text(order.first)} against {_before.chain_text(order.second)} after {order.common}"
    message = f"{_order_text(pair, words)}: {times}{tie}"
    evidence = _evidence(order, kind=certain)
    return QUESTION.conflict(
        message, _places(pair, order), _names(pair, order), evidence,
        certain=certain, assumptions=order.assumptions, repairs=tuple(_repairs(subject, order)),
    )  # fmt: skip


def _order_text(pair: OrderPromise, words: str) -> str:
    """Returns the two events in the words of the promise, with `words` between them."""
    first, _, second = pair.promise.text.partition(" before ")
    return f"'{first}' {words} '{second}'"


def _evidence(order: EventOrder, *, certificate: str | None = None, kind: bool = False) -> Evidence:
    first, second = order.windows if certificate else order.reached
    ends = {
        "first at the earliest": first.earliest, "first at the latest": first.latest,
        "second at the earliest": second.earliest, "second at the latest": second.latest,
    }  # fmt: skip
    numbers = {name: (value, "s") for name, value in ends.items() if value is not None}
    witness = () if certificate else _before.timeline(order, kind=kind)
    return arithmetic(numbers, witness=witness, certificate=certificate)


def _places(pair: OrderPromise, order: EventOrder) -> tuple[Place, ...]:
    """Returns the value that makes the second event early, those of the first, and the promise."""
    places = _overrun.link_places((*order.second, *order.first))
    name = pair.promise.name
    label = f"promised here: {name}" if name else "ends what was only overloaded"
    return (*places, pair.promise.place.labelled(label))


def _names(pair: OrderPromise, order: EventOrder) -> tuple[str, ...]:
    name = pair.promise.name
    return (*_overrun.deciding(order.first + order.second), *((name,) if name else ()))


def _repairs(subject: Subject, order: EventOrder) -> Iterator[Repair]:
    """Let the second come later or the first sooner, by the shortage of time between them."""
    first, second = order.windows
    if first.latest is None:
        return
    short, timers = first.latest - second.earliest, subject.design.timers
    for link in order.second:
        if link.kind == "timer":
            yield from repairs.later(subject, timers[link.name], link.window.earliest + short)
    for link in order.first:
        if link.kind == "timer" and link.window.latest is not None:
            yield from repairs.sooner(subject, timers[link.name], link.window.latest - short)
