"""Compares what one member of a job needs with what there is, and with what members of components leave of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Job, needed
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import PLACED, DesignFacts, copies
from coherence.verify.facts.tier_shares import tier_shares
from coherence.verify.jobs.capacity import held_by_jobs, place_count
from coherence.verify.jobs.count_ranges import added_places_needed, adder_beside
from coherence.verify.jobs.job_kinds import TOGETHER, WAITING
from coherence.verify.patterns.limits._held import Holders, holders_by_capacity
from coherence.verify.patterns.limits.rollout_feasibility import EXTRA, thing_counted
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
    beside = _members_beside(facts, there, resource)
    held = sum((holder.least for holder in beside), Fraction(0))
    if need.high + held > there.whole:  # less than that, a job may take from several
        conflict = _conflict(question, subject, job, resource, need, there, [] if need.high > there.whole else beside)
        adder = adder_beside(facts, facts.design.places)
        needs = f"{added_places_needed(adder)}: {conflict.message}" if adder is not None else ""
        yield question.undecided(needs, conflict.places, conflict.of) if needs else conflict
    elif beside:
        yield from _all_at_once(question, facts, job, resource, there, beside)


def _members_beside(facts: DesignFacts, there: OfferedAmount, resource: str) -> list[Holders]:
    """Returns the members that stay and hold parts of the capacity, where components say how many there are."""
    if resource in facts.design.tiers and not all(share.needed for share in tier_shares(facts, resource)):
        return []  # what they hold beside their `needs` is added up with the devices of the tier
    paths = [there.name, *([""] if there.name.partition(".")[0] in facts.design.places else [])]
    groups = holders_by_capacity(facts)
    return [holder for path in paths for holder in groups.get((path, resource), []) if holder.stated]


def _all_at_once(
    question: Question, facts: DesignFacts, job: Job, resource: str, there: OfferedAmount, beside: list[Holders]
) -> Iterator[Finding]:
    """Yields the proof that one capacity has room for all jobs beside the most members, or that it is open who waits.

    Who waits is said by an order, which other questions follow.
    """
    jobs = [one for one in facts.design.jobs.values() if resource in needed(one)]
    ours, all_members = held_by_jobs(jobs, resource), _holds_all(facts, resource, beside)
    least = facts.values[there.name].low if there.name == f"{resource}.count" else None
    most = sum((holder.most for holder in beside), Fraction(0))
    if job is not jobs[0] or ours is None or least is None or not all_members:
        return
    amount, names = beside[0].amount, [*(one.name for one in jobs), *(holder.component.name for holder in beside)]
    places = (
        *(needed(one)[resource].place.labelled(f"one of {one.name} holds this") for one in jobs),
        *(holder.need.place.labelled(f"one of {holder.component.name} holds this") for holder in beside),
        there.place.labelled("so much is there"),
    )
    message = f"{' and '.join(names)} hold {amount(most + ours)} {resource} at most, and there are {amount(least)}"
    if most + ours > least:
        needs = f"needs who waits: {message}"
        yield from [] if facts.design.order is not None else [question.undecided(needs, places, names)]
        return
    script = Certificate(claim=f"(<= {rational(most + ours)} {rational(least)})").script()
    numbers: Numbers = {"held": (most + ours, ""), "there": (least, "")}
    yield question.proved(message, places, names, arithmetic(numbers, certificate=script))


def _holds_all(facts: DesignFacts, resource: str, beside: list[Holders]) -> bool:
    """Decides whether these are all that hold the resource: no claim, and no extra copy of an update, adds to it."""
    needing = {one.name for one in facts.design.components.values() if resource in needed(one)}
    extra = any(thing_counted(limit, EXTRA) in needing for limit in facts.design.limits.values())
    return needing == {holder.component.name for holder in beside} and not facts.design.claims and not extra


def _conflict(
    question: Question, subject: Subject, job: Job, resource: str, need: Quantity, there: OfferedAmount,
    beside: list[Holders],
) -> Finding:  # fmt: skip
    physical, whole = need.dimension.physical, there.whole or there.each.high
    amount, most = render_quantity(need.high, physical), render_quantity(whole, physical)
    held, names = sum((holder.least for holder in beside), Fraction(0)), [holder.component.name for holder in beside]
    free, never = f"all {most} are free: it waits still", "it never runs"
    message = f"{job.name} needs {amount} {resource}, but there are {most} ({there.name})"
    if beside:
        fewest = f"members of {' and '.join(names)} hold {render_quantity(held, physical)} of these at least"
        message, free, never = f"{message}, and {fewest}", fewest, "they never run all at once"
    numbers: Numbers = {"needed": (need.high, ""), "there": (whole, "")}
    witness = (Step(None, f"{job.name} waits for {amount} {resource}"), Step(None, free))
    places = (
        need.place.labelled(f"one {job.name} needs this"),
        *(holder.need.place.labelled(f"one of {holder.component.name} holds this") for holder in beside),
        there.place.labelled("there is no more than this"),
    )
    conflict = question.conflict(
        f"{message}: {never}", places, (job.name, *names),
        arithmetic({**numbers, **({"held by members": (held, "")} if beside else {})}, witness=witness),
        certain=need.low + held > whole, assumptions=("nothing adds capacity",),
        repairs=_repairs(subject, need, there, sum((holder.most for holder in beside), Fraction(0))),
    )  # fmt: skip
    return conflict.refuting(*(PLACED.format(name) for name in names))


def _repairs(subject: Subject, need: Quantity, there: OfferedAmount, held: Fraction) -> Iterator[Repair]:
    """Yields as much capacity as it needs, or a job that needs what there is, beside what members hold."""
    one_amount = not held or there.whole == there.each.high
    changes = [(there.each, need.high + held), (need, there.each.low - held)] if one_amount else []
    changes = [(stated, value) for stated, value in changes if value > 0]
    for edit in (repairs.change(subject, stated, value) for stated, value in changes):
        repair = repairs.proposal(edit)
        yield from [repair] if repair is not None else []
