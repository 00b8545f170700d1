"""priority inversion: a request of high priority waits for one of low priority, which one of middle priority holds up.

## What
A thing whose members are held while it calls on another one, directly or through others, which serves by priority.
Workloads of high and of low priority reach the first, and one of a priority between the two reaches the second without
it, whether it reaches the first too or not.  A request of low priority holds a member of the first and waits at the
second behind those of middle priority, for as long as these come; whoever has the highest priority waits for that
member.  Taking a member from a lower class does not help: who waits for an answer is not in service.

It is bounded where a call on every way ends by a limit within the patience of the high ones, where limits on all of
middle priority in flight leave a member of the second to others, and where limits on all of low priority leave a member
of the first: of those members that work at once for certain.  Who comes through others holds no more members than these
have.

## Why it hurts
The order of priorities is turned round: the most urgent waits for the least urgent, and no queue of its own class
shows it.

## Example
```yaml
coherence: 1
workload:
  urgent: {rate: 1 req/s, priority: 3}
  batch: {rate: 1 req/s, priority: 1}
  users: {rate: 5 req/s, priority: 2}
components:
  api: {copies: 4, discipline: priority, takes: {serve: 5 ms}}
  db: {copies: 2, discipline: priority, rate_per_copy: 10 req/s}
calls: [{from: urgent, to: api}, {from: batch, to: api}, {from: users, to: db}, {from: api, to: db}]
```

## Instead
The priority of what is held is that of the most urgent one who may wait for it: `batch: {priority: 3}` (priority
ceiling), or the second serves in the order of arrival.

## Source
L. Sha, R. Rajkumar, J. P. Lehoczky, Priority Inheritance Protocols, IEEE Transactions on Computers 39 (1990).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.graphs import reached
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.calls import Call
from coherence.language.design import Design, Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.facts.design_facts import DesignFacts, copies, known
from coherence.verify.facts.limits import in_flight_limits

if TYPE_CHECKING:
    from coherence.verify.patterns.placement._held_members import MemberCount

QUESTION = Question("COH251", "priority-inversion", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
BY_PRIORITY = ("priority", "preemptive", "preemptive repeat")


@dataclass(frozen=True)
class HeldMember:
    """A thing that calls on another one, and the workloads of high, middle (rising) and low priority there.

    `call`: the last one on the way from the first to the second; `holder`: the first.
    """

    call: Call
    holder: str
    high: Workload
    middles: tuple[Workload, ...]
    low: Workload
    lower: tuple[Workload, ...]  # all that may be held up so
    inside: tuple[Workload, ...]  # all that reach the first

    @property
    def of(self) -> tuple[str, ...]:
        """Returns the names of what the answer is about."""
        middles = (own.name for own in self.middles)
        return (self.high.name, self.low.name, *middles, self.first, self.second, self.call.name)

    @property
    def first(self) -> str:
        """Returns the thing whose members are held."""
        return self.holder

    @property
    def way(self) -> str:
        """Returns through whom the first calls on the second, in words; empty where it does itself."""
        return f" through {self.call.caller}" if str(self.call.caller) != self.first else ""

    @property
    def second(self) -> str:
        """Returns the thing that it calls on."""
        return str(self.call.callee)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each call to a thing that serves by priority, about the widest inversion at it."""
    if len(subject.design.workload) < 3:
        return
    facts = known(subject)
    for call in subject.design.calls:
        for holder in _holders(facts, call):
            held = _held(facts, call, holder)
            if held is not None:
                yield from _answer(subject, facts, held)


def _holders(facts: DesignFacts, call: Call) -> tuple[str, ...]:
    """Returns the things whose members wait for a call to what serves by priority: its caller, and who calls that."""
    callee = facts.design.components.get(str(call.callee))
    if callee is None or callee.discipline is None or callee.discipline.text not in BY_PRIORITY:
        return ()
    callers: dict[str, list[str]] = {}
    for other in facts.design.calls:
        callers.setdefault(str(other.callee), []).append(str(other.caller))
    above = reached([str(call.caller)], lambda name: callers.get(name, ()))
    return tuple(name for name in facts.design.components if name in above and name != callee.name)


def _held(facts: DesignFacts, call: Call, holder: str) -> HeldMember | None:
    """Returns the lowest, the highest and one between them, where these share a call so."""
    callee = facts.design.components[str(call.callee)]
    inside, beside = _reaching(facts, holder), _reaching(facts, callee.name, without=holder)
    if len(inside) < 2:
        return None
    high = max(inside, key=_most_urgent)
    low = min((own for own in inside if own is not high), key=priority)
    between = [
        own for own in sorted(beside, key=priority)
        if own not in (low, high) and priority(low) < _most_urgent(own) and priority(own) < _most_urgent(high)
    ]  # fmt: skip
    late = max(map(_most_urgent, between), default=priority(low))
    lower = tuple(own for own in inside if own is not high and priority(own) < late)
    if not _may_fill(facts, lower, holder):
        return None
    return HeldMember(call, holder, high, tuple(between), low, lower, tuple(inside)) if between else None


def _may_fill(facts: DesignFacts, lower: Sequence[Workload], thing: str) -> bool:
    """Decides whether workloads may hold all members of a thing, by as many calls as there are members of its callers.

    Those that call it themselves may; others hold no more than the members of what calls it for them.
    """
    names, workloads = {own.name for own in lower}, facts.design.workload
    calls = [call for call in facts.design.calls if str(call.callee) == thing]
    callers = [call for call in calls if str(call.caller) in names or str(call.caller) not in workloads]
    if names.intersection(str(call.caller) for call in callers):
        return True
    from coherence.verify.patterns.placement._held_members import holds_one, member_count

    bounds = [(holds_one(None, call), copies(facts, str(call.caller))) for call in callers]
    members = member_count(facts, thing)
    most = [bound.high if once and bound is not None else None for once, bound in bounds]
    if members is None or members.gone is not None:
        return True
    return None in most or sum(number for number in most if number is not None) >= members.few


def _reaching(facts: DesignFacts, thing: str, *, without: str = "") -> list[Workload]:
    """Returns the workloads whose requests come to a thing, through others or not, and not through another one."""
    callers: dict[str, list[str]] = {}
    for call in facts.design.calls:
        callers.setdefault(str(call.callee), []).append(str(call.caller))
    above = reached([thing], lambda name: [own for own in callers.get(name, ()) if own != without])
    return [workload for name, workload in facts.design.workload.items() if name in above]


def priority(workload: Workload) -> Fraction:
    """Returns the priority of a workload: 0 where none is stated."""
    return workload.priority.low if workload.priority is not None else Fraction(0)


def _most_urgent(workload: Workload) -> Fraction:
    return workload.priority.high if workload.priority is not None else Fraction(0)


@dataclass(frozen=True)
class MemberShare:
    """Workloads whose limits leave a member of a thing to others: they hold `most` of them at once."""

    owners: tuple[Workload, ...]
    thing: str
    members: MemberCount
    caps: tuple[tuple[Limit, Quantity], ...]
    most: Fraction

    @property
    def message(self) -> str:
        names = " and ".join(own.name for own in self.owners)
        of = f"{render_quantity(self.most)} of {render_quantity(self.members.few)} members of {self.thing}"
        return f"{names} {'hold' if len(self.owners) > 1 else 'holds'} at most {of}"


def _share(facts: DesignFacts, owners: tuple[Workload, ...], thing: str) -> MemberShare | None:
    """Returns the members that workloads hold at most; None where these may be all."""
    from coherence.verify.patterns.placement._held_members import least_in_flight, member_count

    members = member_count(facts, thing)
    caps = tuple(cap for own in owners if (cap := least_in_flight(facts.design, own, thing)) is not None)
    most = sum((cap.high for _, cap in caps), Fraction(0))
    if len(caps) < len(owners) or members is None or most >= members.few:
        return None
    return MemberShare(owners, thing, members, caps, most)


def _answer(subject: Subject, facts: DesignFacts, held: HeldMember) -> Iterator[Finding]:
    """Yields the proof that a member is left at the second thing or at the first; else the inversion."""
    from coherence.verify.patterns.placement._held_members import least_in_flight

    second, first = _share(facts, held.middles, held.second), _share(facts, held.lower, held.first)
    tried = [(own, _open(facts.design, held, own)) for own in (second, first) if own is not None]
    if tried:
        yield _left(held, *min(tried, key=lambda pair: bool(pair[1])))
    elif capped := next(_perhaps_left(facts, held), ""):
        yield QUESTION.undecided(f"needs {capped}", _places(held, held.middles), held.of)
    elif not _ends_in_time(facts.design, held):
        free = [own for own in held.middles if least_in_flight(facts.design, own, held.second) is None]
        yield _conflict(subject, held, (free or held.middles)[-1])


def _perhaps_left(facts: DesignFacts, held: HeldMember) -> Iterator[str]:
    """Yields workloads with limits in flight below the members of a thing, which they hold through others."""
    from coherence.verify.patterns.placement._held_members import least_in_flight, member_count

    calls = {(str(call.caller), str(call.callee)) for call in facts.design.calls}
    for owners, thing in ((held.middles, held.second), (held.lower, held.first)):
        through = [own for own in owners if (own.name, thing) not in calls]
        caps = [in_flight_limits(facts.design, {own.name, f"{own.name}.requests"}) for own in through]
        direct = [least_in_flight(facts.design, own, thing) for own in owners if own not in through]
        members = member_count(facts, thing) if through else None
        if members is None or not all(caps) or None in direct:
            continue
        own_caps = [min(cap.high for _, cap in own) for own in caps] + [own[1].high for own in direct if own]
        if sum(own_caps, Fraction(0)) < members.few:
            yield f"how many members of {thing} {' and '.join(own.name for own in through)} hold through others"


def _left(held: HeldMember, share: MemberShare, needs: str) -> Finding:
    caps = (cap.place.labelled("so many of them at once") for _, cap in share.caps)
    places = (*caps, *share.members.places, *_places(held, held.middles))
    of = tuple(dict.fromkeys((*held.of, *(own.name for own in share.owners), *share.members.of)))
    if needs:
        return QUESTION.undecided(f"needs {needs}: {share.message}", places, of)
    few = share.members.few
    claim = Certificate(claim=f"(< {rational(share.most)} {rational(few)})").script()
    evidence = arithmetic({"members": (few, "")}, certificate=claim)
    return QUESTION.proved(share.message, places, of, evidence, assumptions=share.members.assumed)


def _open(design: Design, held: HeldMember, share: MemberShare) -> str:
    """Returns what to ask for before a member is known to be left."""
    thing, gone = share.thing, share.members.gone
    callers = dict.fromkeys(str(call.caller) for call in design.calls if str(call.callee) == thing)
    known_call = (str(held.call.caller), held.second)
    others = [name for name in callers if name not in design.workload and (name, thing) != known_call]
    if others:
        verb = "call" if len(others) > 1 else "calls"
        return f"to know with which priority {' and '.join(others)} {verb} {thing}"
    through = [own.name for own in held.middles if own in held.inside] if thing == held.second else []
    if through:
        return f"how many members of {thing} {' and '.join(through)} may hold through {held.first} as well"
    if held.way and thing == held.first:
        return f"how many members of {held.call.caller} {held.low.name} may hold, which {held.high.name} needs too"
    return f"how many of {thing} are gone at once ({gone.name}); with all of them" if gone is not None else ""


def _ends_in_time(design: Design, held: HeldMember) -> bool:
    """Decides whether a call on every way from the first to the last call ends within the patience of the highest."""
    patience = held.high.deadline
    if patience is None:
        return False

    def in_time(call: Call) -> bool:
        return isinstance(call.deadline, Quantity) and call.deadline.high <= patience.low

    late = [call for call in design.calls if not in_time(call)]
    way = reached([held.first], lambda name: (str(call.callee) for call in late if str(call.caller) == name))
    return in_time(held.call) or str(held.call.caller) not in way


def _places(held: HeldMember, middles: Sequence[Workload]) -> tuple[Place, ...]:
    return tuple(
        (own.priority.place if own.priority is not None else own.place).labelled(f"the priority of {own.name}")
        for own in (held.high, *middles, held.low)
    )


def _conflict(subject: Subject, held: HeldMember, between: Workload) -> Finding:
    high, middle, low, first, second = held.high.name, between.name, held.low.name, held.first, held.second
    message = (
        f"{high} waits at {first} for as long as {middle}, of a lower priority, keeps {second} busy: {low} holds the "
        f"members of {first} and waits at {second}{held.way} behind {middle}"
    )
    witness = (
        Step(None, f"requests of {low} take every member of {first}, and call {second}{held.way}"),
        Step(None, f"{middle} comes to {second} again and again, and is served before them"),
        Step(None, f"a request of {high} comes to {first}: no member is free, and none becomes free"),
    )
    numbers = {f"priority of {own.name}": (priority(own), "") for own in (held.high, between, held.low)}
    return QUESTION.conflict(
        message, _places(held, [between]), held.of, arithmetic(numbers, witness=witness), certain=False,
        assumptions=(f"{middle} may come as often as {second} serves it for a time",),
        repairs=_repairs(subject, held),
    )  # fmt: skip


def _repairs(subject: Subject, held: HeldMember) -> Iterator[Repair]:
    """Yields the priority ceiling of the lowest, and the order of arrival at the second."""
    if held.low.priority is not None:
        ceiling = repairs.proposal(repairs.change(subject, held.low.priority, priority(held.high)))
        yield from [ceiling] if ceiling is not None else []
    word = subject.design.components[held.second].discipline
    old = repairs.text_at(subject.sources, word.place) if word is not None else None
    if word is not None and old is not None:
        yield Repair((Edit(word.place, old, "fifo"),), "")
