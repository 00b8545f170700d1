"""Answers on load beside what members serve: limits that make those beyond them wait, and things without a member.

A limit that makes callers wait is a queue of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.findings.standing_proofs import no_waits
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.entries.member_slots import closing, is_shut
from coherence.language.roles import SendCount, send_count
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.call_graph import NO_WAIT
from coherence.verify.facts.design_facts import DesignFacts, copies, scalers
from coherence.verify.facts.limits import always_holds, not_followed, raised
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.queues.loaded_things import is_raised
from coherence.verify.queues.member_rates import member_rate
from coherence.verify.queues.offered_load import OfferedRate, offered, sent


@dataclass(frozen=True)
class Throttle:
    """At most `most` sends (or their tokens) in `window`, the others wait; and what first tries bring, per second."""

    limit: Limit
    count: SendCount
    most: Quantity
    window: Quantity
    demand: OfferedRate
    calls: tuple[str, ...]

    @property
    def callee(self) -> str:
        return self.count.callee

    @property
    def rate(self) -> Fraction:
        """Returns what it lets through for certain, per second."""
        return self.most.low / self.window.high

    @property
    def unit(self) -> str:
        return f"{self.count.unit}/s"

    @property
    def numbers(self) -> Numbers:
        return {"asked": (self.demand.high, self.unit), "let through": (self.rate, self.unit)}

    @property
    def places(self) -> tuple[Place, ...]:
        return (self.most.place.labelled(f"so many in {self.window}, the others wait"), *self.demand.places)

    @property
    def of(self) -> tuple[str, ...]:
        return (self.limit.name, self.callee, *self.demand.names, *self.calls)


def throttled(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each limit in a window on the sends to a callee that makes those beyond it wait."""
    for limit in subject.design.limits.values():
        throttle = _throttle(subject, limit)
        if throttle is not None:
            yield _answer(question, subject, throttle)


def _throttle(subject: Subject, limit: Limit) -> Throttle | None:
    most, window = most_allowed(subject.design, limit), limit.window
    if not limit.waits or most is None or not isinstance(window, Quantity) or limit.per is not None:
        return None
    count = send_count(subject.design, limit)
    demand = sent(subject.design, count) if count is not None and window.low > 0 else None
    if count is None or demand is None:
        return None
    calls = [call for call in subject.design.calls if call.callee is not None and call.callee.text == count.callee]
    return Throttle(limit, count, most, window, demand, tuple(call.name for call in calls))


def _answer(question: Question, subject: Subject, throttle: Throttle) -> Finding:
    """Answers on a long time: bursts wait, and are worked off where what comes in the mean is less."""
    demand, limit, unit = throttle.demand, throttle.limit, throttle.unit
    senders = [w for name in demand.names if (w := subject.design.workload.get(name)) is not None]
    if lacking := throttle.count.lacking(senders):
        return question.undecided(f"needs {lacking}", throttle.places, throttle.of)
    full = f"{limit.name} lets {_per(throttle.rate, unit)} through, asked are {_per(demand.high, unit)}"
    if demand.high < throttle.rate:
        if demand.lacking:
            return question.undecided(f"needs {demand.lacking}: {full}", throttle.places, throttle.of)
        claim = f"(< (* {rational(demand.high)} {rational(throttle.window.high)}) {rational(throttle.most.low)})"
        evidence = arithmetic(throttle.numbers, certificate=Certificate(claim=claim).script())
        return question.proved(full, throttle.places, throttle.of, evidence, assumptions=throttle.count.assumed(limit))
    if demand.open:
        return question.undecided(f"needs {demand.open}: {full} if all do", throttle.places, throttle.of)
    if not always_holds(limit) or limit.actions:
        return question.undecided(f"{not_followed(limit)}: {full}", throttle.places, throttle.of)
    rest = demand.high - throttle.rate
    grows = f"those that wait grow by {_per(rest, unit)}" if rest else "how many wait has no bound"
    witness = (
        Step(Fraction(0), full),
        Step(Fraction(60), f"{render_quantity(rest * 60)} more are waiting than a minute before"),
    )
    return question.conflict(
        f"{full}: {grows}", throttle.places, throttle.of, arithmetic(throttle.numbers, witness=witness),
        certain=demand.low >= throttle.most.high / throttle.window.low, repairs=_repairs(subject, throttle),
        assumptions=throttle.count.assumed(limit),
    ).refuting(NO_WAIT.format(throttle.callee), *no_waits([limit.name]))  # fmt: skip


def _repairs(subject: Subject, throttle: Throttle) -> Iterator[Repair]:
    """Yields a limit with a fifth to spare."""
    enough = math.ceil(throttle.demand.high * throttle.window.high * Fraction(6, 5))
    repair = repairs.proposal(repairs.change(subject, throttle.most, Fraction(enough)))
    yield from [repair] if repair is not None else []


def _per(rate: Fraction, unit: str = "req/s") -> str:
    return f"{render_quantity(rate)} {unit}"


def unserved(question: Question, subject: Subject, facts: DesignFacts, thing: str) -> Iterator[Finding]:
    """Yields a conflict where a thing that is asked may have no member, and nothing says what one would serve, or a
    limit lets none of its members work on a request.

    Where it has none for certain, whatever one would serve.
    """
    demand, members, closed = offered(facts, thing), copies(facts, thing), closing(facts.design, thing)
    if demand is None or demand.high <= 0:
        return
    if closed is None and (members is None or members.low is None or members.low > 0):
        return
    many = math.floor(members.high) if members is not None and members.high is not None else None
    if closed is None:
        assert members is not None
        if many is None or (many and (member_rate(facts, thing) is not None or is_raised(facts, thing, members))):
            return
    from coherence.verify.queues.let_through import held_above

    stated, number = facts.quantities.get(f"{thing}.copies"), facts.places.get(f"{thing}.copies")
    places = (*demand.places, *((number.labelled("so many members"),) if number is not None else ()))
    loops = scalers(facts, thing)
    calls = [call for call in facts.design.calls if call.callee is not None and call.callee.text == thing]
    names = (thing, *demand.names, *(call.name for call in calls), *loops)
    has = f"{thing} has no member" if many == 0 else f"{thing} may have no member (copies 0 to {many})"
    sure = many == 0 if closed is None else is_shut(*closed)
    if closed is not None:
        stated, has = closed[1], f"{closed[0].name} {'lets' if sure else 'may let'} no member of {thing} work on one"
        places, names = (*places, closed[1].place.labelled("so many at once in each member")), (*names, closed[0].name)
    message = f"asked are {_per(demand.high)}, {has}: nobody serves them"
    if demand.open:
        yield question.undecided(f"needs {demand.open}: {message}", places, names)
        return
    witness = (Step(Fraction(0), has), Step(Fraction(60), f"{render_quantity(demand.high * 60)} more are waiting"))
    repair = repairs.proposal(raised(subject, stated, Fraction(1))) if stated is not None else None
    held = (*held_above(facts, thing, lambda passed: passed > 0),)
    yield question.conflict(
        message, places, names, arithmetic({"asked": (demand.high, "req/s"), "members": (0, "")}, witness=witness),
        certain=sure and demand.low > 0 and not held, assumptions=held, repairs=[repair] if repair is not None else [],
    ).refuting(NO_WAIT.format(thing))  # fmt: skip
