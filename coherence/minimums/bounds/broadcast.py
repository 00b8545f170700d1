"""broadcast: every member receives all of the root's data, and rounds of messages pass it on.

## What
The larger of size/bandwidth (the link of any receiver) and ceil(log2 n) alpha (who has it at most doubles each round).

## Why it matters
It is the floor of spreading weights from one holder; a chain of small parts comes near it.

## Example
64 members, 1 GB at 25 GB/s, 20 us a message: 40 ms.

## Source
E. Chan et al. 2007, lower bounds; the chain: J. Watts and R. van de Geijn 1995.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._collectives import LINK, MESSAGE, doubling, given
from coherence.minimums.collectives import chain_broadcast, tree_broadcast

PARTS = (1, 8, 64, 256)


def best_of(inputs: Inputs) -> Fraction:
    """Runs the better of a binomial tree and of chains of several grains, message by message."""
    n, size, rate, alpha = int(inputs["n"]), inputs["size"], inputs["bandwidth"], inputs["alpha"]
    chains = [chain_broadcast(n, size, rate, alpha, parts) for parts in PARTS]
    return min(tree_broadcast(n, size, rate, alpha), *chains)


BOUND = Bound(
    name="broadcast",
    group="collectives",
    quantity="time of one broadcast",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=2, whole=True),
        Symbol("size", "B", "bytes of the root", Trend.RISES, sign="S"),
        LINK,
        MESSAGE,
    ),
    formula="max(ceil(log2(n)) * alpha, size / bandwidth)",
    assumptions=("uncompressed", "one_port", "message_time", "unicast", "one_attachment"),
    source="Chan et al. 2007",
    examples=(
        Example(given(64, 10**9, 25 * 10**9, alpha=Fraction(2, 100_000)), 0.04, "arithmetic"),
        Example(given(8, 0, 10**9, alpha=Fraction(1, 1000)), 0.003, "a binomial tree"),
    ),
    proofs=(Recheck("smt", "nobody has it a round earlier", doubling, ProofGrade.PART),),
    witness=Witness("a tree or a chain, message by message", best_of, gap=1.45),
    telemetry=("bytes of the collective", "link rate", "members", "time of an empty message"),
    unread="broadcast_fabric counts rates and latencies of links",
)
