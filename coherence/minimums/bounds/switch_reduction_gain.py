"""gain of reducing switches: how far an all-reduce by a switch undercuts the floor of end points.

## What
End points move 2(n - 1)/n of the vector over each link; with a switch that adds and multicasts it is (n + 1)/n, as the
member's own share goes out and comes back once more.  The ratio is 2(n - 1)/(n + 1).

## Why it matters
A bus bandwidth that is computed for end points reads too high by this factor where switches reduce: up to twice the
link's rate, which refutes `end_point_reduction` and not physics.

## Example
8 members: 1.556.

## Source
NVIDIA nccl-tests, PERFORMANCE.md (bus bandwidth with in-network reduction).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status
from coherence.minimums.bounds._collectives import MEMBERS

BOUND = Bound(
    name="switch_reduction_gain",
    group="collectives",
    quantity="traffic of end points over traffic with a reducing switch",
    unit="1",
    kind=Status.CLASS_COST,
    symbols=(MEMBERS,),
    formula="2 * (n - 1) / (n + 1)",
    assumptions=("full_duplex", "uncompressed", "balanced", "no_latency"),
    source="nccl-tests PERFORMANCE.md",
    examples=(Example({"n": Fraction(8)}, 1.5555555555555556, "published bus bandwidth factors"),),
    telemetry=("members",),
    unread="all_reduce_fabric counts switches that say `adds: 1`",
)
