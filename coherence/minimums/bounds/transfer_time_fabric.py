"""transfer time on a fabric: several demands at once, each split over paths at will.

## What
The maximum concurrent flow.  A linear program proposes prices of wires and routes; prices p prove, in exact fractions,
time >= sum of demand x shortest priced path / sum of rate x price, and the routes are added up exactly.  Latencies of
wires count: each wire is of use only after what leads to it and before what lies behind it, and no demand arrives
sooner than by its own quickest flow; then the routes that are run may take longer, and tell the gap.

## Why it matters
It is the reachable capacity of a placement: all-to-all of experts, caches that move between tiers.  The wires with a
price are those that limit it.

## Example
Ring of 5, everybody sends a quarter to each other: 0.75 s.

## Source
F. Shahrokhi and D. Matula, J. ACM 37(2), 1990; duality of linear programs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness, several
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of
from coherence.minimums.fabric.concurrent_flow import all_to_all, concurrent
from coherence.minimums.fabric.wiring import Fabric, as_written, both, dgx1, fabric, leaf_spine, ring
from coherence.minimums.fabric.written_fabrics import written_demands, written_fabric


def seconds(inputs: Inputs) -> Fraction | float:
    """Returns what the prices prove."""
    return concurrent(fabric_of(inputs, as_written), several(inputs, "demands")).least


def routed(inputs: Inputs) -> Fraction | float:
    """Runs the routes, added up wire by wire."""
    return concurrent(fabric_of(inputs, as_written), several(inputs, "demands")).most


def dual() -> Checked:
    """Prices and routes meet, exactly, on four fabrics."""
    for wired in (ring(5), dgx1(), leaf_spine(2, 3, 2, 50, 60), pairs()):
        flow = concurrent(wired, all_to_all(wired))
        if flow.least != flow.most:
            return Checked(False, f"{wired}: {flow.least} to {flow.most}")
    return Checked(True, "prices prove what routes attain on four fabrics, in fractions")


def pairs() -> Fabric:
    """Returns two pairs joined by a narrow link."""
    return fabric("abcd", [*both("a", "b", 9), *both("b", "c", 2), *both("c", "d", 9)], name="two pairs")


def _given(made: Fabric) -> Inputs:
    return {"fabric": cast("Any", made), "demands": cast("Any", all_to_all(made))}


def _late_ways() -> Inputs:
    """Returns two bytes over links of 1 B/s and 1 s, or by a longer way."""
    made = fabric("abc", [*both("a", "b", 1, latency=1), *both("a", "c", 1, latency=1), *both("c", "b", 1, latency=2)])
    return {"fabric": cast("Any", made), "demands": cast("Any", (("a", "b", Fraction(2)),))}


BOUND = Bound(
    name="transfer_time_fabric",
    group="fabric",
    quantity="time until all demands have arrived",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        replace(FABRIC, reads=partial(written_fabric, check=as_written)),
        Symbol("demands", "B", "from, to and bytes of each", Trend.LIST, reads=written_demands),
    ),
    compute=seconds,
    assumptions=("full_duplex", "uncompressed", "fluid", "forwarded_only"),
    source="Shahrokhi and Matula 1990",
    examples=(
        Example(_given(ring(5)), 0.75, "5 members, 6 hops of 1/4 over 2 links each"),
        Example(_given(pairs()), 2 / 3, "4/3 shares each way over the narrow link"),
        Example(_late_ways(), 3.0, "two ways, 1 s and 3 s late: 2 bytes by 3 s over the first"),
    ),
    proofs=(Recheck("dual", "prices and routes meet on four fabrics", dual),),
    witness=Witness("routes, added up wire by wire", routed),
    telemetry=("bytes of each demand", "links with their rates"),
    display=(
        r"\min\left\{ T : \text{flows that carry each demand of } \mathrm{demands} \text{ in } T \text{ "
        r"fit into the wires together} \right\}"
    ),
    unread="no key states which bytes go from where to where at once; fabric=@DESIGN takes its links",
)
