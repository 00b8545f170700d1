"""bisection of a leaf-spine fabric: what flows between one half of the leaves and the other.

## What
The least of what the hosts of half the leaves can send and of what half the leaves' uplinks carry, each way.

## Why it matters
Beside the hosts' nominal rate it says how much of the capacity can be reached across the fabric (oversubscription).

## Example
4 leaves of 16 hosts at 50 GB/s, 4 spines at 100 GB/s: 800 of nominal 1600 GB/s.

## Source
L. Ford and D. Fulkerson 1956: the largest flow equals the least cut.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness
from coherence.minimums.fabric.cuts import capacity
from coherence.minimums.fabric.wiring import leaf_spine


def halved(inputs: Inputs) -> Fraction:
    """Returns the largest flow between the halves, host by host."""
    leaves, hosts, spines = (int(inputs[name]) for name in ("leaves", "hosts", "spines"))
    fabric = leaf_spine(leaves, hosts, spines, Fraction(inputs["host_rate"]), Fraction(inputs["up_rate"]))
    mine = fabric.names[: len(fabric.names) // 2]
    return capacity(fabric, mine, fabric.names[len(fabric.names) // 2 :]).rate


def flows() -> Checked:
    """Flows of small fabrics, on both sides of the bend."""
    sizes = [
        (leaves, hosts, spines, up) for leaves in (2, 4) for hosts in (1, 3) for spines in (1, 2) for up in (7, 60)
    ]
    for leaves, hosts, spines, up in sizes:
        fabric = leaf_spine(leaves, hosts, spines, 50, up)
        mine, others = fabric.names[: len(fabric.names) // 2], fabric.names[len(fabric.names) // 2 :]
        if capacity(fabric, mine, others).rate != min(leaves * hosts * 25, leaves * spines * Fraction(up, 2)):
            return Checked(False, f"{fabric}: not the formula")
    return Checked(True, f"the largest flows of {len(sizes)} fabrics, exactly")


BOUND = Bound(
    name="leaf_spine_bisection",
    group="fabric",
    quantity="rate between two halves of the leaves, each way",
    unit="B/s",
    kind=Status.EXACT,
    role=Role.CEILING,
    loss="network",
    symbols=(
        Symbol("leaves", "1", "leaf switches, an even number", Trend.RISES, least=2, whole=True),
        Symbol("hosts", "1", "hosts at each leaf", Trend.RISES, least=1, whole=True),
        Symbol("spines", "1", "spine switches, each linked with every leaf", Trend.RISES, least=1, whole=True),
        Symbol("host_rate", "B/s", "rate of a host's link, each way", Trend.RISES, open_=True),
        Symbol("up_rate", "B/s", "rate of a link between leaf and spine, each way", Trend.RISES, open_=True),
    ),
    formula="min(leaves * hosts / 2 * host_rate, leaves / 2 * spines * up_rate)",
    valid="leaves / 2 == floor(leaves / 2)",
    assumptions=("full_duplex", "fluid"),
    source="max-flow min-cut",
    examples=(
        Example(
            {
                "leaves": Fraction(4),
                "hosts": Fraction(16),
                "spines": Fraction(4),
                "host_rate": Fraction(50 * 10**9),
                "up_rate": Fraction(100 * 10**9),
            },
            800e9,
            "maximum flow by another program",
        ),
    ),
    proofs=(Recheck("cut", "largest flows of small fabrics", flows),),
    witness=Witness("the largest flow, host by host", halved),
    telemetry=("links with their rates",),
    unread="all_gather_fabric and all_reduce_fabric find the cut of the links of a design",
)
