"""all-reduce, alpha and beta: no schedule takes less than its rounds of messages, nor less than its bytes.

## What
The larger of ceil(log2 n) alpha and 2(n - 1)/n size/bandwidth.  Both hold at once; their sum is no floor.

## Why it matters
It is the floor over all sizes: latency decides small vectors and bandwidth large ones.

## Example
64 members, 1 GB at 25 GB/s, 20 us a message: 78.75 ms.

## Source
E. Chan et al. 2007 (lower bounds); P. Patarasuk and X. Yuan 2009 (bytes).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, MESSAGE, doubling, given
from coherence.minimums.bounds._inductions import reduced_and_spread, told_in_rounds
from coherence.minimums.collectives import rabenseifner


def halving(inputs: Inputs) -> Fraction:
    """Recursive halving and doubling, message by message: exact in bytes, twice the rounds."""
    return rabenseifner(int(inputs["n"]), inputs["size"], inputs["bandwidth"], inputs["alpha"])


BOUND = Bound(
    name="all_reduce_alpha_beta",
    group="collectives",
    quantity="time of one all-reduce",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(MEMBERS, HELD, LINK, MESSAGE),
    formula="max(ceil(log2(n)) * alpha, 2 * (n - 1) / n * size / bandwidth)",
    assumptions=(
        "end_point_reduction",
        "full_duplex",
        "uncompressed",
        "one_port",
        "message_time",
        "one_attachment",
    ),
    without={"end_point_reduction": "all_reduce_in_network", "message_time": "all_reduce_end_point"},
    source="Chan et al. 2007",
    examples=(
        Example(given(64, 10**9, 25 * 10**9, alpha=Fraction(2, 100_000)), 0.07875, "published lower bounds"),
        Example(given(64, 1024, 25 * 10**9, alpha=Fraction(2, 100_000)), 0.00012, "6 rounds"),
    ),
    proofs=(
        Recheck("smt", "nobody knows n numbers a round earlier", doubling, ProofGrade.PART),
        Recheck("smt", "the rounds: one at most doubles what anyone knows", told_in_rounds, ProofGrade.UNIVERSAL),
        Recheck("smt", "the bytes: what each number needs is sent", reduced_and_spread, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("recursive halving and doubling, message by message", halving, gap=2.01),
    telemetry=("bytes of the collective", "link rate", "members", "time of an empty message"),
    unread="all_reduce_fabric counts the latencies of links, all_reduce_end_point the rates of a tier",
)
