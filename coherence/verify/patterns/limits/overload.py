"""overload: more is asked of a thing, first tries alone, than all of its members can serve.

## What
lambda, the first tries of all workloads that reach a thing (by the weights of `cases`, where a caller states them),
against N mu: its members (of an autoscaled thing the most that it may have) and the rate or mean service time of one.
lambda >= N mu and the queue grows without bound; equality too, for any service that is not exactly regular.  Without
a member (`copies: 0`) nobody serves.  A limit that sheds (`when_full: reject` on what waits there) bounds the queue
and not the loss: it is a note.  Bursts that come again and rates that switch count by their mean over a long time, a
burst that comes once does not; retries are the matter of `metastable-retries`.  Nothing is proved where somebody else
sends there too of whom no workload says how often, nor where more members than may be spared go, out of service by a
loop or with their places (`lost: 1`).

A limit of what each member works on (`counts: api.ongoing, at_most: 16, per: replica`) makes a member that many
servers, of which each takes the time of the workload (`service`), else its own (`takes`; a range is no mean).

A thing that calls others keeps each request in its work until its calls have ended, so that it goes on with the
requests that it works on at once, divided by the time in which all of its tries hang (by that in which none fails it
cannot do more).  Where no limit says how many it works on at once, that is asked unless one for each member suffices.

A limit in a window that makes its callers wait (`counts: attempts(api), at_most: q, window: W, when_full: wait`) is a
thing that serves q / W: more first tries than that, and those that wait are more with each second.

Another comparison is made where a limit bounds the queue: a caller that waits T for an answer gets none from a
place in the queue behind T N mu others.  The queue of Q is useful where Q <= T N mu.  T is what a call waits, and of a
workload that reaches the thing, through others or not, its `deadline`: a queue beyond that is useless, one within it is
a part of its wait (`queue-inflation`).

## Why it hurts
Latency grows until something gives way: callers time out, and from then on all work is done for nobody.

## Example
```yaml
coherence: 1
workload: {requests: {rate: 12 req/s, service: {mean: 100 ms}}}
components: {engine: {copies: 1}}
calls: [{from: requests, to: engine, per_try: 5 s, on_timeout: cancel}]
```

## Instead
```yaml
coherence: 1
workload: {requests: {rate: 12 req/s, service: {mean: 100 ms}}}
components: {engine: {copies: 2}}
limits: {waiting: {counts: engine.waiting, at_most: 80, when_full: reject}}
calls: [{from: requests, to: engine, per_try: 5 s, on_timeout: cancel}]
```

## Source
vllm-project/vllm (pending requests grow while clients resend).  Kleinrock, Queueing Systems 1 (1975): lambda < N mu.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.base.reads import answered
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step, Verdict
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.findings.standing_proofs import no_waits
from coherence.language.design import Limit
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.call_graph import NO_WAIT, call_tree, sent_again
from coherence.verify.facts.design_facts import DesignFacts, as_many, copies, known, scalers
from coherence.verify.facts.limits import place_of, raised, undecided_by
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.queues.loaded_things import LoadedThing, station_of
from coherence.verify.queues.member_rates import member_rate
from coherence.verify.queues.offered_load import OfferedRate, contested, offered
from coherence.verify.timers.removals import Departure

REGARDLESS = frozenset({"time", "members", "order", "law"})
QUESTION = Question("COH245", "overload", "ai.04 runtime control coherence", regardless=REGARDLESS)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per thing whose load and capacity are stated, and per bounded queue of it."""
    if not subject.design.workload:
        return
    from coherence.verify.patterns.limits._throttled import throttled, unserved

    if subject.design.limits and subject.design.calls:
        yield from throttled(QUESTION, subject)
    facts = known(subject)
    for thing in subject.design.components:
        station = answered(partial(station_of, facts, thing))
        if station is not None:
            yield from _load(subject, facts, station)
            yield from _queues(subject, facts, station)
        else:
            yield from _perhaps(subject, facts, thing)
            yield from unserved(QUESTION, subject, facts, thing)


def _perhaps(subject: Subject, facts: DesignFacts, thing: str) -> Iterator[Finding]:
    """Asks what one member of a loaded thing serves, where it is stated twice, by no rate, or by one nothing reads."""
    counted = offered(facts, thing) is not None and copies(facts, thing) is not None
    open_ = contested(facts, thing) if counted else None
    if open_ is not None:
        needs, place = open_
        yield QUESTION.undecided(f"needs {needs}", (place.labelled("one member serves this"),), (thing,))
        return
    if offered(facts, thing) is None or member_rate(facts, thing) is not None:
        return
    from coherence.verify.queues.requests_in_work import thing_with_calls

    station = thing_with_calls(facts, thing)
    if station is not None:
        yield from _load(subject, facts, station)
        gateway = any(str(call.caller) == thing for call in subject.design.calls)  # it waits for many at once, mostly
        yield from [] if station.lacks_slots and gateway else _queues(subject, facts, station)
        return
    from coherence.verify.queues.stated_capacities import unclear_rate, unclear_slots

    unclear = (unclear_slots(facts.design, thing) if counted else None) or unclear_rate(facts, thing)
    if unclear is not None:
        yield QUESTION.undecided(f"needs {unclear[0]}", (unclear[1],), (thing,))


def _places(facts: DesignFacts, station: LoadedThing) -> tuple[Place, ...]:
    number = facts.places.get(f"{station.thing}.copies")
    many = (number.labelled("so many members"),) if number is not None else ()
    slots = (station.slots[1].place.labelled("so many are served at once"),) if station.slots is not None else ()
    return (*station.demand.places, *station.each.places, *many, *slots, *_same_time(facts, station))


def _same_time(facts: DesignFacts, station: LoadedThing) -> Iterator[Place]:
    """Yields the thing's own time of a request, which is that of its workload, by which it is counted."""
    from coherence.verify.queues.service_means import mean_service

    time = time_of(facts.design.components.get(station.thing), "answer")
    workloads = facts.design.workload
    means = [mean_service(workloads[name]) for name in station.demand.names if name in workloads]
    starts = {(place.file, place.line, place.column) for place in station.each.places}
    if time is not None and any(m and (m.place.file, m.place.line, m.place.column) in starts for m in means):
        yield time.place.labelled("the same time of a request")


def _of(facts: DesignFacts, station: LoadedThing) -> tuple[str, ...]:
    calls = [call.name for call in facts.design.calls if call.callee is not None and call.callee.text == station.thing]
    around = (*station.demand.names, *calls, *scalers(facts, station.thing), *_counted(station))
    return (station.thing, *around, *(name for name in station.behind if name not in around))


def _counted(station: LoadedThing) -> list[str]:
    """Returns the limits that say how many requests are in work at once."""
    slots = [station.slots[0].name] if station.slots is not None else []
    return [*slots, *(limit.name for limit in station.at_once.limits)]


def _load(subject: Subject, facts: DesignFacts, station: LoadedThing) -> Iterator[Finding]:
    demand, places = station.demand, _places(facts, station)
    if demand.high < station.capacity:
        yield _enough(facts, station, places)
        return
    if station.each.open:
        least = f"{station.thing} serves {_per(station.capacity)} at least, " if station.capacity else ""
        needs = f"needs {station.each.open}: {least}{_demand_text(demand)} are asked"
        yield QUESTION.undecided(needs, places, _of(facts, station), lacks_number=station.lacks_slots)
        return
    if demand.open and demand.low < station.capacity:
        needs = (
            f"needs {demand.open}: {station.thing} serves {_per(station.capacity)}, {_demand_text(demand)} if all do"
        )
        yield QUESTION.undecided(needs, places, _of(facts, station))
        return
    if demand.open:
        station = replace(station, demand=replace(demand, high=demand.low))
    yield _overloaded(subject, facts, station, places)


def _overloaded(subject: Subject, facts: DesignFacts, station: LoadedThing, places: tuple[Place, ...]) -> Finding:
    """Answers where more is asked than is served: what sheds it, or lets less through, is told; else queues grow."""
    from coherence.verify.queues.let_through import admitted, doubts, sheds

    demand, full = station.demand, f"asked are {_demand_text(station.demand)}"
    full = f"{full}, {station.thing} serves {_per(station.capacity)}"
    shed = next(sheds(facts, station), None)
    if shed is not None:
        message = f"{shed.name} sheds at least {_per(demand.high - station.capacity)}: {full}"
        where = (*places, shed.place.labelled("what waits beyond this is refused"))
        return QUESTION.note(message, where, (*_of(facts, station), shed.name), arithmetic(station.numbers))
    limit, rate = admitted(facts, station.thing) or (None, station.capacity)
    if limit is not None and rate < station.capacity:
        message = f"{limit.name} lets {_per(rate)} through to {station.thing}: {full}"
        where = (*places, limit.place.labelled("no more than this comes"))
        return QUESTION.note(message, where, (*_of(facts, station), limit.name), arithmetic(station.numbers))
    perhaps, rest = tuple(dict.fromkeys(doubts(facts, station))), demand.high - station.capacity
    grows = f"the queue grows by {_per(rest)}" if rest else "the queue has no bound"
    witness = (
        Step(Fraction(0), full),
        Step(Fraction(60), f"{render_quantity(rest * 60)} more are waiting than a minute before"),
    )
    in_flight = [station.slots[0].name] if station.slots is not None else []
    tree, of = call_tree(facts.design), _of(facts, station)
    counted = (
        in_flight if tree.of_caller.get(station.thing) else _counted(station)
    )  # of a caller: the wait comes before
    late = [plan for plan in tree.above([station.thing]) if plan.limit is not None]
    return QUESTION.conflict(
        f"{full}: {grows}",
        places,
        (*of, *(name for name in sorted(tree.below(station.thing)) if name not in of)),
        arithmetic(station.numbers, witness=witness),
        certain=demand.low >= station.most and not perhaps,
        assumptions=perhaps,
        repairs=_more(subject, facts, station),
    ).refuting(NO_WAIT.format(station.thing), *no_waits(counted), *sent_again(facts.design, late))


def _enough(facts: DesignFacts, station: LoadedThing, places: tuple[Place, ...]) -> Finding:
    """Answers where all members serve what is asked: nothing lets fewer of them work, nothing says that they serve
    less.
    """
    from coherence.verify.queues.stated_capacities import stated_capacity

    if station.perhaps is not None and station.least <= station.demand.high:
        return _perhaps_fewer(facts, station, station.perhaps, places)
    whole = stated_capacity(facts, station.thing)
    if whole is not None and station.demand.high >= whole[0]:
        return _said_twice(facts, station, whole, places)
    return _serves(facts, station, places)


def _perhaps_fewer(
    facts: DesignFacts, station: LoadedThing, perhaps: tuple[Limit, Quantity | None], places: tuple[Place, ...]
) -> Finding:
    """Returns what to ask of a limit that lets fewer members work at times, in some places, or by no plain number."""
    limit, most = perhaps
    lets = f", which lets {most} in" if most is not None else ""
    message = f"{undecided_by(limit, most)}{lets}: without it {station.thing} serves {_per(station.capacity)}"
    message = f"{message}, asked are {_demand_text(station.demand)}"
    where = (*places, limit.place.labelled("may let fewer members work"))
    return QUESTION.undecided(message, where, (*_of(facts, station), limit.name))


def _said_twice(
    facts: DesignFacts, station: LoadedThing, whole: tuple[Fraction, Place], places: tuple[Place, ...]
) -> Finding:
    """Returns what to ask where a thing is said to serve less as a whole than its members serve together."""
    most, place = whole
    needs = f"needs what {station.thing} serves: as a whole {_per(most)}, its members {_per(station.capacity)}"
    where = (*places, place.labelled("as a whole"))
    return QUESTION.undecided(f"{needs}, asked are {_demand_text(station.demand)}", where, _of(facts, station))


def _serves(facts: DesignFacts, station: LoadedThing, places: tuple[Place, ...]) -> Finding:
    """Returns the proof that it serves what is asked; open where more may come, or members go at once."""
    members = rational(station.capacity / station.each.low)
    claim = f"(< {rational(station.demand.high)} (* {members} {rational(station.each.low)}))"
    evidence = arithmetic(station.numbers, certificate=Certificate(claim=claim).script())
    message = f"{station.thing} serves {_per(station.capacity)}, asked are {_demand_text(station.demand)}"
    if station.demand.lacking:
        return QUESTION.undecided(f"needs {station.demand.lacking}: {message}", places, _of(facts, station))
    needed = math.floor(station.demand.high / (station.each.low * station.at_once.low)) + 1
    counted = station.members[1] if station.scaled else station.members[0]
    certain, assumed = _left(facts, station.thing, counted - needed)
    if certain is not None:
        return _fewer_at_times(station, certain, message, places, _of(facts, station))
    scaled = as_many(facts, station.thing, station.members[1]) if station.scaled else ()
    granted = (*assumed, *scaled, *station.at_once.assumed(station.thing), *station.assumed)
    return QUESTION.proved(message, places, _of(facts, station), evidence, assumptions=granted)


def _left(facts: DesignFacts, thing: str, spare: int) -> tuple[Departure | None, tuple[str, ...]]:
    from coherence.verify.jobs.losses import members_left

    return members_left(facts, thing, spare)


def _fewer_at_times(
    station: LoadedThing, certain: Departure, message: str, places: tuple[Place, ...], of: tuple[str, ...]
) -> Finding:
    """Returns what to ask of what holds with all members, some of which something takes away."""
    needs = f"{certain.uncounted(station.thing)}; with all of them: {message}"
    return QUESTION.undecided(needs, (*places, certain.place.labelled("takes members away")), (*of, certain.name))


def _demand_text(demand: OfferedRate) -> str:
    return f"{_per(demand.high)} on average, bursts included" if demand.uneven else _per(demand.high)


def _per(rate: Fraction) -> str:
    return f"{render_quantity(rate)} req/s"


def _more(subject: Subject, facts: DesignFacts, station: LoadedThing) -> Iterator[Repair]:
    """As many members as serve it with a fifth to spare, or fewer requests."""
    member = station.each.low * station.at_once.low
    enough = math.ceil(station.demand.high / member * Fraction(6, 5)) + 1
    stated = facts.quantities.get(f"{station.thing}.copies")
    if stated is not None:
        repair = repairs.proposal(raised(subject, stated, Fraction(enough)))
        yield from [repair] if repair else []


def _queues(subject: Subject, facts: DesignFacts, station: LoadedThing) -> Iterator[Finding]:
    """Yields the bound of a queue, of several the one that lets fewest wait, against the patience of each caller."""
    if not subject.design.limits:
        return
    from coherence.verify.queues.bounded_queues import least_bounds, queue_bounds, waiters

    for bound in least_bounds(queue_bounds(facts, station)):
        for waiter in waiters(facts, station):
            some = station.fewest
            answer = _waits(subject, facts, station, bound, waiter) if some else _unserved(station, bound, waiter)
            if answer.verdict is not Verdict.PROVED or waiter[0] not in facts.design.workload:
                yield answer  # within its deadline alone says nothing of a request that waits elsewhere too


def _unserved(station: LoadedThing, bound: tuple[Limit, Fraction], waiter: tuple[str, Quantity]) -> Finding:
    """Returns what to ask of a queue where no member is there for certain."""
    (limit, most), (name, patience) = bound, waiter
    allowed = place_of(limit.at_most, limit).labelled("so many may wait")
    places = (allowed, patience.place.labelled(f"{name} waits no longer"))
    waits = f"{render_quantity(most)} in the queue of {station.thing} may wait for one"
    needs = f"needs {station.thing} to have a member at all times (lowest number of copies 1)"
    needs = f"{needs}: {waits}, and {name} waits {patience}"
    return QUESTION.undecided(needs, places, (limit.name, name, station.thing))


def _waits(
    subject: Subject,
    facts: DesignFacts,
    station: LoadedThing,
    bound: tuple[Limit, Fraction],
    waiter: tuple[str, Quantity],
) -> Finding:
    (limit, most), (name, patience) = bound, waiter
    rate = station.fewest * station.each.low
    wait = most / rate
    numbers: Numbers = {
        "queue": (most, ""), "served": (rate, "req/s"), "wait": (wait, "s"), "patience": (patience.low, "s"),
    }  # fmt: skip
    places = (
        place_of(limit.at_most, limit).labelled("so many may wait"),
        patience.place.labelled(f"{name} waits no longer"), *_places(facts, station)[len(station.demand.places) :],
    )  # fmt: skip
    of = (limit.name, name, station.thing)
    last = f"the last of {render_quantity(most)} in the queue of {station.thing} waits {render_seconds(wait)}"
    if wait <= patience.low and station.perhaps is not None:
        open_ = undecided_by(*station.perhaps)
        return QUESTION.undecided(f"{open_}: without it {last} of {patience}", places, of)
    if wait <= patience.low:
        claim = f"(<= {rational(most)} (* {rational(patience.low)} {rational(rate)}))"
        message = f"{last} of {patience}"
        evidence = arithmetic(numbers, certificate=Certificate(claim=claim).script())
        needed = math.ceil(most / (patience.low * station.each.low * station.at_once.low))
        certain, assumed = _left(facts, station.thing, station.members[0] - needed)
        if certain is not None and name not in facts.design.workload:  # of a workload no proof is given
            return _fewer_at_times(station, certain, message, places, of)
        return QUESTION.proved(message, places, of, evidence, assumptions=assumed, margin=wait < patience.low)
    if station.each.open and not (station.ranged and most > patience.high * station.most):
        return QUESTION.undecided(f"needs {station.each.open}: {last} of {patience} at most", places, of)
    message, witness = _useless(bound, waiter, wait, most - patience.low * rate)
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=False,
        assumptions=("the queue is first come, first served, and full at times",),
        repairs=_shorter(subject, limit, patience, rate),
    ).refuting(NO_WAIT.format(station.thing))  # fmt: skip


def _useless(
    bound: tuple[Limit, Fraction], waiter: tuple[str, Quantity], wait: Fraction, useless: Fraction
) -> tuple[str, tuple[Step, ...]]:
    """Returns message and witness of a queue whose last `useless` places are served after their callers gave up."""
    (limit, most), (name, patience) = bound, waiter
    message = (
        f"{limit.name} lets {render_quantity(most)} wait, {render_seconds(wait)} of work, but {name} "
        f"gives up after {patience}: "
        f"the last {render_quantity(math.floor(useless))} are served for nobody"
    )
    witness = (
        Step(Fraction(0), f"a request takes the last of {render_quantity(most)} places"),
        Step(patience.low, f"its caller gives up; {render_quantity(useless)} are still before it"),
        Step(wait, "it is served, and nobody waits for the answer"),
    )
    return message, witness


def _shorter(subject: Subject, limit: Limit, patience: Quantity, rate: Fraction) -> Iterator[Repair]:
    stated, fewer = limit.at_most, Fraction(math.ceil(patience.low * rate) - 1)
    fits = Fraction(math.floor(repairs.downward_round(fewer))) if fewer > 0 else fewer
    if isinstance(stated, Quantity):
        within = patience.low * Fraction(9, 10) if stated.dimension == patience.dimension else fits
        repair = repairs.proposal(repairs.change(subject, stated, repairs.downward_round(within))) if fits > 0 else None
        yield from [repair] if repair is not None else []
