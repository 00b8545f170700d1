"""reduce-scatter: each member sends its part of every sum that another keeps.

## What
A member holds numbers for all n sums, of `size` bytes together, and ends with one sum: the parts of the others,
(n - 1)/n of its vector, have to leave it, whoever adds them up.

## Why it matters
It is the first half of an all-reduce, and what sharded gradients cost.

## Example
8 members, 8 GB at 50 GB/s: 140 ms.

## Source
Chan et al. 2007, lower bounds.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, given
from coherence.minimums.bounds._inductions import received
from coherence.minimums.bounds._training import OfTiers
from coherence.minimums.collectives import ring_reduce_scatter


def executed(inputs: Inputs) -> Fraction:
    """Runs the algorithm, message by message."""
    return ring_reduce_scatter(int(inputs["n"]), inputs["size"], inputs["bandwidth"])


BOUND = Bound(
    name="reduce_scatter",
    group="collectives",
    quantity="time of one reduce-scatter",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(MEMBERS, HELD, LINK),
    formula="(n - 1) / n * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "no_latency", "one_attachment"),
    source="Chan et al. 2007, lower bounds",
    examples=(Example(given(8, 8 * 10**9, 50 * 10**9), 0.14, "arithmetic"),),
    proofs=(Recheck("smt", "what each member misses crosses its link", received, ProofGrade.UNIVERSAL),),
    witness=Witness("a ring, message by message", executed),
    telemetry=("bytes of the collective", "link rate", "members"),
    applies=OfTiers(),
)
