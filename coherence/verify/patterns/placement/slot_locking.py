"""slot locking: long tasks take every member of a pool, and short requests outwait their patience behind them.

## What
A pool that serves in the order of arrival, for two workloads or more: one whose tasks may take T, and another one that
waits no longer than P (its `deadline`, or the limit of its call).  Where as many long tasks may be in service as the
pool has members, some state has all of them in service and just begun: who comes then waits T.  With T above P that
request is lost, however low the load is.

A limit on the long ones in flight (`counts: jobs in flight`) that is below the number of members leaves a slot, where
no request holds two (second copies, tries that their caller has left).  A pool that lets a higher `priority` take a
member (`discipline: preemptive`) has none to lock.  A pool that is asked for more than it serves is `overload`: nothing
is said of it here.

## Why it hurts
Utilisation is low, no queue is long on average, and from time to time everybody waits for as long as a batch job runs.

## Example
```yaml
coherence: 1
workload:
  users: {rate: 10 req/s, service: {mean: 20 ms, cv: 0}, deadline: 2 s}
  reports: {rate: 0.01 req/s, service: {mean: 30 s, cv: 0}}
components: {pool: {copies: 4}}
calls: [{from: users, to: pool}, {from: reports, to: pool}]
```

## Instead
`limits: {few: {counts: reports in flight, at_most: 3 req, when_full: wait}}`: a slot is left for users.

## Source
M. Harchol-Balter, Performance Modeling and Design of Computer Systems (2013), chapter 28: short jobs behind long ones
under non-preemptive service.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.calls import Call
from coherence.language.components import Component
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.patterns.limits.overload import LoadedThing, station_of
from coherence.verify.patterns.placement._held_members import least_in_flight

QUESTION = Question("COH250", "slot-locking", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


@dataclass(frozen=True)
class LongTasks:
    """A workload of a pool beside its least patient one: how long a task takes at most, and how many are at once."""

    workload: Workload
    call: Call
    takes: Quantity | None
    cap: tuple[Limit, Quantity] | None

    def most(self, *, surely: bool) -> Fraction | None:
        """Returns how many may be at once, at most or by the lower end of their limit; None without one."""
        return None if self.cap is None else self.cap[1].low if surely else self.cap[1].high


@dataclass(frozen=True)
class SharedPool:
    """A pool with its least patient workload, which waits no longer than `patience`, and all others."""

    pool: LoadedThing
    short: Workload
    call: Call
    patience: Quantity
    others: tuple[LongTasks, ...]

    @property
    def holders(self) -> tuple[LongTasks, ...]:
        """Returns the others that may hold a member for longer than the patience."""
        return tuple(o for o in self.others if o.takes is not None and o.takes.high > self.patience.low)

    @property
    def unsure(self) -> tuple[LongTasks, ...]:
        """Returns the others that are not known to give a member back early enough."""
        own = longest(self.short)
        spare = self.patience.low - own.high if own is not None else Fraction(0)
        return tuple(other for other in self.others if other.takes is None or other.takes.high > spare)

    @property
    def of(self) -> tuple[str, ...]:
        """Returns the names of what the answer is about."""
        names = (name for o in self.others for name in (o.workload.name, o.call.name, *_limit_of(o)))
        return (self.pool.thing, self.short.name, self.call.name, *names)

    @property
    def places(self) -> tuple[Place, ...]:
        """Returns where the numbers stand."""
        long = [o.takes.place.labelled(f"{o.workload.name} may hold a member so long") for o in self.others if o.takes]
        caps = [o.cap[1].place.labelled(f"so many of {o.workload.name} at once") for o in self.others if o.cap]
        return (*long, self.patience.place.labelled(f"{self.short.name} waits no longer"), *caps)


def _limit_of(tasks: LongTasks) -> tuple[str, ...]:
    return () if tasks.cap is None else (tasks.cap[0].name,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each pool that several workloads share, about the least patient one."""
    if len(subject.design.workload) < 2:
        return
    facts = known(subject)
    for component in subject.design.components.values():
        discipline = component.discipline.text if component.discipline is not None else "fifo"
        shared = _shared(facts, component) if discipline == "fifo" else None
        if shared is not None:
            yield from _answer(subject, shared)


def _callers(facts: DesignFacts, thing: str) -> dict[str, Call]:
    """Returns the workloads that call a thing, each with its one call; none where something else calls it."""
    calls = [call for call in facts.design.calls if str(call.callee) == thing]
    own = {str(call.caller): call for call in calls if str(call.caller) in facts.design.workload}
    return own if len(own) == len(calls) else {}


def _shared(facts: DesignFacts, component: Component) -> SharedPool | None:
    """Returns a pool that serves all that comes, with its least patient workload; None where nobody gives up."""
    callers = _callers(facts, component.name)
    pool = station_of(facts, component.name) if len(callers) > 1 else None
    if pool is None or pool.each.open or pool.demand.high >= pool.capacity or pool.scaled:
        return None
    workloads = {name: facts.design.workload[name] for name in callers}
    waits = {name: patience for name in callers if (patience := _patience(workloads[name], callers[name])) is not None}
    if not waits:
        return None
    least = min(waits, key=lambda name: waits[name].low)
    others = (
        LongTasks(own, callers[name], longest(own), least_in_flight(facts.design, own, component.name))
        for name, own in workloads.items() if name != least
    )  # fmt: skip
    return SharedPool(pool, workloads[least], callers[least], waits[least], tuple(others))


def longest(workload: Workload) -> Quantity | None:
    """Returns how long a task of a workload may take; None where its law has no end."""
    service = workload.service
    if isinstance(service, Quantity):
        return service
    if not isinstance(service, Spread2):
        return None
    constant = service.cv is not None and service.cv.high == 0
    return service.max if service.max is not None else service.mean if constant else None


def _patience(workload: Workload, call: Call) -> Quantity | None:
    """Returns how long a request of a workload waits at most; None where it waits for ever."""
    own = [value for value in (workload.deadline, call.per_try, call.deadline) if isinstance(value, Quantity)]
    return min(own, key=lambda value: value.low, default=None)


def _answer(subject: Subject, shared: SharedPool) -> Iterator[Finding]:
    few, many, thing, short = Fraction(shared.pool.few), shared.pool.many, shared.pool.thing, shared.short.name
    numbers: dict[str, tuple[Fraction, str]] = {"members": (few, ""), "patience": (shared.patience.low, "s")}
    caps = [other.most(surely=False) for other in shared.unsure]
    least = [other.most(surely=True) for other in shared.holders]
    if None not in caps and sum(filter(None, caps)) < few:
        most = sum(filter(None, caps), Fraction(0))
        message = f"at most {render_quantity(most)} of {few} members of {thing} are held beyond the patience of {short}"
        evidence = arithmetic({**numbers, "held": (most, "")}, certificate=_certificate(most, few))
        yield QUESTION.proved(message, shared.places, shared.of, evidence)
    elif shared.holders and (None in least or sum(filter(None, least)) >= many):
        yield _conflict(subject, shared, numbers)


def _certificate(most: Fraction, few: Fraction) -> str:
    return Certificate(claim=f"(< {rational(most)} {rational(few)})").script()


def _conflict(subject: Subject, shared: SharedPool, numbers: dict[str, tuple[Fraction, str]]) -> Finding:
    thing, many, patience, short = shared.pool.thing, shared.pool.many, shared.patience.low, shared.short.name
    load = shared.pool.demand.high / shared.pool.capacity
    least = min(other.takes.high for other in shared.holders if other.takes is not None)
    names = " and ".join(other.workload.name for other in shared.holders)
    message = (
        f"{many} tasks of {names} at once lock all members of {thing} for {render_seconds(least)}, and {short} waits "
        f"{render_seconds(patience)}, at a load of {float(load):.2g} of 1"
    )
    witness = (
        Step(Fraction(0), f"{many} tasks of {names} begin at {thing}, each for {render_seconds(least)} or more"),
        Step(Fraction(0), f"a request of {short} comes, and waits"),
        Step(patience, f"it is given up; the first member is free at {render_seconds(least)}"),
    )
    evidence = arithmetic({**numbers, "held for": (least, "s"), "load": (load, "")}, witness=witness)
    return QUESTION.conflict(
        message, shared.places, shared.of, evidence, certain=False,
        assumptions=("long tasks may come at once, and are served in the order of arrival",),
        repairs=_fewer(subject, shared),
    )  # fmt: skip


def _fewer(subject: Subject, shared: SharedPool) -> Iterator[Repair]:
    """Yields a lower limit on the long tasks in flight, where one workload of them has one."""
    caps = [other.cap for other in shared.unsure]
    if len(caps) == 1 and caps[0] is not None and shared.pool.few > 1:
        repair = repairs.proposal(repairs.change(subject, caps[0][1], Fraction(shared.pool.few - 1)))
        yield from [repair] if repair is not None else []
