"""Decides whether there is room for one more member of a thing: its needs against what the others leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.language.design import Component, needed
from coherence.language.expressions.lower_smt import real
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies


@dataclass(frozen=True)
class Room:
    """What is left of the scarcest resource and what one more member needs of it.

    `enough` is None where `missing` names the fact that is not stated; `supply` is the path of the capacity.
    """

    enough: bool | None
    missing: str = ""
    what: str = ""
    left: Fraction | None = None
    need: Fraction | None = None
    supply: str = ""
    place: Place | None = None
    quantity: Quantity | None = None

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


def supplies(facts: DesignFacts, component: Component, resource: str) -> str:
    """Returns the path of the capacity that a component draws on: of what it runs on, else of the one that has it.

    A place is one of all places, whatever component states what it has.
    """
    if component.runs_on is not None:
        candidates = [f"{component.runs_on.text}.{resource}", f"{component.runs_on.text}.count"]
    else:
        names = facts.design.components.keys() - facts.design.places.keys() - {component.name}
        candidates = [f"{name}.{resource}" for name in facts.design.components if name in names]
        candidates.append(f"{resource}.count")
    return next((path for path in candidates if path in facts.values), "")


def _left(facts: DesignFacts, component: Component, count: int, resource: str, need: Quantity) -> Room:
    supply = supplies(facts, component, resource)
    if not supply:
        return Room(None, f"the capacity of {resource} that {component.name} draws on")
    total, taken = facts.values[supply], need.high * count
    for name, other in _others(facts, component, resource, supply):
        amount = copies(facts, name)
        if amount is None or amount.high is None:
            return Room(None, f"copies of {name}")
        taken += amount.high * other.high
    members = alike(facts, supply)
    low, high = (total.low, total.low) if members is None else _free_of_members(total, members, taken)
    if low is None or high is None:
        return Room(None, f"the capacity of {resource}")
    low, high = (low - taken, high - taken) if members is None else (low, high)
    if low < need.high <= high:
        return Room(None, f"which of the members of {supply.partition('.')[0]} has {resource} left for one more")
    return Room(low >= need.high, "", resource, low, need.high, supply, facts.places[supply], need)


def alike(facts: DesignFacts, supply: str) -> Interval | None:
    """Returns how many like members each have the capacity (`node: {copies: 8, gpu: 8}`); None where it is one."""
    thing, _, key = supply.partition(".")
    members = _members(facts, thing) if key != "count" else None
    return None if members is not None and members.low == members.high == 1 else members


def _members(facts: DesignFacts, thing: str) -> Interval | None:
    """Returns how many members a thing has, or how many places of its kind there are; None where nothing says it."""
    place = facts.design.places.get(thing, {}).get("count")
    if place is None:
        return copies(facts, thing)
    return Interval(place.low, place.high) if isinstance(place, Quantity) else Interval(None, None)


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
