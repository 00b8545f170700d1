"""reduce-scatter on a fabric: the sum that a cut's members want has to enter it; an all-gather against the wires.

## What
max over node sets S that leave a member outside of (data wanted by the members in S)/(rate of the wires into S): of
each number that S wants, one partial sum at least comes from outside.  The trees of an all-gather on the turned fabric,
run backwards, attain it.  Latencies of wires count as in an all-gather.

## Why it matters
With wires of unlike rates both ways a reduce-scatter is not as long as an all-gather.

## Example
DGX-1, a shard of one byte a GPU, links of 1 B/s: 7/6 s.

## Source
ForestColl, arXiv 2402.06787 (reduce-scatter as a reversed all-gather); J. Edmonds 1973.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of, scatters
from coherence.minimums.bounds._inductions import crossing_late
from coherence.minimums.bounds.all_gather_fabric import slow_line, uneven
from coherence.minimums.fabric.latencies import gathered, told_by_all
from coherence.minimums.fabric.runtime_format import scattering
from coherence.minimums.fabric.trees import trees
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, ring, turned


def skewed() -> Fabric:
    """Returns three members in a line; what leads to the end carries half of what leads back."""
    wires = (*both("a", "b", 2), Wire("b", "c", Fraction(1)), Wire("c", "b", Fraction(2)))
    return fabric("abc", wires, name="skewed line")


def seconds(inputs: Inputs) -> Fraction | float:
    """Of the worst cut, against the wires."""
    return gathered(turned(fabric_of(inputs)), Fraction(inputs["size"])).time


def by_members() -> Checked:
    """Checks beside a plain count over every set of members of three fabrics without switches."""
    for wired in (ring(4), skewed(), dgx1()):
        names, worst = wired.names, Fraction(0)
        for mask in range(1, 2 ** len(names) - 1):
            inside = {name for k, name in enumerate(names) if mask >> k & 1}
            wanted = sum((share for name, share in wired.members if name in inside), Fraction(0))
            into = sum((w.rate for w in wired.wires if w.target in inside and w.source not in inside), Fraction(0))
            worst = max(worst, wanted / into)
        if seconds({"fabric": cast("Any", wired), "size": Fraction(1)}) != worst:
            return Checked(False, str(wired))
    return Checked(True, "every set of members of three fabrics")


def added(inputs: Inputs) -> Fraction | float:
    """Returns when the parts have been added over trees in small chunks."""
    reverse = turned(fabric_of(inputs))
    return told_by_all(reverse, Fraction(inputs["size"]), trees(reverse))


def algorithm(inputs: Inputs) -> str:
    """Returns the trees in the format of a collective runtime."""
    made = fabric_of(inputs)
    return scattering(made, trees(turned(made)))


def _given(made: Fabric) -> Inputs:
    return {"fabric": cast("Any", made), "size": Fraction(1)}


BOUND = Bound(
    name="reduce_scatter_fabric",
    group="fabric",
    quantity="time of one reduce-scatter",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        FABRIC,
        Symbol("size", "B", "bytes of one unit of share that a member wants", Trend.RISES, sign="S"),
    ),
    compute=seconds,
    assumptions=("full_duplex", "uncompressed", "fluid", "one_attachment"),
    source="arXiv 2402.06787; Edmonds 1973",
    examples=(
        Example(_given(dgx1()), 7 / 6, "as an all-gather: one rate both ways"),
        Example(_given(skewed()), 1.0, "the end wants one shard over 1 B/s"),
        Example(_given(uneven()), 4 / 3, "the first pair wants 4 over the 3 B/s that lead to it"),
        Example(_given(slow_line()), 3.0, "as an all-gather"),
    ),
    proofs=(
        Recheck("cut", "every set of members of three fabrics", by_members),
        Recheck("smt", "what has to enter a cut, and when", crossing_late, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("trees over which parts are added, executed", added, gap=2.0),
    schedule=algorithm,
    telemetry=("bytes of the collective", "links with their rates"),
    applies=scatters,
    display=(
        r"\max_{A} \; \frac{S \, \left| A \right|}{c(A)} \quad \text{over sets } A \text{ with a member "
        r"outside, } c(A) \text{ the rate of the wires into } A"
    ),
)
