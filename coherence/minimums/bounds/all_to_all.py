"""all-to-all: every member sends a part of its own to each other member.

## What
A member holds `size` bytes, a part for each of n members; all but its own part leave it.

## Why it matters
It is the floor of expert parallelism and of transposes; an oversubscribed fabric raises it (`transfer_time_fabric`).

## Example
8 members, 8 GB each at 50 GB/s: 140 ms.

## Source
Cut of one member against the rest.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, given
from coherence.minimums.bounds._inductions import received
from coherence.minimums.collectives import rotation


def executed(inputs: Inputs) -> Fraction:
    """Runs the algorithm, message by message."""
    return rotation(int(inputs["n"]), inputs["size"], inputs["bandwidth"])


BOUND = Bound(
    name="all_to_all",
    group="collectives",
    quantity="time of one all-to-all",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(MEMBERS, HELD, LINK),
    formula="(n - 1) / n * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "balanced", "no_latency", "one_attachment"),
    source="Cut of one member against the rest",
    examples=(Example(given(8, 8 * 10**9, 50 * 10**9), 0.14, "arithmetic"),),
    proofs=(Recheck("smt", "what each member misses crosses its link", received, ProofGrade.UNIVERSAL),),
    witness=Witness("rotation, message by message", executed),
    telemetry=("bytes of the collective", "link rate", "members"),
    unread="no key states that the message of each pair is another one",
)
