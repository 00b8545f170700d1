"""all-reduce, end-point reduction: no schedule in which only end points add numbers moves less data.

## What
n members hold vectors of `size` bytes and all want the sum.  Every member must receive the sum of the others' parts
and send its own: at least (n - 1)/n of the vector twice through its link, once to be reduced and once to be spread.

## Why it matters
It is the floor of a training step's gradient exchange.  Switches that reduce break it: then `all_reduce_in_network`
holds, and a measured bus bandwidth above the link's rate shows that they do.

## Example
8 members, 8 GiB, 300 GB/s each way: 50.1 ms.

## Source
P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009,
theorem 1; the ring attains it.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, given
from coherence.minimums.bounds._inductions import reduced_and_spread
from coherence.minimums.bounds._training import OfTiers


def ring(inputs: Inputs) -> Fraction:
    """Step by step: n chunks go round the ring twice, each member sending one chunk in each step."""
    n, size = int(inputs["n"]), Fraction(inputs["size"])
    rate, chunk, time = Fraction(inputs["bandwidth"]), size / n, Fraction(0)
    held = [[{member} for _ in range(n)] for member in range(n)]  # held[m][c]: whose parts are in m's copy of chunk c
    for phase in (0, 1):
        for step in range(n - 1):
            moving = [(m, (m - step + phase) % n, held[m][(m - step + phase) % n]) for m in range(n)]
            for member, index, parts in moving:
                after = (member + 1) % n
                held[after][index] = held[after][index] | parts if phase == 0 else set(parts)
            time += chunk / rate
    if any(len(parts) < n for member in held for parts in member):
        raise AssertionError("the ring did not reduce")
    return time


BOUND = Bound(
    name="all_reduce_end_point",
    group="collectives",
    quantity="time of one all-reduce",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(MEMBERS, HELD, LINK),
    formula="2 * (n - 1) / n * size / bandwidth",
    assumptions=("end_point_reduction", "full_duplex", "uncompressed", "no_latency", "one_attachment"),
    without={"end_point_reduction": "all_reduce_in_network"},
    source="Patarasuk and Yuan 2009, JPDC 69(2), theorem 1",
    examples=(Example(given(8, 8 * 1024**3, 300 * 10**9), 0.05010795178666667, "step-by-step ring"),),
    proofs=(Recheck("smt", "what each number needs is sent", reduced_and_spread, ProofGrade.UNIVERSAL),),
    witness=Witness("the ring algorithm, step by step", ring),
    telemetry=("bytes of the collective", "link rate", "members"),
    applies=OfTiers(),
)
