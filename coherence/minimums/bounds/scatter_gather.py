"""scatter, gather: all data of the others crosses the root's link.

## What
The root sends (scatter) or receives (gather) n - 1 of n equal parts of `size` bytes.

## Why it matters
It is what loading a sharded model from one holder costs, or collecting results at one.

## Example
8 members, 8 GB at 50 GB/s: 140 ms.

## Source
Chan et al. 2007, lower bounds.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._collectives import LINK, MEMBERS, given
from coherence.minimums.bounds._inductions import received
from coherence.minimums.collectives import direct_scatter


def executed(inputs: Inputs) -> Fraction:
    """Runs the algorithm, message by message."""
    return direct_scatter(int(inputs["n"]), inputs["size"], inputs["bandwidth"])


BOUND = Bound(
    name="scatter_gather",
    group="collectives",
    quantity="time of one scatter or gather",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(
        MEMBERS,
        Symbol("size", "B", "bytes at the root", Trend.RISES, sign="S"),
        LINK,
    ),
    formula="(n - 1) / n * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "balanced", "no_latency", "one_attachment"),
    source="Chan et al. 2007, lower bounds",
    examples=(Example(given(8, 8 * 10**9, 50 * 10**9), 0.14, "arithmetic"),),
    proofs=(Recheck("smt", "what each member misses crosses its link", received, ProofGrade.UNIVERSAL),),
    witness=Witness("the root sends part by part", executed),
    telemetry=("bytes of the collective", "link rate", "members"),
    unread="no key states that one member has the data of all",
)
