"""slot locking: long tasks take every member of a pool, and short requests outwait their patience behind them.

## What
A pool that serves in the order of arrival, for two workloads or more: one whose tasks may take T, and another one that
waits no longer than P (its `deadline`, or the limit of its call).  Where as many long tasks may be in service as the
pool has members, some state has all of them in service and just begun: who comes then waits T.  With T above P that
request is lost, however low the load is.

A member is held for the work of its task and for the calls that it waits for; a try that is cancelled frees it.  A call
without a limit has no longest wait, and a rate says nothing of one task: then it is undecided.

A limit on the long ones in flight (`counts: jobs in flight`) that is below the number of members at work leaves a slot,
where no request holds two (second copies, tries that their caller has left).  A pool that lets a higher `priority` take
a member (`discipline: preemptive`) has none to lock.  A pool that is asked for more than it serves is `overload`:
nothing is said of it here.

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

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.calls import Call
from coherence.language.components import Component
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.queues.loaded_things import LoadedThing, station_of

if TYPE_CHECKING:
    from coherence.verify.patterns.placement._held_members import MemberCount
    from coherence.verify.patterns.placement._member_holds import MemberHold

QUESTION = Question("COH250", "slot-locking", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


@dataclass(frozen=True)
class LongTasks:
    """A workload of a pool: how long a task holds a member, and how many are at once."""

    workload: Workload
    call: Call
    hold: MemberHold
    cap: tuple[Limit, Quantity] | None

    def most(self, *, surely: bool) -> Fraction | None:
        """Returns how many may be at once, at most or by the lower end of their limit; None without one."""
        return None if self.cap is None else self.cap[1].low if surely else self.cap[1].high

    def outlasts(self, seconds: Fraction) -> bool:
        """Decides whether a task is not known to give its member back within so long."""
        return self.hold.most is None or self.hold.most > seconds


@dataclass(frozen=True)
class SharedPool:
    """A pool with its members, its least patient workload, which waits no longer than `patience`, and all others."""

    pool: LoadedThing
    members: MemberCount
    short: LongTasks
    patience: Quantity
    others: tuple[LongTasks, ...]

    @property
    def tasks(self) -> tuple[LongTasks, ...]:
        """Returns all workloads of the pool: the least patient one may hold members for longer than it waits itself."""
        return (*self.others, self.short)

    @property
    def holders(self) -> tuple[LongTasks, ...]:
        """Returns those that may hold a member for so long that who waits for it cannot be served in time."""
        late = self._spare(self.short.hold.known)
        others = [other for other in self.others if other.hold.known > late]
        return (*others, *([self.short] if self.short.hold.known > self.patience.low else []))

    @property
    def unsure(self) -> tuple[LongTasks, ...]:
        """Returns those that are not known to give a member back early enough: others while it can still be served."""
        own = self.short.hold.most
        spare = self._spare(own) if own is not None else Fraction(0)
        return (
            *(other for other in self.others if other.outlasts(spare)),
            *([self.short] if self.short.outlasts(self.patience.low) else []),
        )

    def _spare(self, own: Fraction) -> Fraction:
        """Returns how long a request may wait whose work takes so long; one that is never served in time just waits."""
        return self.patience.low - (own if own < self.patience.low else 0)

    @property
    def open(self) -> str:
        """Returns what would say how long those without a limit hold a member; nothing where the design has no end."""
        free = [own for own in self.unsure if own.cap is None]
        endless = f"how long a task of {self.short.workload.name} takes at most"
        needs = [own.hold.open or (endless if own is self.short else "") for own in free]
        return needs[0] if needs and all(needs) else ""

    @property
    def of(self) -> tuple[str, ...]:
        """Returns the names of what the answer is about."""
        names = (name for o in self.others for name in (o.workload.name, o.call.name, *_limit_of(o)))
        return (self.pool.thing, self.short.workload.name, self.short.call.name, *names, *self.members.of)

    @property
    def places(self) -> tuple[Place, ...]:
        """Returns where the numbers stand."""
        long = [
            place.labelled(f"{own.workload.name} may hold a member so long")
            for own in self.others for place in own.hold.places
        ]  # fmt: skip
        caps = [o.cap[1].place.labelled(f"so many of {o.workload.name} at once") for o in self.tasks if o.cap]
        patience = self.patience.place.labelled(f"{self.short.workload.name} waits no longer")
        return (*long, patience, *caps, *self.members.places)


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
    from coherence.verify.patterns.placement._held_members import least_in_flight, member_count
    from coherence.verify.patterns.placement._member_holds import member_hold

    callers = _callers(facts, component.name)
    pool = station_of(facts, component.name) if len(callers) > 1 else None
    if pool is None or pool.each.open or pool.demand.high >= pool.capacity or pool.scaled:
        return None
    workloads = {name: facts.design.workload[name] for name in callers}
    waits = {name: patience for name in callers if (patience := _patience(workloads[name], callers[name])) is not None}
    members = member_count(facts, component.name)
    if not waits or members is None:
        return None
    least = min(waits, key=lambda name: waits[name].low)
    tasks = {
        name: LongTasks(own, callers[name], member_hold(facts, own, callers[name]),
                        least_in_flight(facts.design, own, component.name))
        for name, own in workloads.items()
    }  # fmt: skip
    others = tuple(own for name, own in tasks.items() if name != least)
    if not any(own.hold.places or own.cap for own in tasks.values()):
        return None  # nothing says how long any task takes
    return SharedPool(pool, members, tasks[least], waits[least], others)


def _patience(workload: Workload, call: Call) -> Quantity | None:
    """Returns how long a request of a workload waits at most; None where it waits for ever."""
    own = [value for value in (workload.deadline, call.per_try, call.deadline) if isinstance(value, Quantity)]
    return min(own, key=lambda value: value.low, default=None)


def _answer(subject: Subject, shared: SharedPool) -> Iterator[Finding]:
    few, many = shared.members.few, shared.members.many
    thing, short = shared.pool.thing, shared.short.workload.name
    numbers: dict[str, tuple[Fraction, str]] = {"members": (few, ""), "patience": (shared.patience.low, "s")}
    caps = [own.most(surely=False) for own in shared.unsure]
    least = [own.most(surely=True) for own in shared.holders]
    if None not in caps and sum(filter(None, caps)) < few:
        most = sum(filter(None, caps), Fraction(0))
        held = f"at most {render_quantity(most)} of {render_quantity(few)} members of {thing} are held"
        yield _left(shared, f"{held} beyond the patience of {short}", numbers, most)
    elif shared.holders and (None in least or sum(filter(None, least)) >= many):
        yield _conflict(subject, shared, numbers)
    elif shared.open:
        yield QUESTION.undecided(f"needs {shared.open}", shared.places, shared.of)
    elif shared.holders:
        names = " and ".join(own.workload.name for own in shared.holders)
        needs = f"needs fewer tasks of {names} in flight than {thing} has members for certain ({render_quantity(few)})"
        needs = f"{needs}, or how long each takes: each may hold a member longer than {short} waits"
        yield QUESTION.undecided(needs, shared.places, shared.of)


def _left(shared: SharedPool, message: str, numbers: dict[str, tuple[Fraction, str]], most: Fraction) -> Finding:
    """Returns the proof that a member is left; open where members go at once."""
    gone = shared.members.gone
    if gone is not None:
        needs = f"{gone.uncounted(shared.pool.thing)}; with all of them: {message}"
        return QUESTION.undecided(needs, shared.places, shared.of)
    evidence = arithmetic({**numbers, "held": (most, "")}, certificate=_certificate(most, shared.members.few))
    assumed = dict.fromkeys((*shared.members.assumed, *(word for own in shared.tasks for word in own.hold.assumed)))
    return QUESTION.proved(message, shared.places, shared.of, evidence, assumptions=assumed)


def _certificate(most: Fraction, few: Fraction) -> str:
    return Certificate(claim=f"(< {rational(most)} {rational(few)})").script()


def _conflict(subject: Subject, shared: SharedPool, numbers: dict[str, tuple[Fraction, str]]) -> Finding:
    thing, patience, short = shared.pool.thing, shared.patience.low, shared.short.workload.name
    many = render_quantity(shared.members.many)
    load = shared.pool.demand.high / shared.pool.capacity
    least = min(own.hold.known for own in shared.holders)
    names = " and ".join(own.workload.name for own in shared.holders)
    work = "" if least >= patience else f", and its work takes {render_seconds(shared.short.hold.known)}"
    message = (
        f"{many} tasks of {names} at once lock all members of {thing} for {render_seconds(least)}, and {short} waits "
        f"{render_seconds(patience)}{work}, at a load of {float(load):.2g} of 1"
    )
    witness = (
        Step(Fraction(0), f"{many} tasks of {names} begin at {thing}, each for {render_seconds(least)} or more"),
        Step(Fraction(0), f"a request of {short} comes, and waits"),
        Step(patience, f"it is given up; the first member is free at {render_seconds(least)}{work}"),
    )
    evidence = arithmetic({**numbers, "held for": (least, "s"), "load": (load, "")}, witness=witness)
    return QUESTION.conflict(
        message, shared.places, shared.of, evidence, certain=False,
        assumptions=("long tasks may come at once, and are served in the order of arrival",),
        repairs=_fewer(subject, shared),
    )  # fmt: skip


def _fewer(subject: Subject, shared: SharedPool) -> Iterator[Repair]:
    """Yields a lower limit on the long tasks in flight, where one workload of them has one."""
    caps, fits = [own.cap for own in shared.unsure], math.ceil(shared.members.few) - 1
    if len(caps) == 1 and caps[0] is not None and fits > 0:
        repair = repairs.proposal(repairs.change(subject, caps[0][1], Fraction(fits)))
        yield from [repair] if repair is not None else []
