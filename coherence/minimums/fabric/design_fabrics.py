"""The fabrics of a design: tiers as members, links as wires, each with the place where the design says it.

A tier's devices hang on the tier's own fabric by their `link_bandwidth`; links between tiers leave from there.  Where
each device has a port of its own beside that, `port_bandwidth` of the tier is its rate, and the links leave from these
ports.  Where a tier states neither its inside counts as unlimited.  A tier's devices are alike, so one device stands
beside the rest of its tier: no minimum changes by that.  A link of several ends is a switch.  A component, or anything
else that is no tier, is a switch as well; one whose constant `adds` is 1 adds what passes it.  A link whose ways share
one rate (half duplex) counts with that rate each way, which lowers a floor and never raises it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.base.errors import InputError, Problem
from coherence.base.places import NOWHERE, Place
from coherence.language.design import Design
from coherence.language.infrastructure import Link, Tier
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.minimums.fabric.wiring import Fabric, Wire, both

High = Callable[[str], bool]  # name of a tier or link -> is the high end of its range meant?


def least(_: str) -> bool:
    """The low end of every range."""
    return False


def most(_: str) -> bool:
    """The high end of every range."""
    return True


ATTACHMENTS = {"link_bandwidth": "fabric", "port_bandwidth": "ports"}  # key of a tier -> where it leads
PER_DIRECTION = "write the rate of one direction, as `50 GB/s`"


@dataclass(frozen=True)
class FabricPart:
    """Tiers that links join.  `missing`: what the design does not state, by what needs it.  `adding`: switches that
    add what passes them."""

    tiers: tuple[Tier, ...]
    links: tuple[Link, ...]
    missing: tuple[str, ...]
    adding: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Its tiers with their counts."""
        return ", ".join(tier.name for tier in self.tiers)

    @property
    def devices(self) -> int:
        """Returns the fewest devices of all its tiers."""
        return sum(_count(tier, high=False) for tier in self.tiers)

    def fabric(self, rates: High, counts: High = least, *, apart: bool = False) -> Fabric:
        """Returns members that hold one unit each, at these ends of the ranges of rates, and of the tiers' counts.

        apart: each device is a member; else one of a tier stands beside the rest of it.
        """
        members: dict[str, Fraction] = {}
        wires: list[Wire] = []
        for tier in self.tiers:
            for name, devices in devices_of(tier, high=counts(tier.name), apart=apart).items():
                members[name] = Fraction(devices)
                for key, hub in ATTACHMENTS.items():
                    rate = tier.constants.get(key)
                    if isinstance(rate, Quantity):
                        place = rate.place.labelled(f"{devices} x {rate.text} of {tier.name}")
                        wires += both(name, f"{tier.name} {hub}", devices * _end(rate, rates(tier.name)), place)
        for link in self.links:
            wires += _wires(link, rates, {tier.name: _inside(tier) for tier in self.tiers})
        return Fabric(tuple(members.items()), tuple(wires), self.name, self.adding)


def _inside(tier: Tier) -> str:
    """Returns where links of a tier begin: at the ports of its devices, else at its own fabric."""
    hub = next((hub for key, hub in reversed(ATTACHMENTS.items()) if key in tier.constants), "")
    return f"{tier.name} {hub}" if hub else tier.name


def attached(tier: Tier) -> bool:
    """Returns whether the tier states how its devices are attached."""
    return any(key in tier.constants for key in ATTACHMENTS)


def devices_of(tier: Tier, *, high: bool = False, apart: bool = False) -> dict[str, int]:
    """Returns names of its members in a fabric, and how many devices each stands for."""
    count = _count(tier, high=high)
    if apart and attached(tier):
        return {f"{tier.name} {number}": 1 for number in range(1, count + 1)}
    if not attached(tier) or count == 1:
        return {tier.name: count}
    return {f"one {tier.name}": 1, f"the other {tier.name}": count - 1}


def _count(tier: Tier, *, high: bool) -> int:
    return int(_end(tier.count, high)) if isinstance(tier.count, Quantity) else 0


def _end(quantity: Quantity, high: bool) -> Fraction:
    return quantity.high if high else quantity.low


def _wires(link: Link, high: High, inside: Mapping[str, str]) -> Iterator[Wire]:
    rate, count = link.constants["bandwidth"], link.count
    assert isinstance(rate, Quantity)
    many = _end(count, high(link_text(link))) if count is not None else Fraction(1)
    text = f"{count.text if count is not None else 1} x {rate.text} between {link_text(link)}"
    place = (link.place or rate.place).labelled(text)
    ends = [inside.get(end.text, end.text) for end in link.ends]
    total = many * _end(rate, high(link_text(link)))
    stated = link.constants.get("latency")
    latency = _end(stated, not high(link_text(link))) if isinstance(stated, Quantity) else Fraction(0)
    if len(ends) == 2:
        yield from both(ends[0], ends[1], total, place, latency=latency)
        return
    switch = f"switch of {link_text(link)}"
    for end in ends:
        yield from both(end, switch, total, place, latency=latency / 2)


def link_text(link: Link) -> str:
    """Returns a link in words."""
    return " and ".join(end.text for end in link.ends)


def parts(design: Design) -> tuple[FabricPart, ...]:
    """Returns the connected parts, by their first tier.  Raises InputError for rates that are none (with places)."""
    tiers = tuple(design.tiers.values())
    links = tuple(design.infrastructure.links) if design.infrastructure else ()
    problems = [*_rate_problems([(f"link {link_text(link)}", link.constants, "bandwidth") for link in links])]
    problems += _rate_problems([(tier.name, tier.constants, key) for tier in tiers for key in ATTACHMENTS])
    problems += [
        Problem(k.count.place, f"the count of link {link_text(k)} can be 0", "leave the link out, or give its count")
        for k in links
        if k.count is not None and k.count.low <= 0
    ]
    if problems:
        raise InputError(problems)
    adding = frozenset(filter(partial(_adds, design), (end.text for link in links for end in link.ends)))
    groups = _groups([tier.name for tier in tiers], [[end.text for end in link.ends] for link in links])
    return tuple(_part([t for t in tiers if t.name in group], [k for k in links if k.ends[0].text in group],
                       adding & group)
                 for group in groups if any(t.name in group for t in tiers))  # fmt: skip


def _adds(design: Design, name: str) -> bool:
    """Returns whether a component states that it may add what passes it."""
    stated = design.components[name].constants.get("adds") if name in design.components else None
    return isinstance(stated, Quantity) and stated.high > 0


def _part(tiers: Sequence[Tier], links: Sequence[Link], adding: frozenset[str]) -> FabricPart:
    missing = [f"count of tier {tier.name} ({tier.place})" for tier in tiers if not isinstance(tier.count, Quantity)]
    missing += [
        f"a count of tier {tier.name} that is never 0 ({tier.count.place})"
        for tier in tiers
        if isinstance(tier.count, Quantity) and tier.count.low < 1
    ]
    missing += [
        f"a switch (a component) at one end of the link of {link.ends[0]} with itself{_where(link)}"
        for link in links
        if len({end.text for end in link.ends}) < len(link.ends)
    ]
    missing += [
        f"bandwidth of link {link_text(link)}{_where(link)}"
        for link in links
        if not isinstance(link.constants.get("bandwidth"), Quantity)
    ]
    return FabricPart(tuple(tiers), tuple(links), tuple(missing), adding)


def _where(link: Link) -> str:
    return f" ({link.place})" if link.place else ""


def _rate_problems(
    stated: Sequence[tuple[str, Mapping[str, Quantity | Formula | Word], str]],
) -> Iterator[Problem]:
    for owner, constants, key in stated:
        rate = constants.get(key)
        if not isinstance(rate, Quantity):
            continue
        if rate.low <= 0:
            verb = "can be" if rate.high > 0 else "is"
            remedy = f"leave it out, or {PER_DIRECTION}"
            yield Problem(rate.place, f"{key} of {owner} {verb} {rate.low}: nothing over it ever arrives", remedy)


def _groups(names: Sequence[str], joined: Sequence[Sequence[str]]) -> list[set[str]]:
    groups: list[set[str]] = [{name} for name in names]
    for ends in joined:
        near = [group for group in groups if group & set(ends)]
        groups = [group for group in groups if group not in near]
        groups.append(set(ends).union(*near))
    order = {name: k for k, name in enumerate(names)}
    return sorted(groups, key=lambda group: min((order.get(name, len(order)) for name in group), default=0))


def unconnected(found: Sequence[FabricPart]) -> str:
    """Returns what would join two parts that no link joins."""
    one, other = found[0].tiers[0], found[1].tiers[0]
    return f"a link that joins {one.name} ({one.place}) and {other.name} ({other.place}): no path of links does"


def places_of(wires: Sequence[Wire], says: str) -> tuple[Place, ...]:
    """Returns the places of a cut, each once."""
    placed = [wire.place for wire in wires if wire.place is not None and wire.place != NOWHERE]
    return tuple(dict.fromkeys(place.labelled(f"{says}: {place.label}") for place in placed))
