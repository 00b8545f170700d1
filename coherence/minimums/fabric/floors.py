"""Floors of the fabric and the boundaries of a design, and nominal beside reachable capacity.

`coherence bound PATH` prints the floors with all others, for the bounds say themselves where they apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.infrastructure import Tier
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.fabric.design_fabrics import ATTACHMENTS
from coherence.minimums.floors import Number, Span
from coherence.minimums.registry import entry

BOUNDS = ("all_gather_fabric", "tier_exit", "boundary_share")


@dataclass(frozen=True)
class Reach:
    """`nominal`: what the devices have together; `reachable`: what of it can be used from where it counts (SI)."""

    thing: str
    what: str
    unit: str
    nominal: Span
    reachable: Span
    places: tuple[Place, ...]


def fabric_floors(design: Design) -> tuple[DesignFloor, ...]:
    """Floors of the fabric with the links of the cut and their places, and of the boundaries; or what is missing.

    Raises InputError for rates that are none, naming file, line and value.
    """
    return design_floors(design, [entry(name).bound for name in BOUNDS])


def accessible(design: Design) -> tuple[Reach, ...]:
    """Per tier: link rate of its devices against what leaves the tier; per boundary: compute and memory behind it."""
    return (*_exits(design), *_shares(design))


def _exits(design: Design) -> Iterator[Reach]:
    for floored in design_floors(design, [entry("tier_exit").bound]):
        tier = design.tiers[floored.application.thing.removeprefix("the links of ")]
        rates = [rate for key in ATTACHMENTS if isinstance(rate := tier.constants.get(key), Quantity)]
        if floored.floor is None or tier.count is None:
            continue
        nominal = tier.count.low * sum((rate.low for rate in rates), Fraction(0))
        top = tier.count.high * sum((rate.high for rate in rates), Fraction(0))
        # the least share is stranded where the own links are at their low end and all others at their high end
        ends = sorted((nominal * (1 - floored.floor.low), top * (1 - floored.floor.high)))
        yield Reach(tier.name, "link rate", "B/s", (nominal, top), (ends[0], ends[1]), floored.application.places)


_WHAT: Mapping[str, tuple[str, str]] = {"compute": ("dense_bf16", "FLOP/s"), "memory": ("memory", "B")}


def _shares(design: Design) -> Iterator[Reach]:
    for floored in design_floors(design, [entry("boundary_share").bound]):
        what, _, rest = floored.application.thing.partition(" of ")
        boundary = design.boundaries[rest.rpartition(" behind ")[2]]
        key, unit = _WHAT[what]
        tiers = [design.tiers[end.text] for end in boundary.around if end.text in design.tiers]
        sizes = [_size(tier, tier.constants.get(key)) for tier in tiers]
        if floored.floor is None or not sizes or any(size is None for size in sizes):
            continue
        low = sum((size[0] for size in sizes if size), Fraction(0))
        high = sum((size[1] for size in sizes if size), Fraction(0))
        left: tuple[Number, Number] = (low * (1 - floored.floor.high), high * (1 - floored.floor.low))
        yield Reach(boundary.name, what, unit, (low, high), left, floored.application.places)


def _size(tier: Tier, found: Quantity | Formula | Word | None) -> tuple[Fraction, Fraction] | None:
    if not isinstance(found, Quantity) or tier.count is None:
        return None
    return tier.count.low * found.low, tier.count.high * found.high
