"""all-reduce by a ring: 2(n - 1) messages in a row, each of size/n.

## What
2(n - 1) alpha + 2(n - 1)/n size/bandwidth: exact in bytes, and it pays a message for every member twice.

## Why it matters
It is what libraries do by default for large vectors; above `all_reduce_alpha_beta` by its messages, which grow with
the members.

## Example
64 members, 1 GB at 25 GB/s, 20 us a message: 81.27 ms.

## Source
R. Thakur, R. Rabenseifner and W. Gropp, IJHPCA 19(1), 2005.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, Status, Witness
from coherence.minimums.bounds._collectives import HELD, LINK, MEMBERS, MESSAGE, given
from coherence.minimums.collectives import ring_all_reduce


def ring(inputs: Inputs) -> Fraction:
    """Runs the ring, message by message."""
    return ring_all_reduce(int(inputs["n"]), inputs["size"], inputs["bandwidth"], inputs["alpha"])


BOUND = Bound(
    name="all_reduce_ring",
    group="collectives",
    quantity="time of one all-reduce by a ring",
    unit="s",
    kind=Status.CLASS_COST,
    loss="network",
    symbols=(MEMBERS, HELD, LINK, MESSAGE),
    formula="2 * (n - 1) * alpha + 2 * (n - 1) / n * size / bandwidth",
    assumptions=("end_point_reduction", "full_duplex", "uncompressed", "balanced", "message_time", "one_attachment"),
    source="Thakur, Rabenseifner and Gropp 2005",
    examples=(Example(given(64, 10**9, 25 * 10**9, alpha=Fraction(2, 100_000)), 0.08127, "ring, message by message"),),
    witness=Witness("the ring, message by message", ring),
    telemetry=("bytes of the collective", "link rate", "members", "time of a message"),
    unread="no key states by which steps a collective runs",
)
