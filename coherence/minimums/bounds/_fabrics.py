"""Applies bounds of fabrics to the connected parts of a design's tiers and links, with the wires of the cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from coherence.base.errors import UsageError
from coherence.language.design import Design
from coherence.language.infrastructure import Boundary
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application, Inputs, Symbol, Trend
from coherence.minimums.fabric.cuts import FabricCut, capacity
from coherence.minimums.fabric.design_fabrics import (
    FabricPart,
    High,
    attached,
    devices_of,
    least,
    most,
    parts,
    places_of,
    unconnected,
)
from coherence.minimums.fabric.latencies import gathered as late_gather
from coherence.minimums.fabric.latencies import reduced as late_reduce
from coherence.minimums.fabric.wiring import Check, Fabric, Wire, both, connected, fabric, turned
from coherence.minimums.fabric.written_fabrics import written_fabric
from coherence.minimums.facts import Gathered, constant

FABRIC = Symbol("fabric", "1", "members, switches and wires with their rates", Trend.LIST, reads=written_fabric)
SHARD = Fraction(10**9)  # what is told of a design: seconds for 1 GB a device
EACH = 64  # devices up to which each of them is a member of its own


def fabric_of(inputs: Inputs, check: Check = connected) -> Fabric:
    """Returns the fabric among the inputs: a Fabric, a text, or pairs of members with links of 1 B/s each way.

    Raises UsageError for anything else.  check: raises where too few members of a text's links reach others.
    """
    given: Any = cast("Any", inputs["fabric"])
    if isinstance(given, Fabric | str):
        return given if isinstance(given, Fabric) else written_fabric(given, check=check)
    if not isinstance(given, tuple) or not given or any(not isinstance(x, tuple) or len(x) != 2 for x in given):
        raise UsageError("fabric is a coherence.minimums.fabric.wiring.Fabric, or links as 0>1,1>2 (1 B/s each way)")
    links = [(f"{float(one):g}", f"{float(other):g}") for one, other in given]
    names = list(dict.fromkeys(name for link in links for name in link))
    return fabric(names, [wire for one, other in links for wire in both(one, other, 1)])


def gathers(design: Design) -> Iterator[Application]:
    """Yields an all-gather among all devices of each connected part, of the message size of its tiers, or 1 GB each."""
    fabrics = parts(design)
    if len(fabrics) > 1 and any(part.links for part in fabrics):
        yield Gathered("an all-gather among all tiers").needs("fabric", unconnected(fabrics)).application()
    for part in fabrics:
        gathered = _sized("an all-gather", part)
        lacks = _lacks(part)
        for key in lacks:
            gathered.needs("fabric", key)
        if lacks:
            stated = part.missing and any(attached(tier) for tier in part.tiers)
            if part.links or part.devices > 1 or stated:
                yield gathered.application()
            continue
        best, worst = part.fabric(most), part.fabric(least, most)
        gathered.spans["fabric"] = cast("Any", (best, worst))
        gathered.places += places_of(late_gather(best, _bytes(gathered)).wires, "in the cut")
        yield gathered.application()


def _bytes(sized: Gathered) -> Fraction:
    return Fraction(sized.spans["size"][0])


def reduces(design: Design) -> Iterator[Application]:
    """Yields an all-reduce among the devices of each part that links join.

    Each device is a member of its own up to `EACH` devices; beyond, the devices of a tier count as one block, which
    lowers the floor and never raises it.
    """
    for part, gathered in _joined("an all-reduce", design):
        apart = part.devices <= EACH
        best, worst = part.fabric(most, apart=apart), part.fabric(least, most, apart=apart)
        gathered.spans["fabric"] = cast("Any", (best, worst))
        blocks = late_reduce(best, _bytes(gathered)).sets
        gathered.places += places_of([w for w in best.wires if any(_enters(w, b) for b in blocks)], "into a block")
        yield gathered.application()


def scatters(design: Design) -> Iterator[Application]:
    """Yields a reduce-scatter of what each device of a part holds, of which it wants its share of the sum."""
    for part, gathered in _joined("a reduce-scatter", design, "at each of"):
        best, worst = part.fabric(most), part.fabric(least, most)
        gathered.spans["fabric"] = cast("Any", (best, worst))
        low, high = gathered.spans["size"]
        gathered.span("size", low / int(worst.total), high / int(best.total))
        gathered.places += places_of(late_gather(turned(best), _bytes(gathered)).wires, "in the cut")
        yield gathered.application()


def tells(design: Design) -> Iterator[Application]:
    """Yields a broadcast from one device of each tier to all others that links join to it.

    What a link adds to the time of a message is its own `latency`.
    """
    for part, gathered in _joined("a broadcast", design, "among"):
        for tier in part.tiers:
            best, worst = (_rooted(part.fabric(*ends), tier.name) for ends in ((most, least), (least, most)))
            broadcast = Gathered(f"{gathered.thing}, from one of {tier.name}")
            broadcast.spans |= {**gathered.spans, "fabric": cast("Any", (best, worst))}
            broadcast.places += [*gathered.places, *places_of(_narrowest(best).wires, "in the cut")]
            yield broadcast.span("latency", Fraction(0)).application()


def _narrowest(made: Fabric) -> FabricCut:
    """Returns the cut between the first member and the one that is told worst."""
    root, *others = made.names
    return max((capacity(made, (root,), (name,)) for name in others), key=lambda cut: cut.time)


def _rooted(made: Fabric, tier: str) -> Fabric:
    """Returns the fabric with one device of a tier first; it may be all that the tier has."""
    return replace(made, members=tuple(sorted(made.members, key=lambda member: member[0] not in (tier, f"one {tier}"))))


def _joined(what: str, design: Design, whose: str = "from each of") -> Iterator[tuple[FabricPart, Gathered]]:
    """Yields each part whose devices links join and which lacks nothing, with the collective and its size."""
    for part in parts(design):
        if part.links and not _lacks(part):
            yield part, _sized(what, part, whose)


def _enters(wire: Wire, block: frozenset[str]) -> bool:
    return wire.target in block and wire.source not in block


def _sized(what: str, part: FabricPart, whose: str = "from each of") -> Gathered:
    """Returns the collective of a part with its size: the message size that its tiers state alike, else 1 GB."""
    stated = [constant(tier, "message_size") for tier in part.tiers]
    sizes = [size for size in stated if size is not None]
    if len(sizes) == len(stated) and len({(size.low, size.high) for size in sizes}) == 1:
        gathered = Gathered(f"{what} of {sizes[0].text} {whose} {part.name}")
        return gathered.quantity("size", sizes[0], "")
    return Gathered(f"{what} of 1 GB {whose} {part.name}").span("size", SHARD)


def _lacks(part: FabricPart) -> tuple[str, ...]:
    """Returns what stands between the part and a number."""
    if part.missing:
        return ("; needs ".join(part.missing),)
    if part.devices < 2:
        tier = part.tiers[0]
        where = tier.count.place if isinstance(tier.count, Quantity) else tier.place
        return (f"two devices or more: the count of {tier.name} is {part.devices} ({where})",)
    if len(part.fabric(most).members) < 2:
        tier = part.tiers[0]
        return (f"link_bandwidth of tier {tier.name} ({tier.place}), or links that end there",)
    return ()


def exits(design: Design) -> Iterator[Application]:
    """Yields every tier whose devices state a link bandwidth and that links join to others."""
    for part in parts(design):
        if part.missing or len(part.tiers) < 2:
            continue
        for tier in part.tiers:
            if not isinstance(tier.constants.get("link_bandwidth"), Quantity) or part.devices < 2:
                continue
            own, more = tuple(devices_of(tier)), tuple(devices_of(tier, high=True))
            best = part.fabric(_not(tier.name), _not(tier.name))
            worst = part.fabric(_only(tier.name), _only(tier.name))
            gathered = Gathered(f"the links of {tier.name}")
            gathered.spans["fabric"] = cast("Any", (best, worst))
            gathered.spans["devices"] = cast("Any", (own, more))
            others = [name for name in best.names if name not in own]
            gathered.places += places_of(capacity(best, own, others).wires, "all that leaves")
            yield gathered.application()


def _only(tier: str) -> High:
    return lambda name: name == tier


def _not(tier: str) -> High:
    return lambda name: name != tier


def _is_virtual(boundary: Boundary) -> bool:
    return boundary.kind is not None and boundary.kind.text == "virtualization"


def shares(design: Design) -> Iterator[Application]:
    """Compute and memory behind each boundary that says how many slices of which share there are."""
    for boundary in design.boundaries.values():
        constants = boundary.constants
        for what, key in (("compute", "capacity_fraction"), ("memory", "memory_fraction")):
            share = constants.get(key)
            if not isinstance(share, Quantity) and not (what == "compute" and _is_virtual(boundary)):
                continue
            around = ", ".join(end.text for end in boundary.around)
            gathered = Gathered(f"{what} of {around} behind {boundary.name}")
            gathered.quantity("share", share, f"{key} of boundary {boundary.name} ({boundary.place})")
            instances = constants.get("instances")
            if isinstance(share, Quantity) and share.low >= 1:
                continue  # the whole device can be used
            if isinstance(instances, Quantity) or _is_virtual(boundary):
                gathered.quantity("instances", instances, f"instances of boundary {boundary.name} ({boundary.place})")
            else:
                gathered.span("instances", Fraction(1))
            yield gathered.application()
