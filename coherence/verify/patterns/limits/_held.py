"""Compares what running members of components hold (`needs:`) with the capacity that they hold it of."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Component, needed
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import PLACED, DesignFacts, copies, scalers
from coherence.verify.facts.limits import claims_on, narrowed
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.jobs.capacity import alike, place_count
from coherence.verify.jobs.count_ranges import added_places_needed, adder_beside, adds_nodes
from coherence.verify.jobs.job_kinds import waits_together
from coherence.verify.patterns.writers._pair import Numbers


@dataclass(frozen=True)
class Holders:
    """Members of one component that hold so much of a capacity each; `few` .. `many` of them, as `stated`."""

    component: Component
    need: Quantity
    few: Fraction
    many: Fraction
    stated: bool = True

    @property
    def least(self) -> Fraction:
        return self.few * self.need.low

    @property
    def most(self) -> Fraction:
        return self.many * self.need.high

    def amount(self, value: Fraction) -> str:
        """Renders an amount of what is held, in its unit."""
        return render_quantity(value, self.need.dimension.physical)


@dataclass(frozen=True)
class Supply:
    """A capacity: how much there is of it at most and at least, where that is said, and the quantity if it is one.

    `least` is as much as there is at most where something adds to it.
    """

    name: str
    amount: Fraction
    least: Fraction
    places: tuple[Place, ...]
    quantity: Quantity | None = None


def answers(question: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a conflict per capacity that the members of components pass when all of them run."""
    groups = holders_by_capacity(facts)
    for (path, resource), holders in groups.items():
        supply_ = _supply(facts, path, resource)
        if supply_ is not None and sum(holder.most for holder in holders) > supply_.amount:
            adder = adder_beside(facts, facts.design.places) if not path else None
            conflict = _conflict(question, subject, facts, supply_, resource, holders)
            needs = f"{added_places_needed(adder)}: {conflict.message}" if adder is not None else ""
            yield question.undecided(needs, conflict.places, conflict.of) if needs else conflict
        elif supply_ is not None:
            pieces = (_in_pieces(question, facts, supply_, resource, one) for one in holders if not path)
            short = [piece for piece in pieces if piece is not None]
            yield from short or _where_least(question, supply_, resource, holders)


def _where_least(question: Question, supply: Supply, resource: str, holders: list[Holders]) -> Iterator[Finding]:
    """Yields that how much there is has to be known, where members hold more than its least."""
    most, amount = sum((holder.most for holder in holders), Fraction(0)), holders[0].amount
    if most > supply.least:
        names = tuple(holder.component.name for holder in holders)
        there = f"{amount(supply.least)} to {amount(supply.amount)} ({supply.name})"
        needs = f"needs how much there is: all of {' and '.join(names)} hold {amount(most)} {resource} of {there}"
        held, stated = (
            [one.need.place for one in holders],
            [place.labelled("so much is there") for place in supply.places],
        )
        places = (*held, *stated)
        yield question.undecided(needs, places, names)


def absences(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a proof per capacity of one thing that has room for all members of the components that hold it.

    None where anything else may hold it too: jobs, claims, and components whose number nothing states.
    """
    design = facts.design
    if design.jobs or design.tiers or design.claims:
        return
    for (path, resource), holders in holders_by_capacity(facts).items():
        names = tuple(holder.component.name for holder in holders)
        needing = {one.name for one in design.components.values() if resource in needed(one)}
        supply = _supply(facts, path, resource) if path and needing == set(names) else None
        room = _room(facts, path, holders) if supply is not None and all(one.stated for one in holders) else None
        most = sum((holder.most for holder in holders), Fraction(0))
        if supply is not None and room is not None and most <= room:
            script = Certificate(claim=f"(<= {rational(most)} {rational(room)})").script()
            shown = f"{holders[0].amount(most)} {resource} at most, and there is room for {holders[0].amount(room)}"
            evidence = arithmetic({"held": (most, ""), "room": (room, "")}, certificate=script)
            places = (*(holder.need.place for holder in holders), *supply.places)
            yield question.absent(f"{' and '.join(names)} hold {shown}", places, names, evidence)


def _room(facts: DesignFacts, path: str, holders: list[Holders]) -> Fraction | None:
    """Returns what members surely find of a capacity; of like things that have a part each, in whole members."""
    amount, members = facts.values[path].low, alike(facts, path)
    if amount is None or members is None:
        return amount
    need = holders[0].need.high
    if members.low is None or len(holders) > 1 or need <= 0:
        return None
    return math.floor(members.low) * (amount // need) * need


def holders_by_capacity(facts: DesignFacts) -> dict[tuple[str, str], list[Holders]]:
    """Returns what members hold of each capacity, by its path and resource."""
    groups: dict[tuple[str, str], list[Holders]] = {}
    for component in facts.design.components.values():
        for resource, need in needed(component).items() if _ours(facts, component) else ():
            held, supply = _held(facts, component, need), supplies(facts, component, resource)
            if held is not None and _is_of_it(facts, component, resource, need, supply):
                groups.setdefault((supply, resource), []).append(held)
    return groups


def _is_of_it(facts: DesignFacts, component: Component, resource: str, need: Quantity, supply: str) -> bool:
    """Decides whether a member holds a part of a capacity: an amount in units (8 GiB) of what it runs on, or of places.

    So it is of what is a capacity by its name (`memory: {count: 64 GiB}`).  Without that, another thing with such an
    amount (the `memory` that a cache itself uses) is no capacity.
    """
    physical = need.dimension.physical
    offered = [given.get(resource) for given in facts.design.places.values()]
    there = [facts.quantities.get(supply)] if supply else [each for each in offered if isinstance(each, Quantity)]
    same = all(each is None or each.dimension.physical == physical for each in there)
    counted = supply == f"{resource}.count"
    return same and (physical == ONE or component.runs_on is not None or not supply or counted)


def _in_pieces(
    question: Question, facts: DesignFacts, supply: Supply, resource: str, holder: Holders
) -> Finding | None:
    """Returns the conflict of members that find too little in each single place, though all together have enough."""
    from coherence.verify.jobs.needs import NeedsError
    from coherence.verify.jobs.selectors import is_selective
    from coherence.verify.jobs.sites import cluster

    name = holder.component.name
    if is_selective(facts.design, name):  # which places take its members is COH227's matter
        return None
    try:
        there = cluster(facts, name, soft=False)
    except NeedsError:
        return None
    if there.full is None or there.full >= holder.many or any(site.adder for site in there.sites):
        return None
    message = (
        f"{render_quantity(holder.many)} of {name} hold {holder.amount(holder.need.high)} {resource} each, and the "
        f"places take {there.full} of them: all together have {holder.amount(supply.amount)}, no single one enough"
    )
    places = [
        holder.need.place.labelled(f"one of {name} holds this"),
        *(place.labelled("so much is in this place") for place in supply.places),
    ]
    numbers: Numbers = {"members": (holder.many, ""), "members that have a place": (Fraction(there.full), "")}
    witness = (
        Step(None, f"{there.full} of {name} have a place"),
        Step(None, f"for the next one each place has less than {holder.amount(holder.need.high)} {resource} left"),
    )
    return question.conflict(
        message, places, (name,), arithmetic(numbers, witness=witness), certain=there.full < holder.few,
        assumptions=("nothing adds capacity",),
    ).refuting(PLACED.format(name))  # fmt: skip


def _ours(facts: DesignFacts, component: Component) -> bool:
    """Members that wait for each other, and those that placement rules spread, are other questions' matter."""
    from coherence.verify.jobs.selectors import confines

    ruled = any(confines(rule) for rule in facts.design.placement.get(component.name, ()))
    claimed = component.runs_on is not None and claims_on(facts.design, f"{component.runs_on.text}.count")
    return not (ruled or claimed or waits_together(facts, component))


def _held(facts: DesignFacts, component: Component, need: Quantity) -> Holders | None:
    """Returns what the members hold; of a thing of which nothing says how many there are, one."""
    count = copies(facts, component.name)
    if count is None and component.copies is None and not scalers(facts, component.name):
        return Holders(component, need, Fraction(1), Fraction(1), stated=False)
    if count is None or count.low is None or count.high is None:
        return None
    return Holders(component, need, count.low, count.high)


def _supply(facts: DesignFacts, path: str, resource: str) -> Supply | None:
    """Returns the capacity on a path; without one, of all places together where each says what it has."""
    if path:
        return _of_thing(facts, path)
    stated = [(given.get(resource), place_count(facts, name)) for name, given in facts.design.places.items()]
    amounts = [(one, many) for one, many in stated if isinstance(one, Quantity)]
    if not amounts or any(many.high is None for _, many in amounts):
        return None
    total = sum((one.high * (many.high or 0) for one, many in amounts), Fraction(0))
    least = sum((one.low * (many.low or 0) for one, many in amounts), Fraction(0))
    added = _is_added_to(facts, facts.design.places)
    places = tuple(one.place for one, _ in amounts)
    return Supply(f"all places ({resource})", total, total if added else least, places)


def _of_thing(facts: DesignFacts, path: str) -> Supply | None:
    """Returns a capacity of one thing; of like members (`node: {copies: 8, gpu: 8}`) each has it."""
    thing = path.partition(".")[0]
    amount, members = facts.values[path].high, alike(facts, path)
    if (
        claims_on(facts.design, f"{thing}.count") is not None
        or amount is None
        or (members is not None and members.high is None)
    ):
        return None
    if members is None:
        least = facts.values[path].low
        return Supply(
            path, amount, amount if least is None else least, (facts.places[path],), facts.quantities.get(path)
        )
    counted = facts.design.places.get(thing, {}).get("count")
    where = counted.place if isinstance(counted, Quantity) else facts.places[f"{thing}.copies"]
    total, lowest = amount * (members.high or 0), (facts.values[path].low or 0) * (members.low or Fraction(0))
    return Supply(
        f"all of {thing}", total, total if _is_added_to(facts, (thing,)) else lowest, (facts.places[path], where)
    )


def _is_added_to(facts: DesignFacts, things: Collection[str]) -> bool:
    """Decides whether a loop may add some of these things."""
    loops = facts.design.loops.values()
    return any(loop.written.partition(".")[0] in things or adds_nodes(loop) for loop in loops)


def _conflict(
    question: Question, subject: Subject, facts: DesignFacts, supply: Supply, resource: str, holders: list[Holders]
) -> Finding:
    most, least = sum(holder.most for holder in holders), sum(holder.least for holder in holders)
    amount = holders[0].amount
    parts = ", ".join(
        f"{render_quantity(holder.many)} of {holder.component.name} hold {amount(holder.need.high)} each"
        for holder in holders
    )
    message = f"{parts}: {amount(Fraction(most))} {resource}, but there are {amount(supply.amount)} ({supply.name})"
    places = [
        *(holder.need.place.labelled(f"one of {holder.component.name} holds this") for holder in holders),
        *(place.labelled("so much is there") for place in supply.places),
        *(facts.places[p].labelled("so many members") for p in _paths(holders) if p in facts.places),
    ]
    numbers: Numbers = {"held": (Fraction(most), ""), "there": (supply.amount, "")}
    witness = (Step(None, parts), Step(None, f"the last one finds less than it needs of {supply.name} and never runs"))
    writers = [w.name for p in _paths(holders) for w in facts.written.get(p.replace(".copies", ".desired"), ())]
    of = (*(holder.component.name for holder in holders), *writers)
    return question.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=least > supply.amount,
        assumptions=("nothing adds capacity", *_unstated(holders)),
        repairs=_repairs(subject, facts, supply, holders),
    ).refuting(*(PLACED.format(holder.component.name) for holder in holders))  # fmt: skip


def _unstated(holders: list[Holders]) -> tuple[str, ...]:
    names = [holder.component.name for holder in holders if not holder.stated]
    return (f"there is one of {' and '.join(names)} at least (copies: is not stated)",) if names else ()


def _paths(found: list[Holders]) -> list[str]:
    return [f"{one.component.name}.copies" for one in found]


def _repairs(subject: Subject, facts: DesignFacts, supply: Supply, holders: list[Holders]) -> Iterator[Repair]:
    """More of the capacity, or as many members of one component as fit."""
    most = sum((holder.most for holder in holders), Fraction(0))
    offered = [repairs.change(subject, supply.quantity, most)] if supply.quantity is not None else []
    for holder in holders:
        room, stated = supply.amount - (most - holder.most), facts.quantities.get(f"{holder.component.name}.copies")
        if stated is not None and holder.need.high > 0 and room >= holder.need.high:
            offered.append(narrowed(subject, stated, Fraction(room // holder.need.high)))
    for edit in offered:
        repair = repairs.proposal(edit)
        yield from [repair] if repair is not None else []
