"""Puts components on other tiers of the same kind, and finds which links carry how much where they stand so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Component, Design
from coherence.language.infrastructure import Hosting
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.shared_rates import around
from coherence.model.routes import transfers
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.queues.link_loads import LoadedWay, link_ways, loads

MOST = 1024  # placements that are tried
Places = Mapping[str, str]  # component -> tier


def loaded_ways(facts: DesignFacts, places: Places) -> tuple[LoadedWay, ...] | None:
    """Returns each way of a link that something goes over where components stand so; None where a number is lacking."""
    design = placed(facts.design, places)
    if any(transfer.needs for transfer in transfers(design)):
        return None
    moved = facts if design is facts.design else DesignFacts(design)
    return loads(facts, link_ways(moved))


def placed(design: Design, places: Places) -> Design:
    """Returns the design with components on these tiers; the design itself where they are there."""
    components = dict(design.components)
    for name, tier in places.items():
        hosting, word = components[name].runs_on, tier_word(components[name])
        if word is not None and word.text != tier:
            there = Word(tier, word.place)
            moved = hosting.replace(tier=there) if isinstance(hosting, Hosting) else there
            components[name] = components[name].replace(runs_on=moved)
    alike = all(components[name] is design.components[name] for name in components)
    return design if alike else design.replace(components=components)


def tier_word(component: Component) -> Word | None:
    """Returns where a component names the tier that it runs on."""
    hosting = component.runs_on
    return hosting.tier if isinstance(hosting, Hosting) else hosting


def today(facts: DesignFacts) -> Places:
    """Returns on which tier each component runs."""
    components = facts.design.components.values()
    return {own.name: own.runs_on.text for own in components if own.runs_on is not None}


def choices(facts: DesignFacts) -> dict[str, tuple[str, ...]]:
    """Returns the other tiers of the same kind of each component that runs on one of several."""
    now, kinds = today(facts), _kinds(facts.design)
    alike = {name: tuple(t for t in kinds if t != at and kinds[t] == kinds.get(at)) for name, at in now.items()}
    return {name: tiers for name, tiers in alike.items() if tiers}


def other_places(facts: DesignFacts) -> Iterator[Places]:
    """Yields the other placements on tiers of the same kind that hold all members; those that move least come first.

    At most so many as are tried: of more, those that move fewer components.
    """
    now, tiers_of, room = today(facts), choices(facts), _room(facts)
    moves = itertools.chain.from_iterable(itertools.combinations(tiers_of, k + 1) for k in range(len(tiers_of)))
    every = ((moved, tiers) for moved in moves for tiers in itertools.product(*(tiers_of[name] for name in moved)))
    for moved, tiers in itertools.islice(every, MOST):
        places = {**now, **dict(zip(moved, tiers, strict=True))}
        held = _held_on(facts, places)
        if held is not None and all(tier in room and devices <= room[tier] for tier, devices in held.items()):
            yield places


@dataclass(frozen=True)
class PlacementObstacle:
    """What keeps members from standing where they stand today, and the components that these are members of."""

    needs: str
    components: tuple[str, ...]


def misfit(facts: DesignFacts) -> PlacementObstacle | None:
    """Returns what keeps members from standing where they stand today; None where they fit, or it is not stated."""
    for name, component in facts.design.components.items():
        each = component.runs_on.devices if isinstance(component.runs_on, Hosting) else None
        if each is not None and each.high.denominator != 1:
            return PlacementObstacle(f"needs members of {name} that hold whole devices", (name,))
    now, room = today(facts), _room(facts)
    held = _held_on(facts, now)
    for tier, devices in held.items() if held is not None else ():
        if tier in room and devices > room[tier]:
            needs = f"needs {devices} devices of {tier} for what runs there: it has {room[tier]}"
            return PlacementObstacle(needs, tuple(name for name, at in now.items() if at == tier))
    return None


def _kinds(design: Design) -> dict[str, tuple[object, ...]]:
    """Returns what makes tiers alike: their part, all that they state but their number, the boundaries around them."""
    return {
        name: (
            tier.part.text if tier.part is not None else "",
            tuple(sorted((key, _text(value)) for key, value in tier.constants.items())),
            frozenset(boundary.name for boundary in around(design, name)),
        )
        for name, tier in design.tiers.items()
        if name not in design.claims
    }


def _text(value: Quantity | Formula | Word) -> str:
    return f"{value.low} .. {value.high}" if isinstance(value, Quantity) else str(value)


def _room(facts: DesignFacts) -> dict[str, Fraction]:
    tiers = facts.design.tiers.items()
    return {name: tier.count.low for name, tier in tiers if isinstance(tier.count, Quantity)}


def _held(facts: DesignFacts, component: Component) -> Fraction | None:
    """Returns the whole devices that all members hold; None where it is not stated, or they share devices."""
    members, hosting = copies(facts, component.name), component.runs_on
    if members is None or members.high is None or hosting is None:
        return None
    devices = hosting.devices if isinstance(hosting, Hosting) else None
    each = devices.high if devices is not None else Fraction(1)
    return members.high * each if each.denominator == 1 else None


def _held_on(facts: DesignFacts, places: Places) -> dict[str, Fraction] | None:
    """Returns the devices of each tier that all members hold; None where it is not stated, or they share devices."""
    held: dict[str, Fraction] = {}
    for name, component in facts.design.components.items():
        if component.runs_on is not None:
            devices, tier = _held(facts, component), places.get(name, component.runs_on.text)
            if devices is None:
                return None
            held[tier] = held.get(tier, Fraction(0)) + devices
    return held
