"""all-reduce, switches may add: every member's data must leave it once and the sum must reach it once.

## What
n >= 2 members hold vectors of `size` bytes and all want the sum.  Whatever the network computes on the way, the whole
vector of a member crosses its own link once (each byte changes the sum), and the sum crosses it once, the other way.

## Why it matters
It is what remains of the floor of an all-reduce when switches reduce: up to half of `all_reduce_end_point`.

## Example
8 GiB at 300 GB/s each way: 28.6 ms.

## Source
Cut of one member against the rest; R. Graham et al., "Scalable Hierarchical Aggregation Protocol", COMHPC 2016, is
hardware that attains it.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS
from coherence.minimums.bounds._inductions import CROSSES, refuted

PARTS = 64


def switch(inputs: Inputs) -> Fraction:
    """One reducing switch, cut through: members send their parts in turn while the sums come back; one part of lag."""
    if inputs["n"] == 1:
        return Fraction(0)
    part = Fraction(inputs["size"]) / Fraction(inputs["bandwidth"]) / PARTS
    sent = received = Fraction(0)
    for _ in range(PARTS):
        sent += part
        received = max(received, sent) + part
    return received


def entered() -> Checked:
    """S bytes of the sum enter every member but a lone one, and T seconds at rate B carry no more than B T."""
    return refuted(CROSSES, "QF_NRA", ("S", "B", "T"), ("(> B 0.0)", "(>= (* T B) S)", "(< T (/ S B))"))


BOUND = Bound(
    name="all_reduce_in_network",
    group="collectives",
    quantity="time of one all-reduce",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(MEMBERS, HELD, LINK),
    formula="min(1, n - 1) * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "no_latency", "one_attachment"),
    source="cut of one member against the rest",
    examples=(
        Example(
            {"n": 8, "size": Fraction(8 * 1024**3), "bandwidth": Fraction(300 * 10**9)},
            0.0286331153066667,
            "arithmetic",
            1e-12,
        ),
    ),
    proofs=(Recheck("smt", "the sum enters each member", entered, ProofGrade.UNIVERSAL),),
    witness=Witness("a reducing switch that passes parts on as they come", switch, gap=1 + 1 / PARTS),
    telemetry=("bytes of the collective", "link rate"),
    unread="all_reduce_fabric has the switches of a design that add (`adds: 1`)",
)
