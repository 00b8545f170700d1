"""all-gather on a fabric: what is inside a cut has to leave it over the cut's wires; the worst cut decides.

## What
max over node sets S that leave a member outside of (data of the members in S)/(rate of the wires out of S), in exact
fractions, on any topology: switches, links of any rates, members with unequal shares.  Packings of trees attain it
wherever every switch can send on as much as it receives (links with one rate both ways).

Where wires have latencies, for each member v outside: what is inside of members at least a away from v has T - a left.

## Why it matters
A formula with one rate per member overstates an oversubscribed fabric many times.  The cut names the links to widen;
widening any other gains nothing.

## Example
DGX-1, a shard of one byte a GPU, links of 1 B/s: 7/6 s.  In a design: one row for each connected part, 1 GB a device.

## Source
L. Zhao and A. Krishnamurthy, arXiv 2305.18461, section 1.1; ForestColl, arXiv 2402.06787; J. Edmonds 1973.
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
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of, gathers
from coherence.minimums.bounds._inductions import crossing_late
from coherence.minimums.fabric.cuts import all_gather, every_cut
from coherence.minimums.fabric.latencies import gathered, told_by_all
from coherence.minimums.fabric.runtime_format import gathering
from coherence.minimums.fabric.trees import trees
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring


def uneven() -> Fabric:
    """Returns two pairs that a narrow link joins; one member holds three times as much, one wire goes one way only."""
    wires = [*both("a", "b", 8), *both("c", "d", 8), *both("b", "switch", 3), *both("switch", "c", 3)]
    return fabric({"a": 3, "b": 1, "c": 1, "d": 1}, [*wires, Wire("a", "d", Fraction(1))], name="two pairs")


def slow_line() -> Fabric:
    """Returns three members in a line, whose links take a second beside their bytes."""
    return fabric("abc", [*both("a", "b", 1, latency=1), *both("b", "c", 1, latency=1)], name="slow line")


def seconds(inputs: Inputs) -> Fraction | float:
    """Of the worst cut."""
    return gathered(fabric_of(inputs), Fraction(inputs["size"])).time


def enumerated() -> Checked:
    """Checks that the cut that is found is the worst of all cuts, and adds up again."""
    tried = 0
    for wired in (ring(5), uneven(), leaf_spine(2, 2, 2, 50, 30), dgx1()):
        cut, every = all_gather(wired), [branch.time for branch in every_cut(wired)]
        tried += len(every)
        if not cut.holds(wired) or cut.time != max(every):
            return Checked(False, f"{wired}: {cut.time}, by all cuts {max(every)}")
    return Checked(True, f"{tried} cuts of four fabrics, none is worse than the one that is found")


def packed(inputs: Inputs) -> Fraction | float:
    """Returns when trees have carried every shard to all members in small chunks."""
    wired = fabric_of(inputs)
    return told_by_all(wired, Fraction(inputs["size"]), trees(wired))


def algorithm(inputs: Inputs) -> str:
    """Returns the trees in the format of a collective runtime."""
    made = fabric_of(inputs)
    return gathering(made, trees(made))


def _given(made: Fabric, size: int) -> Inputs:
    return {"fabric": cast("Any", made), "size": Fraction(size)}


BOUND = Bound(
    name="all_gather_fabric",
    group="fabric",
    quantity="time of one all-gather",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        FABRIC,
        Symbol("size", "B", "bytes of one unit of share (of each member, where all are alike)", Trend.RISES, sign="S"),
    ),
    compute=seconds,
    assumptions=("full_duplex", "uncompressed", "fluid", "one_attachment"),
    source="arXiv 2305.18461; arXiv 2402.06787",
    examples=(
        Example(_given(dgx1(), 1), 7 / 6, "254 cuts by brute force"),
        Example(_given(leaf_spine(4, 2, 2, 50, 30), 1), 7 / 50, "the link of a host: 7 shards over 50"),
        Example(_given(leaf_spine(2, 3, 2, 50, 10), 1), 3 / 20, "a leaf's uplinks: 3 shards over 20"),
        Example(_given(slow_line(), 1), 3.0, "both shards over the last wire, a second late; or one, two seconds late"),
    ),
    proofs=(
        Recheck("cut", "all cuts of four fabrics", enumerated),
        Recheck("smt", "what has to leave a cut, and when", crossing_late, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("a packing of trees, executed", packed, gap=2.0),
    schedule=algorithm,
    telemetry=("bytes of the collective", "links with their rates"),
    applies=gathers,
    display=(
        r"\max_{A} \; \frac{S \, \left| A \right|}{c(A)} \quad \text{over sets } A \text{ with a member "
        r"outside, } c(A) \text{ the rate of the wires that leave } A"
    ),
)
