"""Finds jobs of which one member needs more than there is: they wait for ever, whoever comes first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Job, needed
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.jobs.capacity import place_count
from coherence.verify.jobs.count_ranges import added_places_needed, adder_beside
from coherence.verify.jobs.job_kinds import TOGETHER, WAITING
from coherence.verify.patterns.writers._pair import Numbers


@dataclass(frozen=True)
class OfferedAmount:
    """What there is of a resource: `each` thing that has it has at most so much, all together `whole` at most.

    `name` is the thing that has most; None for `whole`: how many there are is not stated.
    """

    name: str
    each: Quantity
    whole: Fraction | None

    @property
    def place(self) -> Place:
        return self.each.place


def answers(question: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields an answer per job that cannot have what one member of it needs."""
    for job in facts.design.jobs.values():
        if not any(word in job.constants for word in (TOGETHER, *WAITING)):  # the question about gangs adds them up
            for resource, need in needed(job).items():
                yield from _answer(question, subject, facts, job, resource, need)


def _capacity(facts: DesignFacts, resource: str) -> OfferedAmount | None:
    """Returns the capacity of a resource; None where nothing, or not everything that may have it, says how much."""
    own = facts.quantities.get(f"{resource}.count")
    if own is not None:
        return OfferedAmount(f"{resource}.count", own, own.high)
    having = [(name, facts.quantities.get(f"{name}.{resource}")) for name in facts.design.components]
    stated = [(name, amount, copies(facts, name)) for name, amount in having if amount is not None]
    if not stated:
        return _of_places(facts, resource)
    name, each, _ = max(stated, key=lambda row: row[1].high)
    sums = [None if many is not None and many.high is None else amount.high * _many(many) for _, amount, many in stated]
    return OfferedAmount(f"{name}.{resource}", each, None if None in sums else sum((s for s in sums if s), Fraction(0)))


def _many(members: object) -> Fraction:
    high = getattr(members, "high", None)
    return Fraction(1) if high is None else max(Fraction(high), Fraction(1))


def _of_places(facts: DesignFacts, resource: str) -> OfferedAmount | None:
    amounts = {
        name: given[resource]
        for name, given in facts.design.places.items()
        if isinstance(given.get(resource), Quantity)
    }
    if not amounts or len(amounts) < len(facts.design.places):
        return None
    name = max(amounts, key=lambda place: amounts[place].high)
    counts = [place_count(facts, place).high for place in amounts]
    whole = None if None in counts else sum((amounts[name].high * (count or 0) for count in counts), Fraction(0))
    return OfferedAmount(f"{name}.{resource}", amounts[name], whole)


def _answer(
    question: Question, subject: Subject, facts: DesignFacts, job: Job, resource: str, need: Quantity
) -> Iterator[Finding]:
    there = _capacity(facts, resource)
    if there is None or there.whole is None or need.dimension.physical != there.each.dimension.physical:
        return
    if need.high > there.whole:  # less than that, a job may take from several
        places = (need.place.labelled(f"one {job.name} needs this"), there.place.labelled("there is no more than this"))
        adder = adder_beside(facts, facts.design.places)
        conflict = _conflict(question, subject, job, resource, need, there, places)
        needs = f"{added_places_needed(adder)}: {conflict.message}" if adder is not None else ""
        yield question.undecided(needs, places, conflict.of) if needs else conflict


def _conflict(
    question: Question, subject: Subject, job: Job, resource: str, need: Quantity, there: OfferedAmount,
    places: tuple[Place, ...],
) -> Finding:  # fmt: skip
    physical, whole = need.dimension.physical, there.whole or there.each.high
    amount, most = render_quantity(need.high, physical), render_quantity(whole, physical)
    message = f"{job.name} needs {amount} {resource}, but there are {most} ({there.name}): it never runs"
    numbers: Numbers = {"needed": (need.high, ""), "there": (whole, "")}
    witness = (
        Step(None, f"{job.name} waits for {amount} {resource}"),
        Step(None, f"all {most} are free: it waits still"),
    )
    return question.conflict(
        message, places, (job.name,), arithmetic(numbers, witness=witness), certain=need.low > whole,
        assumptions=("nothing adds capacity",), repairs=_repairs(subject, need, there),
    )  # fmt: skip


def _repairs(subject: Subject, need: Quantity, there: OfferedAmount) -> Iterator[Repair]:
    """Yields as much capacity as it needs, or a job that needs what there is."""
    for edit in (repairs.change(subject, there.each, need.high), repairs.change(subject, need, there.each.low)):
        repair = repairs.proposal(edit)
        yield from [repair] if repair is not None else []
