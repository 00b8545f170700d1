"""Scales the rates and the memory of what is inside boundaries by the share of a device that it gets there.

`capacity_fraction` of a boundary is the share of one device that one of its instances gets: it scales rates, never
counts.  `memory_fraction` is that of its memory: it scales the `blocks` of an engine, to whole ones.  What was measured
inside says so (`measured_in: slices`) and is not scaled again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import NOWHERE, Place
from coherence.base.reads import unnoted
from coherence.base.units import ONE, SECOND, shorten
from coherence.language.design import Component, Design
from coherence.language.infrastructure import Boundary
from coherence.language.schema_kinds import Quantity, Reading

MEMORY = "blocks"
SHARES = ("capacity_fraction", "memory_fraction")  # of a boundary: what one instance gets of a device
RATES = ("rate_per_", "rate_each", "service_rate", "capacity", "throughput")
WHOLE = Fraction(1)
NOTHING = Quantity(WHOLE, WHOLE, ONE, "", NOWHERE)


@dataclass(frozen=True)
class ComputedQuantity(Quantity):
    """A value that is computed from others, which stand `also` there."""

    also: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ScaledRate(ComputedQuantity):
    """A rate that is `stated` of a whole device, times the shares of it that are there."""

    stated: Quantity = NOTHING
    shares: tuple[Quantity, ...] = ()

    @property
    def share(self) -> Fraction | None:
        """Returns the share of the stated rate that is there; None where it is a range."""
        exact = all(share.exact for share in self.shares)
        return math.prod((share.low for share in self.shares), start=WHOLE) if exact else None


def around(design: Design, thing: str) -> tuple[Boundary, ...]:
    """Returns the boundaries that enclose a thing, what it runs on, or one another; the innermost first."""
    component = design.components.get(thing)
    inside = {thing, *([component.runs_on.text] if component is not None and component.runs_on is not None else [])}
    enclosing: dict[str, Boundary] = {}
    while True:
        further = [
            b for b in design.boundaries.values() if b.name not in enclosing and inside & {w.text for w in b.around}
        ]
        if not further:
            return tuple(enclosing.values())
        enclosing |= {boundary.name: boundary for boundary in further}
        inside |= set(enclosing)


def boundaries_between(design: Design, thing: str, other: str) -> Iterator[Boundary]:
    """Yields the boundaries around one of two things and not around the other."""
    here, there = (frozenset(b.name for b in around(design, name)) for name in (thing, other))
    yield from (boundary for boundary in design.boundaries.values() if boundary.name in here ^ there)


def calls_across(design: Design, boundary: str) -> frozenset[str]:
    """Returns the calls of which one end is in a boundary and the other one is not."""
    ends = ((call.name, call.caller, call.callee) for call in design.calls)
    return frozenset(
        name
        for name, caller, callee in ends
        if caller and callee and boundary in {b.name for b in boundaries_between(design, caller.text, callee.text)}
    )


@unnoted()
def with_shared_rates(design: Design) -> Design:
    """Returns the design with the rates that its boundaries leave; each notes what it was computed from."""
    scaled = {name: dict(_rates(design, component)) for name, component in design.components.items()}
    if not any(scaled.values()):
        return design
    components = {
        name: component.replace(constants={**component.constants, **scaled[name]}) if scaled[name] else component
        for name, component in design.components.items()
    }
    return design.replace(components=components)


def _rates(design: Design, component: Component) -> Iterator[tuple[str, Quantity]]:
    """Yields the rates and the memory of a component that are not what they were, with what they are now."""
    shares = tuple(_shares(design, component, "capacity_fraction")) if design.boundaries else ()
    parts = tuple(_shares(design, component, "memory_fraction")) if design.boundaries else ()
    stated_around = (b.constants.get("memory_fraction") for b in around(design, component.name))
    memories = tuple(share for share in stated_around if isinstance(share, Quantity))  # also those that are counted
    for key, value in component.constants.items():
        stated = value.stated if isinstance(value, ScaledRate) else value
        if not isinstance(stated, Quantity):
            continue
        own = shares if key.startswith(RATES) and stated.dimension.physical == ONE / SECOND else ()
        own = parts if key == MEMORY else own
        if key == MEMORY and (own or memories):
            scaled = _whole(_scaled(stated, own)) if own else _scaled(stated, ())
            yield key, replace(scaled, also=tuple(share.place for share in memories))
        elif own:
            yield key, _scaled(stated, own)
        elif stated is not value:
            yield key, stated


def _whole(blocks: ScaledRate) -> ScaledRate:
    """Returns the blocks that are whole."""
    return replace(blocks, low=Fraction(math.floor(blocks.low)), high=Fraction(math.floor(blocks.high)))


def _shares(design: Design, component: Component, key: str) -> Iterator[Quantity]:
    measured = component.measured_in.text if component.measured_in is not None else ""
    counted = {measured, *(boundary.name for boundary in around(design, measured))} if measured else set()
    for boundary in around(design, component.name):
        share = boundary.constants.get(key)
        whole = isinstance(share, Quantity) and share.low == share.high == WHOLE
        if isinstance(share, Quantity) and not whole and boundary.name not in counted:
            yield share


def _scaled(stated: Quantity, shares: tuple[Quantity, ...]) -> ScaledRate:
    low = math.prod((share.low for share in shares), start=stated.low)
    high = math.prod((share.high for share in shares), start=stated.high)
    varies = stated.varies or any(share.varies for share in shares)
    text = " x ".join(part.text for part in (stated, *shares))
    also = tuple(share.place for share in shares)
    return ScaledRate(low, high, stated.dimension, text, stated.place, varies, also, stated, shares)


def check(design: Design, reading: Reading) -> None:
    """Reports a rate that is measured in something that is no boundary around its component, and what is no share."""
    for boundary in design.boundaries.values():
        for key in (key for key in SHARES if key in boundary.constants):
            share = boundary.constants[key]
            if not isinstance(share, Quantity) or share.dimension != ONE or not 0 < share.low <= share.high <= 1:
                remedy = "write a share above 0 and of at most 1, such as `50 %`, `1/8` or `25 % .. 50 %`"
                reading.problem(share.place, f"'{shorten(str(share))}' is no share of a device: {key}", remedy)
    for component in design.components.values():
        word = component.measured_in
        if word is not None and word.text not in {boundary.name for boundary in around(design, component.name)}:
            remedy = f"write a boundary around '{component.name}' or around what it runs on"
            reading.problem(word.place, f"'{word.text}' is no boundary that '{component.name}' is in", remedy)
