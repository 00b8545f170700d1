"""all-reduce by halving and doubling: 2 log2 n messages in a row, and the least bytes.

## What
2 log2(n) alpha + 2(n - 1)/n size/bandwidth for a power of two of members: the vector is halved at ever nearer
partners and put together at ever farther ones.

## Why it matters
It is within twice the floor at every size; what a ring costs above it is the choice of scheme.

## Example
64 members, 1 GB at 25 GB/s, 20 us a message: 78.99 ms.

## Source
R. Thakur, R. Rabenseifner and W. Gropp, IJHPCA 19(1), 2005.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, MESSAGE, given
from coherence.minimums.collectives import rabenseifner


def halving(inputs: Inputs) -> Fraction:
    """Recursive halving and doubling, message by message."""
    return rabenseifner(int(inputs["n"]), inputs["size"], inputs["bandwidth"], inputs["alpha"])


BOUND = Bound(
    name="all_reduce_rabenseifner",
    group="collectives",
    quantity="time of one all-reduce by halving and doubling",
    unit="s",
    kind=Status.CLASS_COST,
    loss="network",
    symbols=(MEMBERS, HELD, LINK, MESSAGE),
    formula="2 * log2(n) * alpha + 2 * (n - 1) / n * size / bandwidth",
    valid="log2(n) == floor(log2(n))",
    assumptions=("end_point_reduction", "full_duplex", "uncompressed", "balanced", "message_time", "one_attachment"),
    source="Thakur, Rabenseifner and Gropp 2005",
    examples=(
        Example(
            given(64, 10**9, 25 * 10**9, alpha=Fraction(2, 100_000)),
            0.07899,
            "halving and doubling, message by message",
        ),
    ),
    witness=Witness("recursive halving and doubling, message by message", halving),
    telemetry=("bytes of the collective", "link rate", "members", "time of a message"),
    unread="no key states by which steps a collective runs",
)
