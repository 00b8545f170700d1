"""exit of a tier: the share of its devices' link rate that cannot leave the tier at once.

## What
1 - (largest flow from the tier's devices to all others)/(rate of the devices' own links), by the least cut.

## Why it matters
Nominal bandwidth is what each device has; reachable is what the links between tiers carry.  Caches and activations that
move between tiers meet the latter.

## Example
Two devices of 8 B/s each behind a link of 4 B/s: 3/4 cannot leave.

## Source
L. Ford and D. Fulkerson 1956.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    several,
)
from coherence.minimums.bounds._fabrics import FABRIC, exits, fabric_of
from coherence.minimums.bounds._inductions import crossing
from coherence.minimums.fabric.cuts import capacity
from coherence.minimums.fabric.wiring import Fabric, both, fabric


def stranded(inputs: Inputs) -> Fraction | float:
    """By the least cut between the devices and all other members."""
    fabric, own = fabric_of(inputs), several(inputs, "devices")
    nominal = sum((wire.rate for wire in fabric.wires if wire.source in own), Fraction(0))
    reach = capacity(fabric, own, [name for name in fabric.names if name not in own]).rate
    return max(Fraction(0), 1 - reach / nominal)


def pair(up: int = 4) -> Fabric:
    """Returns two devices, a hub, and another member."""
    return fabric("abc", [*both("a", "hub", 8), *both("b", "hub", 8), *both("hub", "c", up)], name="a pair")


def enumerated() -> Checked:
    """Checks that the least cut is the least of all cuts of small fabrics."""
    import itertools

    for up in (1, 4, 12, 30):
        fabric = pair(up)
        cuts = []
        for extra in itertools.chain.from_iterable(itertools.combinations(("hub",), k) for k in (0, 1)):
            inside = {"a", "b", *extra}
            cuts.append(sum(wire.rate for wire in fabric.wires if wire.source in inside and wire.target not in inside))
        if capacity(fabric, "ab", "c").rate != min(cuts):
            return Checked(False, f"{fabric}, {up} up")
    return Checked(True, "every cut of four fabrics")


BOUND = Bound(
    name="tier_exit",
    group="fabric",
    quantity="share of the devices' link rate that cannot leave the tier",
    unit="1",
    kind=Status.EXACT,
    loss="network",
    symbols=(
        FABRIC,
        Symbol("devices", "1", "the members of the tier", Trend.LIST),
    ),
    compute=stranded,
    assumptions=("full_duplex", "fluid", "one_attachment"),
    source="max-flow min-cut",
    examples=(
        Example({"fabric": cast("Any", pair()), "devices": cast("Any", ("a", "b"))}, 0.75, "4 of 16 B/s leave"),
        Example({"fabric": cast("Any", pair(20)), "devices": cast("Any", ("a", "b"))}, 0.0, "all of it leaves"),
    ),
    proofs=(
        Recheck("cut", "all cuts of small fabrics", enumerated),
        Recheck("smt", "what a cut carries", crossing, ProofGrade.UNIVERSAL),
    ),
    telemetry=("links with their rates",),
    applies=exits,
    display=(
        r"\max\left( 0, 1 - \frac{c(\mathrm{devices})}{\sum_{i \in \mathrm{devices}} r_i} \right), \quad "
        r"c \text{ the least cut to all others, } r_i \text{ the rates of their wires}"
    ),
)
