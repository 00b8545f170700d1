"""Compares what is sent with what a limit lets through in its window, where the others wait: a queue of its own."""

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
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.roles import counted_sends
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.call_graph import NO_WAIT
from coherence.verify.facts.limits import always_holds, not_followed
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.queues.offered_load import OfferedRate, sent


@dataclass(frozen=True)
class Throttle:
    """At most `most` sends to a callee in `window`, the others wait; and the first tries that come, per second."""

    limit: Limit
    callee: str
    most: Quantity
    window: Quantity
    demand: OfferedRate
    calls: tuple[str, ...]

    @property
    def rate(self) -> Fraction:
        """Returns what it lets through for certain, per second."""
        return self.most.low / self.window.high

    @property
    def numbers(self) -> Numbers:
        return {"asked": (self.demand.high, "req/s"), "let through": (self.rate, "req/s")}

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
    waits = limit.when_full is not None and limit.when_full.text == "wait"
    if not waits or most is None or not isinstance(window, Quantity) or limit.per is not None:
        return None
    callee, caller = counted_sends(subject.design, limit.counts.tree if limit.counts is not None else None)
    demand = sent(subject.design, callee, caller) if callee is not None and window.low > 0 else None
    if callee is None or demand is None:
        return None
    calls = [call for call in subject.design.calls if call.callee is not None and call.callee.text == callee]
    return Throttle(limit, callee, most, window, demand, tuple(call.name for call in calls))


def _answer(question: Question, subject: Subject, throttle: Throttle) -> Finding:
    """Answers on a long time: bursts wait, and are worked off where what comes in the mean is less."""
    demand, limit = throttle.demand, throttle.limit
    full = f"{limit.name} lets {_per(throttle.rate)} through, asked are {_per(demand.high)}"
    if demand.high < throttle.rate:
        if demand.lacking:
            return question.undecided(f"needs {demand.lacking}: {full}", throttle.places, throttle.of)
        claim = f"(< (* {rational(demand.high)} {rational(throttle.window.high)}) {rational(throttle.most.low)})"
        evidence = arithmetic(throttle.numbers, certificate=Certificate(claim=claim).script())
        return question.proved(full, throttle.places, throttle.of, evidence)
    if demand.open:
        return question.undecided(f"needs {demand.open}: {full} if all do", throttle.places, throttle.of)
    if not always_holds(limit) or limit.actions:
        return question.undecided(f"{not_followed(limit)}: {full}", throttle.places, throttle.of)
    rest = demand.high - throttle.rate
    grows = f"those that wait grow by {_per(rest)}" if rest else "how many wait has no bound"
    witness = (
        Step(Fraction(0), full),
        Step(Fraction(60), f"{render_quantity(rest * 60)} more are waiting than a minute before"),
    )
    return question.conflict(
        f"{full}: {grows}", throttle.places, throttle.of, arithmetic(throttle.numbers, witness=witness),
        certain=demand.low >= throttle.most.high / throttle.window.low, repairs=_repairs(subject, throttle),
    ).refuting(NO_WAIT.format(throttle.callee))  # fmt: skip


def _repairs(subject: Subject, throttle: Throttle) -> Iterator[Repair]:
    """Yields a limit with a fifth to spare."""
    enough = math.ceil(throttle.demand.high * throttle.window.high * Fraction(6, 5))
    repair = repairs.proposal(repairs.change(subject, throttle.most, Fraction(enough)))
    yield from [repair] if repair is not None else []


def _per(rate: Fraction) -> str:
    return f"{render_quantity(rate)} req/s"
