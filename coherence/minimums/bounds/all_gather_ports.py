"""all-gather over links: rounds in which a member gets the shards of all others over its own links.

## What
A member with `ports` links receives at most one shard over each in a round, and lacks n - 1: (n - 1)/ports rounds,
where shards are split over the links.

## Why it matters
It is the bandwidth bound of a direct fabric; DGX-1 attains it with 7 rounds of 6 chunks a shard.

## Example
8 members with 6 links: 7/6.

## Source
Z. Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._collectives import MEMBERS
from coherence.minimums.fabric.cuts import every_cut
from coherence.minimums.fabric.trees import executed, trees
from coherence.minimums.fabric.wiring import Fabric, both, dgx1, fabric


def least_degree() -> Checked:
    """All cuts of a DGX-1: none is worse than that of one member."""
    found = list(every_cut(dgx1()))
    worst = max(cut.time for cut in found)
    return Checked(worst == Fraction(7, 6), f"{len(found)} cuts of a DGX-1, the worst takes {worst} rounds")


def packed(inputs: Inputs) -> Fraction:
    """Returns trees over a fabric of that many members and links: a DGX-1, or a switch."""
    made = _built(int(inputs["n"]), int(inputs["ports"]))
    return executed(made, trees(made))


def _built(n: int, ports: int) -> Fabric:
    if (n, ports) == (8, 6):
        return dgx1()
    return fabric([f"m{k}" for k in range(n)], [wire for k in range(n) for wire in both(f"m{k}", "switch", ports)])


BOUND = Bound(
    name="all_gather_ports",
    group="fabric",
    quantity="rounds of one all-gather, for each chunk of a shard",
    unit="1",
    kind=Status.TIGHT,
    loss="network",
    symbols=(
        MEMBERS,
        Symbol("ports", "1", "links of the member that has the fewest", Trend.FALLS, least=1, whole=True),
    ),
    formula="(n - 1) / ports",
    assumptions=("full_duplex", "uncompressed", "balanced", "no_latency"),
    source="Cai et al. 2021",
    examples=(
        Example({"n": Fraction(8), "ports": Fraction(6)}, 7 / 6, "published: 7 rounds of 6 chunks on DGX-1"),
        Example({"n": Fraction(5), "ports": Fraction(2)}, 2.0, "a switch"),
    ),
    proofs=(Recheck("enumeration", "every cut of a DGX-1", least_degree),),
    witness=Witness("a packing of trees, executed", packed),
    telemetry=("links of each member",),
    unread="all_gather_fabric and all_gather count the ports of links and tiers",
)
