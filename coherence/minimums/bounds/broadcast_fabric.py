"""broadcast on a fabric: to the member that is told worst, no data comes before its wires, nor faster than its cut.

## What
The longest, over members, of the quickest flow over time from the root to one alone: no less than (wires between them)
a + S/(least cut between them), with a the least time over one wire (beside what a wire has of its own).  Without
latencies trees attain it (J. Edmonds): all members are told as fast as the worst one alone.  With them the run beside
it tells the gap: trees that share the wires best and stop one after another, or the nearest tree.

## Why it matters
It is the floor of handing out weights or a checkpoint from one device, on the links that there are.

## Example
DGX-1, 1 byte from one GPU, links of 1 B/s, no latency: 1/6 s.

## Source
J. Edmonds, "Edge-disjoint branchings", 1973; L. Ford and D. Fulkerson 1956, and 1958 (flows over time).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import partial
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
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of, tells
from coherence.minimums.bounds._inductions import crossing_late
from coherence.minimums.fabric.broadcasts import floor, from_root, told_by_steps, told_by_trees
from coherence.minimums.fabric.runtime_format import telling
from coherence.minimums.fabric.wiring import Fabric, dgx1, leaf_spine, ring, rooted
from coherence.minimums.fabric.written_fabrics import written_fabric


def seconds(inputs: Inputs) -> Fraction | float:
    """Of the member that is told last."""
    return floor(fabric_of(inputs, rooted), inputs["size"], inputs["latency"])


def pipelined() -> Checked:
    """Runs the trees in chunks over wires with latency, on three fabrics: no run is quicker than the floor."""
    tried = 0
    for wired, chunks, latency in itertools.product((ring(4), dgx1(), leaf_spine(2, 2, 2, 50, 30)), (1, 4), (0, 1)):
        tried += 1
        if told_by_steps(wired, Fraction(6), Fraction(latency), chunks) < floor(wired, Fraction(6), Fraction(latency)):
            return Checked(False, f"{wired}, {chunks} chunks, latency {latency}")
    return Checked(True, f"{tried} runs of trees in chunks, none is quicker than the floor")


def spread(inputs: Inputs) -> Fraction | float:
    """Returns when trees have told all members, in chunks small enough that only their number of wires counts."""
    return told_by_trees(fabric_of(inputs, rooted), inputs["size"], inputs["latency"])


def algorithm(inputs: Inputs) -> str:
    """Returns the trees in the format of a collective runtime."""
    return telling(*from_root(fabric_of(inputs, rooted)))


def _given(made: Fabric, latency: int) -> Inputs:
    return {"fabric": cast("Any", made), "size": Fraction(1), "latency": Fraction(latency)}


BOUND = Bound(
    name="broadcast_fabric",
    group="fabric",
    quantity="time of one broadcast",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        replace(
            FABRIC,
            means="members (the first is the root), switches and wires",
            reads=partial(written_fabric, check=rooted),
        ),
        Symbol("size", "B", "bytes that the root holds", Trend.RISES, sign="S"),
        Symbol("latency", "s", "least time over one wire, beside its bytes", Trend.RISES, sign="a"),
    ),
    compute=seconds,
    assumptions=("full_duplex", "uncompressed", "fluid", "one_attachment"),
    source="Edmonds 1973; Ford and Fulkerson 1958",
    examples=(
        Example(_given(dgx1(), 0), 1 / 6, "six links of each GPU"),
        Example(_given(ring(4), 1), 2.5, "two wires away, two ways to it"),
    ),
    proofs=(
        Recheck("enumeration", "trees in chunks, run over wires with latency", pipelined),
        Recheck("smt", "what has to cross a cut, and when", crossing_late, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("trees, executed", spread, gap=2.0),
    schedule=algorithm,
    telemetry=("bytes of the collective", "links with their rates"),
    applies=tells,
    display=(
        r"\max_{v} \; \left( a \, d(r, v) + \frac{S}{c(r, v)} \right), \quad d \text{ the wires between, "
        r"} c \text{ the least cut from the root } r"
    ),
)
