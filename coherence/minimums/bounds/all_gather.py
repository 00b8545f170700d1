"""all-gather: every member receives the shards of all others through its own link.

## What
A member holds 1/n of `size` bytes and must receive the other (n - 1)/n.

## Why it matters
It is the floor of gathering sharded weights or activations; a fabric that is narrower somewhere raises it
(`all_gather_fabric`).

## Example
8 members, 8 GB in all at 50 GB/s: 140 ms.

## Source
Chan et al. 2007, lower bounds; cut of one member against the rest.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._collectives import LINK, MEMBERS, given
from coherence.minimums.bounds._inductions import received
from coherence.minimums.bounds._training import OfTiers
from coherence.minimums.collectives import ring_all_gather


def executed(inputs: Inputs) -> Fraction:
    """Runs the algorithm, message by message."""
    return ring_all_gather(int(inputs["n"]), inputs["size"], inputs["bandwidth"])


BOUND = Bound(
    name="all_gather",
    group="collectives",
    quantity="time of one all-gather",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(
        MEMBERS,
        Symbol("size", "B", "bytes of all shards together", Trend.RISES, sign="S"),
        LINK,
    ),
    formula="(n - 1) / n * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "no_latency", "one_attachment"),
    source="Chan et al. 2007, lower bounds; cut of one member against the rest",
    examples=(Example(given(8, 8 * 10**9, 50 * 10**9), 0.14, "arithmetic"),),
    proofs=(Recheck("smt", "what each member misses crosses its link", received, ProofGrade.UNIVERSAL),),
    witness=Witness("a ring, message by message", executed),
    telemetry=("bytes of the collective", "link rate", "members"),
    applies=OfTiers(parts=True),
)
