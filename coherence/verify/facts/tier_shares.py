"""Adds up what the members of components hold of the tier that they run on, and packs shares of a device into devices.

What runs on a tier claims it, with and without `claims:`.  A member holds `devices` of it, or what it `needs` of it;
where neither is stated, one, or as many as it needs of a resource that is counted as the tier is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce

from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings.question_input import Certificate
from coherence.language.design import Component, needed
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.infrastructure import Hosting
from coherence.language.schema_kinds import Quantity
from coherence.language.words import MEMBERS
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, wanted
from coherence.verify.facts.ranges import point

Sizes = Mapping[Fraction, int]  # share of a device -> how many members hold it


@dataclass(frozen=True)
class TierShare:
    """The members of one component on a tier: the path that counts them, and how many devices each holds."""

    component: Component
    members: str
    devices: str  # the path of the number; nothing: one is assumed
    place: Place
    assumed: bool  # nothing states that the number is one of devices of this tier
    needed: bool  # the number is what a member needs

    @property
    def tree(self) -> Tree:
        """Returns the devices that all members hold together."""
        members = Name(self.members)
        return Arithmetic("*", Name(self.devices), members) if self.devices else members

    def each(self, facts: DesignFacts) -> Interval:
        """Returns the devices that one member holds."""
        return facts.values[self.devices] if self.devices else point(1)


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


def tier_shares(facts: DesignFacts, tier: str) -> Iterator[TierShare]:
    """Yields what each component holds of a tier; one whose members nothing counts only where it says how much."""
    for component in facts.design.components.values():
        host, name = component.runs_on, component.name
        hosted = host is not None and host.text == tier
        devices = f"{name}.runs_on.devices" if hosted and isinstance(host, Hosting) and host.devices else ""
        drawn = _drawn(facts, component, tier)
        if devices and (tier not in drawn or drawn[tier].high <= (facts.values[devices].high or 0)):
            drawn = {}
        if not hosted and tier not in drawn:
            continue
        resource = tier if tier in drawn else max(drawn, key=lambda each: drawn[each].high, default="")
        held = f"{name}.needs.{resource}" if resource else devices
        stated, place = bool(devices) or resource == tier, host.place if isinstance(host, Hosting) else None
        place = drawn[resource].place if resource else place or component.place
        for path in _counted(facts, name) or ([f"{name}.copies"] if stated else []):
            yield TierShare(component, path, held, place, not stated, component.needs is not None and not devices)


def _drawn(facts: DesignFacts, component: Component, tier: str) -> dict[str, Quantity]:
    """Returns what one member needs of resources of which the number of devices of a tier says how much there is."""
    return {
        resource: need for resource, need in needed(component).items()
        if need.dimension.physical == ONE and supplies(facts, component, resource) == f"{tier}.count"
    }  # fmt: skip


def _counted(facts: DesignFacts, thing: str) -> list[str]:
    """Returns the paths that count the members of a thing: what is wanted, else any number of members."""
    signals = {path.rpartition(".")[2]: path for path in facts.written if path.partition(".")[0] == thing}
    chosen = [path for path in wanted(facts.written, thing) if path in facts.written]
    stated = [f"{thing}.copies"] if f"{thing}.copies" in facts.values else []
    return chosen or [path for signal, path in signals.items() if signal in MEMBERS] or stated


def whole(shares: list[TierShare]) -> Tree:
    """Returns the devices that all of them hold together."""
    first, *others = [share.tree for share in shares] or [Number(Fraction(0))]
    return reduce(partial(Arithmetic, "+"), others, first)


def patterns(sizes: Sizes) -> tuple[Counter[Fraction], ...]:
    """Returns the ways to fill one device to which no further member can be added."""
    ordered = sorted(sizes, reverse=True)

    def fill(position: int, room: Fraction) -> Iterator[Counter[Fraction]]:
        if position == len(ordered):
            yield Counter()
            return
        size = ordered[position]
        for many in range(min(int(room / size), sizes[size]), -1, -1):
            for rest in fill(position + 1, room - many * size):
                yield rest + Counter({size: many}) if many else rest

    filled = [pattern for pattern in fill(0, Fraction(1)) if pattern]
    return tuple(way for way in filled if not any(way != other and way <= other for other in filled))


def packing(sizes: Sizes, devices: int, values: Mapping[str, int] | None = None) -> str:
    """Returns an SMT-LIB script, unsat where the members do not all have a place inside one of so many devices.

    With the values of a model of it the script is unsat because those values are such places.  The integers are how
    many devices are filled in each way; of shares that devices have (sevenths) there are few ways.
    SOURCE: Gilmore, Gomory, A Linear Programming Approach to the Cutting Stock Problem (1961).
    """
    ways = patterns(sizes)
    names = [f"way_{k}" for k in range(len(ways))]
    terms = [str(values.get(name, 0)) for name in names] if values is not None else names
    facts = [*(f"(<= 0 {term})" for term in terms), f"(<= {_sum(terms)} {devices})"]
    for size, many in sizes.items():
        places = [f"(* {way[size]} {term})" for way, term in zip(ways, terms, strict=True) if way[size]]
        facts.append(f"(<= {many} {_sum(places)})")
    if values is not None:
        return Certificate(claim=f"(and {' '.join(facts)})").script().replace("QF_LRA", "QF_LIA")
    return Certificate(dict.fromkeys(names, "Int"), tuple(facts), "false").script()


def _sum(terms: list[str]) -> str:
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else next(iter(terms), "0")
