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

from coherence.minimums.bound import Bound, Example, Inputs, Status, Symbol, Trend, Witness
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
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("size", "B", "bytes that each member holds", Trend.RISES, sign="S"),
        Symbol("bandwidth", "B/s", "rate of one member's link, each way", Trend.FALLS, open_=True, sign="B"),
    ),
    formula="(n - 1) / n * size / bandwidth",
    assumptions=("full_duplex", "uncompressed", "balanced", "no_latency", "one_attachment"),
    source="Cut of one member against the rest",
    examples=(
        Example({"n": Fraction(8), "size": Fraction(8 * 10**9), "bandwidth": Fraction(50 * 10**9)}, 0.14, "arithmetic"),
    ),
    witness=Witness("rotation, message by message", executed),
    telemetry=("bytes of the collective", "link rate", "members"),
)
