"""Decides whether there is room for one more member of a thing: its needs against what the others leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.language.design import Component, Job, needed
from coherence.language.expressions import names
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Compare, Name, Tree
from coherence.language.infrastructure import Hosting
from coherence.language.schema_kinds import Quantity
from coherence.language.words import MEMBERS
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import claims_on, with_caps
from coherence.verify.facts.ranges import extremes, hull, point, truth, with_ranges
from coherence.verify.facts.tier_shares import supplies, tier_shares

MEMBERS_OF_JOBS = ("copies", "gang", "barrier", "ranks")
SET_BY_A_LOOP = "what the loop that sets {} makes of it"


@dataclass(frozen=True)
class Room:
    """What is left of the scarcest resource and what one more member needs of it.

    `enough` is None where `missing` names the fact that is not stated; `supply` is the path of the capacity.
    `sure`: there is none in the best case of every range either.  `assumed`: what the numbers take for granted.
    `lacks_number`: what is missing is a number; else it is what a stated one means.
    """

    enough: bool | None
    missing: str = ""
    what: str = ""
    left: Fraction | None = None
    need: Fraction | None = None
    supply: str = ""
    place: Place | None = None
    quantity: Quantity | None = None
    sure: bool = True
    assumed: str = ""
    lacks_number: bool = True

    @property
    def claim(self) -> str:
        """Returns the room as an SMT-LIB term."""
        return (
            f"(>= {real(self.left)} {real(self.need)})" if self.left is not None and self.need is not None else "false"
        )

    @property
    def left_text(self) -> str:
        return _shown(self.left, self.quantity)

    @property
    def need_text(self) -> str:
        return _shown(self.need, self.quantity)


def _shown(value: Fraction | None, quantity: Quantity | None) -> str:
    physical = quantity.dimension.physical if quantity else ONE
    return render_quantity(max(value or Fraction(0), Fraction(0)), physical)


def room_for_one(facts: DesignFacts, thing: str, count: int) -> Room:
    """Returns the room of the scarcest resource, in the worst case of every range, with `count` members of `thing`."""
    component = facts.design.components.get(thing)
    needs = needed(component) if component else {}
    if component is None or not needs:
        return Room(None, f"what one copy of {thing} needs, and the capacity left (needs: of {thing})")
    rooms = [_left(facts, component, count, resource, need) for resource, need in needs.items()]
    order = {False: 0, None: 1, True: 2}
    return min(rooms, key=lambda room: order[room.enough])


def _left(facts: DesignFacts, component: Component, count: int, resource: str, need: Quantity) -> Room:
    supply = supplies(facts, component, resource)
    if not supply:
        return Room(None, f"the capacity of {resource} that {component.name} draws on")
    if claims_on(facts.design, supply) is not None:
        return _beside_claims(facts, component, count, supply, resource)
    total, taken, least = facts.values[supply], need.high * count, need.low * count
    for name, other in _others(facts, component, resource, supply):
        amount = copies(facts, name)
        if amount is None or amount.high is None:
            return Room(None, f"copies of {name}")
        taken += amount.high * other.high
        least += (amount.low or 0) * other.low
    members = alike(facts, supply)
    low, high = (total.low, total.low) if members is None else _free_of_members(total, members, taken)
    if low is None or high is None:
        return Room(None, f"the capacity of {resource}")
    low, high = (low - taken, high - taken) if members is None else (low, high)
    if low < need.high <= high:
        return Room(None, f"which of the members of {supply.partition('.')[0]} has {resource} left for one more")
    if low < need.high and members is None and _grows(facts, supply, taken + need.high):
        return Room(None, SET_BY_A_LOOP.format(supply), lacks_number=False)
    exact = total.exact and taken == least and need.low == need.high and (members is None or members.exact)
    sure = exact or (members is None and total.high is not None and total.high - least < need.low)
    if low >= need.high and (by_jobs := _jobs_in_it(facts, resource, low - need.high)):
        return Room(None, f"what {' and '.join(by_jobs)} leave of {resource}", lacks_number=False)
    return Room(low >= need.high, "", resource, low, need.high, supply, facts.places[supply], need, sure)


def _jobs_in_it(facts: DesignFacts, resource: str, spare: Fraction) -> list[str]:
    """Returns the jobs that may hold more of a resource than can be spared, each as often as it stands there."""
    jobs = [job for job in facts.design.jobs.values() if resource in needed(job)]
    most = held_by_jobs(jobs, resource)
    return [job.name for job in jobs] if most is None or most > spare else []


def held_by_jobs(jobs: Iterable[Job], resource: str) -> Fraction | None:
    """Returns what some jobs hold of a resource when all of their members run; None where their number is not stated.

    As many members run as there are copies, or as wait for each other where these are more.
    """
    most = Fraction(0)
    for job in jobs:
        stated = [job.constants[word] for word in MEMBERS_OF_JOBS if word in job.constants]
        numbers = [value.high for value in stated if isinstance(value, Quantity)]
        if len(numbers) < len(stated):
            return None
        most += needed(job)[resource].high * max([Fraction(1), *numbers])
    return most


def _beside_claims(facts: DesignFacts, component: Component, count: int, supply: str, resource: str) -> Room:
    """Returns the room that the claims on a capacity leave for one more member, by what one more adds to them."""
    formula = claims_on(facts.design, supply)
    assert formula is not None
    tree = facts.tree(formula.tree)
    facts = with_caps(facts, tree)
    total, named = facts.values[supply], {path.partition(".")[0] for path in names(tree)}
    uncounted = sorted(_holders(facts, supply, resource) - named)
    if uncounted:
        return Room(None, f"whether the claims on {supply} count {' and '.join(uncounted)}", lacks_number=False)
    own = [
        path for path in names(tree) if path.partition(".")[0] == component.name and path.rpartition(".")[2] in MEMBERS
    ]
    now, more = (with_ranges(facts.values, dict.fromkeys(own, point(many))) for many in (count, count + 1))
    before, after = extremes(tree, now), extremes(tree, more)
    if before is None or after is None or total.low is None:
        lacking = next(iter(facts.missing(tree)), supply)
        return Room(None, f"bounds of {lacking}, which is claimed of {supply}")
    left, need = total.low - before[1].value, after[1].value - before[1].value
    if need <= 0 or (need.denominator != 1 and supply.endswith(".count")):
        return Room(None, f"how much of {supply} one copy of {component.name} claims, in whole", lacks_number=False)
    if not truth(Compare("<=", tree, Name(supply)), more):
        if left >= need or _held_together(facts, tree):
            return Room(None, f"what the claims on {supply} leave at once", lacks_number=False)
        if _grows(facts, supply, after[1].value):
            return Room(None, SET_BY_A_LOOP.format(supply), lacks_number=False)
    sure = total.high is not None and total.high < after[0].value
    quantity = facts.quantities.get(supply)
    return Room(left >= need, "", resource, left, need, supply, facts.places[supply], quantity, sure)


def _holders(facts: DesignFacts, supply: str, resource: str) -> set[str]:
    """Returns the things and jobs whose members hold parts of a capacity: by what they need, or where they run."""
    tier, design = supply.removesuffix(".count"), facts.design
    things = {
        one.name for one in design.components.values()
        if (resource in needed(one) and supplies(facts, one, resource) == supply)
        or (one.needs is None and one.runs_on is not None and one.runs_on.text == tier)
    }  # fmt: skip
    return things | {job.name for job in design.jobs.values() if resource in needed(job)}


def _held_together(facts: DesignFacts, tree: Tree) -> bool:
    """Decides whether a limit counts several names of a tree in sum, which keeps it from the sum of their ends."""
    counted = [set(names(limit.counts.tree)) for limit in facts.design.limits.values() if limit.counts is not None]
    return any(len(paths & set(names(tree))) > 1 for paths in counted)


def room_on_tier(facts: DesignFacts, component: Component, count: int) -> Room | None:
    """Returns the room for one more member on the tier that a component runs on, with `count` of them; None where
    something else says what members hold of it: their needs, or slices of a boundary.
    """
    design, tier = facts.design, component.runs_on.text if component.runs_on is not None else ""
    supply, inside = f"{tier}.count", {tier, component.name}
    sliced = any(inside & {word.text for word in boundary.around} for boundary in design.boundaries.values())
    if component.needs is not None or sliced or supply not in facts.values:
        return None
    if claims_on(design, supply) is not None:
        return _beside_claims(facts, component, count, supply, tier)
    total, own = facts.values[supply], _devices(component)
    taken, least, apart = own[1] * count, own[0] * count, Fraction(ceil(own[1]) * count)
    hosted = [other for other in design.components.values() if other.runs_on is not None and other.runs_on.text == tier]
    others = [share for share in tier_shares(facts, tier) if share.component.name != component.name]
    for share in others:
        each, members = share.each(facts), facts.range(Name(share.members))
        if members.high is None or each.high is None:
            return Room(None, f"copies of {share.component.name}")
        taken += each.high * members.high
        least += (each.low or 0) * (members.low or 0)
        apart += ceil(each.high) * members.high
    unsaid = [other.name for other in hosted if _unsaid(other)]
    if total.low is None or (total.low - taken < own[1] and unsaid):
        words = f"`runs_on: {{tier: {tier}, devices: 1}}`, or `1/7` of one; at one each there is no room for a copy"
        return Room(
            None, f"how much of {tier} each member of {' and '.join(unsaid)} holds: {words}", lacks_number=False
        )
    if total.low - taken < own[1] and _grows(facts, supply, taken + own[1]):
        return Room(None, SET_BY_A_LOOP.format(supply), lacks_number=False)
    if total.low - taken < own[1]:
        sure = total.high is not None and total.high - least < own[0]
        return Room(False, "", tier, total.low - taken, own[1], supply, facts.places[supply], sure=sure)
    if len({share.component.name for share in others}) + 1 < len(hosted) or _drawn_on(facts, supply):
        return Room(None, f"what else holds devices of {tier}")
    if total.low - apart < ceil(own[1]):
        return Room(None, f"which devices of {tier} have a share left for one more")
    assumed = f"each member of {' and '.join(unsaid)} holds one of {tier} (`devices` is not stated)" if unsaid else ""
    return Room(True, "", tier, total.low - taken, own[1], supply, facts.places[supply], assumed=assumed)


def _grows(facts: DesignFacts, supply: str, amount: Fraction) -> bool:
    """Decides whether a loop sets a capacity and may raise it to an amount."""
    most = facts.values[supply].high
    return supply in facts.written and (most is None or most >= amount)


def _devices(component: Component) -> tuple[Fraction, Fraction]:
    """Returns the least and the most devices that one member holds: one where it does not say."""
    host = component.runs_on
    stated = host.devices if isinstance(host, Hosting) else None
    return (stated.low, stated.high) if stated is not None else (Fraction(1), Fraction(1))


def _unsaid(component: Component) -> bool:
    return not isinstance(component.runs_on, Hosting) or component.runs_on.devices is None


def _drawn_on(facts: DesignFacts, supply: str) -> bool:
    """Decides whether members or jobs that state their needs draw on the capacity too."""
    tier = supply.removesuffix(".count")
    components, jobs = facts.design.components.values(), facts.design.jobs.values()
    return any(tier in needed(component) for component in components) or any(tier in needed(job) for job in jobs)


def alike(facts: DesignFacts, supply: str) -> Interval | None:
    """Returns how many like members each have the capacity (`node: {copies: 8, gpu: 8}`); None where it is one."""
    thing, _, key = supply.partition(".")
    members = _members(facts, thing) if key != "count" else None
    return None if members is not None and members.low == members.high == 1 else members


def _members(facts: DesignFacts, thing: str) -> Interval | None:
    """Returns how many members a thing has, or how many places of its kind there are; None where nothing says it."""
    places = facts.design.places.get(thing, {})
    return place_count(facts, thing) if "count" in places else copies(facts, thing)


def place_count(facts: DesignFacts, kind: str) -> Interval:
    """Returns how many places of a kind there are, with those that loops add and remove; one where it is not said."""
    stated, path = facts.design.places[kind].get("count"), f"{kind}.count"
    if stated is not None and not isinstance(stated, Quantity):
        return Interval(None, None)
    own = point(Fraction(1)) if stated is None else Interval(stated.low, stated.high)
    return hull([own, facts.values[path]]) if facts.written.get(path) else own


def _free_of_members(total: Interval, members: Interval, taken: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """Returns what is free on some member at least, and what may be free on one: the rest may lie on all others."""
    few, many = members.low, members.high
    if total.low is None or total.high is None or not few or many is None:
        return None, None
    return total.low - taken / few, min(total.high, total.high * many - taken)


def _others(facts: DesignFacts, component: Component, resource: str, supply: str) -> Iterator[tuple[str, Quantity]]:
    """Yields other components that hold the same resource of the same capacity."""
    for name, other in facts.design.components.items():
        need = needed(other).get(resource)
        if name != component.name and need is not None and supplies(facts, other, resource) == supply:
            yield name, need
