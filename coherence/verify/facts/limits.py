"""Reads a limit as trees: what it counts, its cap and its floor, with rounding."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.entries.member_slots import total_in_work
from coherence.language.expressions.tree import Call, Name, Tree
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.model.model import Interval, interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import corners, enclosure, hull, point, with_ranges
from coherence.verify.facts.writers import tree_of

NOT_HELD_BACK = "no budget holds an eviction of {} back for ever"
DOMAINS = ("zone", "node", "host", "rack", "region")  # of places, each of which has some of the members of a thing
ROUNDING = {"up": "ceil", "down": "floor"}


def supply_of(name: str) -> str:
    """Returns the path of how much there is of what is claimed: the count of a thing, or the value that is named."""
    return name if "." in name else f"{name}.count"


def claims_on(design: Design, supply: str) -> Formula | None:
    """Returns what shares a capacity, by its path: claims on a count stand under the name of the thing, or its path."""
    return design.claims.get(supply) or design.claims.get(supply.removesuffix(".count"))


def is_domain(design: Design, each: str) -> bool:
    """Decides whether a limit `per` this stands for each of some places, where some of the members of a thing are."""
    return each in (*DOMAINS, *design.places) or any(each in place for place in design.places.values())


def needs_shares(limit: Limit, thing: str) -> str:
    """Returns what to ask of a limit for each of some places, where it decides how many members each has."""
    stated = f"at most {limit.at_most}" if limit.at_most is not None else f"at least {limit.at_least}"
    return f"needs how many of {thing} there are in each {limit.per}: {limit.name} is {stated} in each"


def with_caps(facts: DesignFacts, tree: Tree) -> DesignFacts:
    """Returns the facts in which what a tree counts, and nothing but limits bounds, stays within these."""
    capped: dict[str, tuple[Fraction, Limit]] = {}
    for path in facts.missing(tree):
        caps = [(limit, _most(facts, limit)) for limit in facts.counted.get(path, ()) if caps_at_all_times(limit)]
        stated = [(most, limit) for limit, most in caps if most is not None]
        capped |= {path: min(stated, key=lambda pair: pair[0])} if stated else {}
    if not capped:
        return facts
    ranges = {path: Interval(Fraction(0), most) for path, (most, _) in capped.items()}
    places = facts.places | {path: place_of(limit.at_most, limit) for path, (_, limit) in capped.items()}
    values = with_ranges(facts.values, ranges)
    return replace(facts, values=values, places=places)  # type: ignore[arg-type]  # read as a table, never put into


def with_supply(facts: DesignFacts, path: str) -> DesignFacts:
    """Returns the facts in which a value that a limit alone states (`counts: db.connections`) is its cap."""
    caps = [limit for limit in facts.counted.get(path, ()) if caps_at_all_times(limit) and limit.per is None]
    most = cap(facts, caps[0]) if path not in facts.values and len(caps) == 1 else None
    if most is None or facts.range(most).high is None:
        return facts
    places = facts.places | {path: place_of(caps[0].at_most, caps[0])}
    values = with_ranges(facts.values, {path: facts.range(most)})
    return replace(facts, values=values, places=places)  # type: ignore[arg-type]  # read as a table, never put into


def _most(facts: DesignFacts, limit: Limit) -> Fraction | None:
    most = cap(facts, limit)
    return facts.range(most).high if most is not None else None


def caps_at_all_times(limit: Limit) -> bool:
    """Decides whether a limit bounds a count itself, by whomever it is raised, and not how often it comes."""
    return limit.window is None and not limit.actions and always_holds(limit)


def cap(facts: DesignFacts, limit: Limit) -> Tree | None:
    """Returns the cap after rounding and its own floor, over constants; None where there is none."""
    tree = _rounded(limit, _tree(facts, limit, "at_most", limit.at_most))
    least = _tree(facts, limit, "but_at_least", limit.but_at_least)
    if tree is None:
        return None
    return facts.tree(Call("max", (tree, least)) if least is not None else tree)


def floor(facts: DesignFacts, limit: Limit) -> Tree | None:
    """Returns the floor after rounding, over constants; None where there is none."""
    tree = _rounded(limit, _tree(facts, limit, "at_least", limit.at_least))
    return facts.tree(tree) if tree is not None else None


def _tree(facts: DesignFacts, limit: Limit, key: str, value: Quantity | Formula | Word | None) -> Tree | None:
    """Returns the tree of a stated value; a range gets a name of its own, and so does what a loop sets."""
    tree, path = tree_of(value), f"{limit.name}.{key}"
    if path in facts.written:
        if isinstance(value, Quantity) and path in facts.values:
            from_loops = facts.values[path]
            facts.values.put(path, lambda: hull([from_loops, interval(value)]))
        tree = Name(path)
    elif isinstance(value, Quantity) and not value.exact:
        facts.put(path, value)
        tree = Name(path)
    return tree


def _rounded(limit: Limit, tree: Tree | None) -> Tree | None:
    function = ROUNDING.get(limit.rounding.text) if limit.rounding else None
    return Call(function, (tree,)) if function and tree is not None else tree


def at_members(facts: DesignFacts, tree: Tree, thing: str, members: int) -> Fraction | None:
    """Returns the one value of a tree where a thing has so many members; None where that does not fix it."""
    interval = enclosure(tree, with_ranges(facts.values, {f"{thing}.copies": point(members)}))
    return interval.low if interval.exact else None


def place_of(value: Quantity | Formula | Word | None, limit: Limit) -> Place:
    """Returns where a value of the limit stands, or the limit itself."""
    return value.place if value is not None else limit.place


def counted_in_flight(limit: Limit) -> str:
    """Returns what a limit counts in flight, or nothing."""
    match limit.counts:
        case Formula(tree=Call("in flight", (Name(path=path),))):
            return path
    return ""


def always_holds(limit: Limit) -> bool:
    """Decides whether there is one of a limit and it holds at every time."""
    return not _narrowing(limit)


def _narrowing(limit: Limit) -> list[str]:
    """Returns the keys by which a limit holds at times, in some places or once for each of something."""
    return [key for key in ("per", "during", "scope") if getattr(limit, key) is not None]


def not_followed(limit: Limit) -> str:
    """Returns, in words, that no answer follows the keys by which a limit does not hold at all times."""
    keys = [*_narrowing(limit), *(["actions"] if limit.actions else [])]
    named = f"the {' and '.join(f'`{key}`' for key in keys)} of {limit.name}"
    return f"{named} {'is' if len(keys) == 1 else 'are'} not followed"


def undecided_by(limit: Limit, most: Quantity | None) -> str:
    """Returns, in words, why a limit with this number, or none, bounds nothing for certain."""
    return f"needs a number as `at_most` of {limit.name}" if most is None else not_followed(limit)


def perhaps_in_flight(design: Design, counted: Collection[str]) -> list[tuple[Limit, Quantity | None]]:
    """Returns the limits on what is in flight under one of some names that may stop it at times, with their numbers."""
    limits = [limit for limit in design.limits.values() if counted_in_flight(limit) in counted]
    stated = [limit for limit in limits if limit.at_most is not None and not isinstance(limit.at_most, Word)]
    return [(limit, most_allowed(design, limit)) for limit in stated]


def in_flight_limits(design: Design, counted: Collection[str]) -> list[tuple[Limit, Quantity]]:
    """Returns the limits on what is in flight under one of some names that hold at every time, with their numbers."""
    return [
        (limit, most)
        for limit in design.limits.values()
        if (counted_in_flight(limit) or total_in_work(design, limit)) in counted and caps_at_all_times(limit)
        and (most := most_allowed(design, limit)) is not None
    ]  # fmt: skip


def narrowed(subject: Subject, quantity: Quantity, high: Fraction) -> Edit | None:
    """Returns the edit to another upper end where a range stands, another value where one value stands."""
    old = repairs.text_at(subject.sources, quantity.place)
    if old is None or quantity.exact or ".." not in old:
        return repairs.change(subject, quantity, high) if quantity.exact else None
    low, _, last = old.partition("..")
    gap = last[: len(last) - len(last.lstrip())]
    return Edit(quantity.place, old, f"{low}..{gap}{repairs.render_like(last.strip(), high, quantity.dimension)}")


def raised(subject: Subject, quantity: Quantity, low: Fraction) -> Edit | None:
    """Returns the edit to another lower end where a range stands, or another value where all of it is lower."""
    old = repairs.text_at(subject.sources, quantity.place)
    if quantity.high <= low:
        return repairs.change(subject, quantity, low)
    if old is None or quantity.exact or ".." not in old:
        return repairs.change(subject, quantity, low) if quantity.exact else None
    first, _, high = old.partition("..")
    gap = first[len(first.rstrip()) :]
    return Edit(quantity.place, old, f"{repairs.render_like(first.strip(), low, quantity.dimension)}{gap}..{high}")


def rounded(quantity: Quantity, value: Fraction, *, up: bool) -> Fraction:
    """Returns the value in two significant digits of the unit in which the quantity is written."""
    unit = re.search(units.UNIT + r"$", quantity.text)
    factor = units.unit(unit[0])[0] if unit else Fraction(1)
    return (repairs.upward_round if up else repairs.downward_round)(value / factor) * factor


def largest(facts: DesignFacts, difference: Tree, path: str) -> Fraction | None:
    """Returns the largest value of a constant at which `difference` <= 0 at every corner, where it is affine in it."""
    span = facts.values.get(path)
    if span is None or span.low is None or span.high is None or span.exact:
        return None
    low, middle, high = (_worst(facts, difference, path, x) for x in (span.low, (span.low + span.high) / 2, span.high))
    if low is None or middle is None or high is None or low > 0 or high <= 0 or low + high != 2 * middle:
        return None
    edge = span.low + (span.high - span.low) * -low / (high - low)
    whole = span.low.denominator == span.high.denominator == 1
    return Fraction(edge.numerator // edge.denominator) if whole else edge


def _worst(facts: DesignFacts, difference: Tree, path: str, value: Fraction) -> Fraction | None:
    values = with_ranges(facts.values, {path: Interval(value, value)})
    return max((corner.value for corner in corners(difference, values)), default=None)
