"""Compares a sum of claims with how many there are, beside the boundaries that the claims are behind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Limit
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Compare, Logic, Name, Number, Tree
from coherence.language.words import MEMBERS
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, caps_at_all_times, place_of, supply_of, with_caps, with_supply
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Corner, Values, enclosure, extremes, point, truth, with_ranges
from coherence.verify.jobs.capacity import alike
from coherence.verify.patterns.writers._pair import Numbers, quantities


def claim_on(question: Question, subject: Subject, name: str, claims: Tree, where: Place) -> Finding:
    """Returns the answer whether what is claimed of a tier or a component fits.

    Of a value that several members each state, one is surely enough for what fits on it, and all together are not
    enough for what passes their sum; between the two the claims may be spread.
    """
    supply = Name(supply_of(name))
    facts = with_supply(with_caps(known(subject), claims), supply.path)
    tree = facts.tree(claims)
    missing = facts.missing(tree)
    if supply.path not in facts.values:
        return question.undecided(f"needs {_missing_supply(name)}", (where,), (name,))
    if missing:
        return question.undecided(f"needs bounds of {missing[0]}", (where,), (name,))
    fits = Compare("<=", tree, supply)
    places = _places(facts, where, supply, tree)
    holds = truth(fits, facts.values)
    if holds:
        return _beside_boundaries(question, facts, name, fits, places)
    if (held := _held_by_limit(question, facts, name, fits, places)) is not None:
        return held
    facts, there = _of_all_members(facts, supply)
    together = truth(Compare("<=", tree, there), facts.values)
    if there != supply:
        thing = _thing(name)
        places = (*places, facts.places[f"{thing}.copies"].labelled("so many members"))
        if together is True or facts.range(there).high is None:
            needs = f"needs how the claims lie on the members of {thing}: {name} is what each of them has"
            return question.undecided(needs, places, (name,))
    excess = extremes(Arithmetic("-", tree, there), facts.values)
    if excess is None or excess[1].value <= 0:
        return question.undecided(
            f"needs bounds of what claims {name}: its parts do not vary independently", places, (name,)
        )
    fits = Compare("<=", tree, there)
    return _conflict(question, (subject, facts), name, fits, excess[1], places, certain=together is False)


def _of_all_members(facts: DesignFacts, supply: Name) -> tuple[DesignFacts, Tree]:
    """Returns what all members of a thing have together of a value that each has, and the facts with their number.

    A limit that states how much there is states it of all together.
    """
    members = alike(facts, supply.path) if supply.path in facts.quantities else None
    if members is None:
        return facts, supply
    path = f"{_thing(supply.path)}.copies"
    place = facts.design.places.get(_thing(supply.path), {}).get("count")
    where = {path: place.place} if place is not None else {}
    values = with_ranges(facts.values, {path: members})
    counted = replace(facts, values=values, places=facts.places | where)  # type: ignore[arg-type]  # never put into
    return counted, Arithmetic("*", supply, Name(path))


def _held_by_limit(
    question: Question, facts: DesignFacts, name: str, fits: Compare, places: tuple[Place, ...]
) -> Finding | None:
    """Returns the proof where a limit on a sum holds the claims within what there is; None where none does.

    With a multiple k >= 0 of what the limit counts, claims <= k * cap + the largest of claims - k * counted.
    """
    there = facts.range(fits.right).low
    if there is None or facts.design.boundaries:
        return None
    for limit, counted, most in _sums_held(facts):
        for multiple in _multiples(facts, fits.left, counted):
            rest = extremes(Arithmetic("-", fits.left, Arithmetic("*", Number(multiple), counted)), facts.values)
            if rest is None or multiple * most + rest[1].value > there:
                continue
            script = claimed(Logic("or", (Compare(">", counted, Number(most)), fits)), facts.values)
            numbers: Numbers = {"claimed at most": (multiple * most + rest[1].value, ""), "count": (there, "")}
            lines = (*places, place_of(limit.at_most, limit).labelled(f"{limit.name} holds what is claimed"))
            message, of = f"the claims on {name} fit: {limit.name} holds them", (name, *_owners(facts, fits))
            return question.proved(message, lines, (*of, limit.name), arithmetic(numbers, certificate=script))
    return None


def _sums_held(facts: DesignFacts) -> Iterator[tuple[Limit, Tree, Fraction]]:
    """Yields limits that hold back what comes, what they count where no loop writes it, and their caps."""
    for limit in facts.design.limits.values():
        most = cap(facts, limit) if limit.when_full and limit.when_full.text and caps_at_all_times(limit) else None
        highest = facts.range(most).high if most is not None else None
        counted = facts.tree(limit.counts.tree) if limit.counts is not None and highest is not None else None
        if counted is not None and highest is not None and not any(path in facts.written for path in used(counted)):
            yield limit, counted, highest


def _multiples(facts: DesignFacts, claims: Tree, counted: Tree) -> list[Fraction]:
    """Returns by what a limit on `counted` may be multiplied: the ratio of what each name adds to both."""
    ratios: list[Fraction] = []
    for path in used(counted):
        steps = [_slope(facts, tree, path) for tree in (claims, counted)]
        if steps[0] is not None and steps[1] and steps[0] / steps[1] > 0:
            ratios.append(steps[0] / steps[1])
    return list(dict.fromkeys(ratios))


def _slope(facts: DesignFacts, tree: Tree, path: str) -> Fraction | None:
    """Returns what one more of a name adds to an expression, others at the lower ends of their ranges."""
    lows = {each: facts.values[each].low for each in used(tree) if each in facts.values}
    if None in lows.values() or len(lows) < len(set(used(tree))):
        return None
    at = {each: point(low) for each, low in lows.items() if low is not None}
    ends = [enclosure(tree, at | {path: point(value)}) for value in (Fraction(0), Fraction(1))]
    return ends[1].low - ends[0].low if all(end.exact for end in ends) else None  # type: ignore[operator]


def _missing_supply(name: str) -> str:
    thing, _, value = supply_of(name).partition(".")
    return f"{value} of {thing}"


def _places(facts: DesignFacts, where: Place, supply: Name, tree: Tree) -> tuple[Place, ...]:
    lines = [where, facts.places[supply.path].labelled("this many there are")]
    lines += [facts.places[path].labelled(f"{path} may take this") for path in used(tree) if path in facts.places]
    return tuple(lines)


def _owners(facts: DesignFacts, fits: Compare) -> list[str]:
    """Returns the loops that write what is claimed, and the limits that alone bound it or state how much there is."""
    return [
        owner.name for path in (*used(fits.left), *used(fits.right))
        for owner in facts.written.get(path, ()) or (() if path in facts.quantities else facts.counted.get(path, ()))
    ]  # fmt: skip


def _beside_boundaries(
    question: Question, facts: DesignFacts, name: str, fits: Compare, places: tuple[Place, ...]
) -> Finding:
    """Returns the proof, or what boundaries leave open: their gains, their slices, their quota."""
    from coherence.language.shared_rates import around
    from coherence.verify.facts.boundaries import effects, rooms

    values, of = effects(facts, used(fits.left)), (name, *_owners(facts, fits))
    most = enclosure(fits.left, values).high
    if not truth(fits, values) or most is None:
        behind = {
            boundary.name: boundary for path in used(fits.left) for boundary in around(facts.design, _thing(path))
        }
        lines = (*places, *(boundary.place.labelled("what is written may cross this") for boundary in behind.values()))
        needs = (
            f"needs whether the loops run inside {' and '.join(behind)}: with its gain the claims on {name} may not fit"
        )
        return question.undecided(needs, lines, of)
    counted = [path for path in used(fits.left) if path not in facts.quantities or path.rpartition(".")[2] in MEMBERS]
    members = sum((enclosure(Name(path), values).high or Fraction(0) for path in counted), Fraction(0))
    for room in rooms(facts, name) if "." not in name else ():
        if (members if room.members else most) > room.most:
            what = f"{members} members" if room.members else f"{most} of {name}"
            needs = f"needs room in {room.boundary} for {what}: there are {room.text}"
            return question.undecided(needs, (*places, room.place.labelled("so many there are")), of)
    return _proved(question, facts, name, fits, places, values)


def _thing(path: str) -> str:
    return path.partition(".")[0]


def _proved(
    question: Question, facts: DesignFacts, name: str, fits: Compare, places: tuple[Place, ...], values: Values
) -> Finding:
    most, count = enclosure(fits.left, values).high, facts.range(fits.right).low
    numbers: Numbers = {"claimed at most": (most or Fraction(0), ""), "count": (count or Fraction(0), "")}
    evidence = arithmetic(numbers, certificate=claimed(fits, values))
    return question.proved(f"the claims on {name} fit", places, (name, *_owners(facts, fits)), evidence)


def _conflict(
    question: Question,
    known_of: tuple[Subject, DesignFacts],
    name: str,
    fits: Compare,
    worst: Corner,
    places: tuple[Place, ...],
    *,
    certain: bool,
) -> Finding:
    count = enclosure(fits.right, {path: point(value) for path, value in worst.at.items()}).low or Fraction(0)
    claimed_ = worst.value + count
    most, there = _amount(known_of[1], name, claimed_), _amount(known_of[1], name, count)
    parts = ", ".join(f"{path} = {worst.at[path]}" for path in used(fits.left))
    message = f"the claims on {name} can reach {most} of {there}: {parts}"
    witness = (Step(None, parts), Step(None, f"{most} are claimed, {there} are there"))
    numbers: Numbers = {
        "claimed": (claimed_, ""),
        "count": (count, ""),
        **{path: (worst.at[path], "") for path in used(fits.left)},
    }
    return question.conflict(
        message, places, (name, *_owners(known_of[1], fits)), arithmetic(numbers, witness=witness),
        certain=certain, repairs=_repairs(*known_of, name, fits.left, worst, count),
    )  # fmt: skip


def _amount(facts: DesignFacts, name: str, value: Fraction) -> str:
    """Renders an amount of what is claimed, in its unit where it has one."""
    stated = facts.quantities.get(supply_of(name))
    return (
        str(value) if stated is None or stated.dimension == ONE else render_quantity(value, stated.dimension.physical)
    )


def _repairs(
    subject: Subject, facts: DesignFacts, name: str, tree: Tree, worst: Corner, count: Fraction
) -> Iterator[Repair]:
    """Lower one upper bound, lower all in proportion, or add capacity, whole where it is stated whole."""
    most = worst.value + count
    uppers = {path: facts.written[path][-1] for path in used(tree) if len(facts.written.get(path, ())) == 1}
    for path, writer in uppers.items():
        stated, room = quantities(writer), worst.at[path] - worst.value
        if len(stated) == 2 and room > max(stated[0].high, Fraction(0)):
            proposed = repairs.proposal(repairs.change(subject, stated[1], room))
            yield from [proposed] if proposed else []
    edits = [
        repairs.change(subject, quantities(writer)[-1], Fraction(math.floor(worst.at[path] * count / most)))
        for path, writer in uppers.items() if quantities(writer)
    ]  # fmt: skip
    supply = facts.quantities.get(supply_of(name))
    each = worst.at[supply_of(name)]
    enough = most * each / count if count else most
    enough = Fraction(math.ceil(enough)) if each.denominator == 1 else enough
    more = repairs.change(subject, supply, enough) if supply is not None else None
    for repair in (repairs.proposal(*edits), repairs.proposal(more)):
        yield from [repair] if repair else []
