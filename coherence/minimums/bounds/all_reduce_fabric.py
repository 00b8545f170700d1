"""all-reduce on a fabric: what tells blocks of members the sum enters over their wires; the worst partition decides.

## What
max over partitions of the members into t blocks of 2 (t - 1)/(rate of the wires into the blocks), and over cuts of
1/(rate out), times the bytes of a member, in exact fractions, on any topology; where wires have latencies, what enters
a block has less time on them, by the way from the nearest other block, and what goes between two members by the way
between them.  Switches that add lie in a block too,
so that what they add is not counted.  Where each wire has one rate both ways, trees that add and spread attain it on
most fabrics (464 of 500 that were drawn at random; the worst takes 1.26 times the floor); the witness shows the gap of
the very fabric.

## Why it matters
A formula with one rate a member knows no oversubscribed uplinks; the blocks name the wires to widen.

## Example
DGX-1, one byte a GPU, links of 1 B/s: 7/24 s, half of it to add and half to spread.

## Source
A. Frank, "On disjoint trees and arborescences", 1978; F. Harary and A. Schwenk, "The communication problem on graphs
and digraphs", 1974 (2 n - 2 messages); ForestColl, arXiv 2402.06787.
"""

from __future__ import annotations

import itertools
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
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of, reduces
from coherence.minimums.bounds._inductions import blocks_told, crossing_late
from coherence.minimums.bounds.all_gather_fabric import slow_line
from coherence.minimums.fabric.cuts import every_cut
from coherence.minimums.fabric.latencies import reduced, streamed
from coherence.minimums.fabric.reductions import all_reduce, schedule
from coherence.minimums.fabric.runtime_format import reducing
from coherence.minimums.fabric.wiring import Fabric, dgx1, leaf_spine, ring


def seconds(inputs: Inputs) -> Fraction | float:
    """Of the worst partition."""
    return reduced(fabric_of(inputs), Fraction(inputs["size"])).time


def gossip() -> Checked:
    """Lists every sequence of 2 t - 3 receipts among two and three blocks: after none has each heard from all.

    Also that each named partition adds up again, and that no cut of three fabrics is worse than what is named.
    """
    for blocks in (2, 3):
        pairs = list(itertools.permutations(range(blocks), 2))
        for receipts in itertools.product(pairs, repeat=2 * blocks - 3):
            known = [{block} for block in range(blocks)]
            for source, target in receipts:
                known[target] |= known[source]
            if all(len(parts) == blocks for parts in known):
                return Checked(False, f"{blocks} blocks: {receipts}")
    for wired in (ring(4), dgx1(), leaf_spine(2, 2, 2, 50, 30)):
        floor = all_reduce(wired)
        if not floor.holds(wired) or floor.time < max(1 / cut.rate for cut in every_cut(wired)):
            return Checked(False, str(wired))
    return Checked(True, "all sequences of one receipt fewer among two and three blocks; cuts of three fabrics")


def added_and_spread(inputs: Inputs) -> Fraction | float:
    """Returns what trees take that add the parts and spread the sums in small chunks; the busiest wire decides."""
    made = fabric_of(inputs)
    return streamed(made, schedule(made), Fraction(inputs["size"]))


def algorithm(inputs: Inputs) -> str:
    """Returns the trees in the format of a collective runtime."""
    made = fabric_of(inputs)
    return reducing(made, schedule(made))


def _given(made: Fabric) -> Inputs:
    return {"fabric": cast("Any", made), "size": Fraction(1)}


BOUND = Bound(
    name="all_reduce_fabric",
    group="fabric",
    quantity="time of one all-reduce",
    unit="s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        FABRIC,
        Symbol("size", "B", "bytes that each member holds", Trend.RISES, sign="S"),
    ),
    compute=seconds,
    assumptions=(
        "end_point_reduction", "partial_sums", "full_duplex", "uncompressed", "fluid", "one_attachment",
    ),
    source="Frank 1978; Harary and Schwenk 1974; arXiv 2402.06787",
    examples=(
        Example(_given(dgx1()), 7 / 24, "each GPU is told 2 * 7/8 over six links"),
        Example(_given(ring(4)), 3 / 4, "2 * 3/4 over two links"),
        Example(_given(leaf_spine(2, 3, 2, 50, 10)), 1 / 20, "two blocks of three hosts: 2/(20 + 20)"),
        Example(_given(slow_line()), 3.0, "one byte from end to end, two seconds late"),
    ),
    proofs=(
        Recheck("enumeration", "receipts of a few blocks; cuts of small fabrics", gossip, ProofGrade.PART),
        Recheck("smt", "what blocks are told, and over which wires", blocks_told, ProofGrade.UNIVERSAL),
        Recheck("smt", "what has to cross between a pair, and when", crossing_late, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("trees that add and spread, executed", added_and_spread, gap=2.0),
    schedule=algorithm,
    telemetry=("bytes of the collective", "links with their rates"),
    applies=reduces,
    display=(
        r"\max\left( \max_{A_1, \dots, A_t} \frac{2 (t - 1) S}{c(A_1, \dots, A_t)}, \; \max_{A} "
        r"\frac{S}{c(A)} \right) \quad \text{over partitions and cuts, } c \text{ the rate into the "
        r"blocks and out of the cut}"
    ),
)  # fmt: skip
