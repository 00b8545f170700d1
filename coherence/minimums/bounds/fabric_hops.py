"""hops of a fabric: data needs a step for each wire between the two members that are farthest apart.

## What
No collective in which everybody needs something of everybody takes fewer steps than the fabric's diameter among
members, however wide the wires are.

## Why it matters
It is the latency floor of a topology: two steps on a DGX-1, half the members on a ring.

## Example
DGX-1: 2 (a solver finds no all-gather of one step, and one of two).

## Source
Z. Cai et al., PPoPP 2021.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Witness
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of
from coherence.minimums.fabric.step_schedules import decided, executed, hops, schedule, script
from coherence.minimums.fabric.wiring import dgx1, ring, torus

ROUNDS = 2  # shards a link carries in a step


def farthest(inputs: Inputs) -> Fraction | float:
    """Breadth first from every member."""
    return Fraction(hops(fabric_of(inputs)))


def solved() -> Checked:
    """All-gather on a DGX-1: one step is unsat, two steps are sat and their schedule is executed."""
    fabric = dgx1()
    below, answer = script(fabric, 1, rounds=ROUNDS), decided(fabric, 2, rounds=ROUNDS)
    ran = answer.outcome is solver.Outcome.SAT and executed(fabric, schedule(fabric, answer), rounds=ROUNDS) == 2
    return Checked(ran and solver.unsat(below, timeout_ms=2000).unsat, "DGX-1: 1 step unsat, 2 steps sat", below)


def flooded(inputs: Inputs) -> Fraction | float:
    """Everybody sends all it has over all its wires, step by step."""
    fabric = fabric_of(inputs)
    held: dict[str, set[str]] = {name: {name} & set(fabric.names) for name in fabric.nodes}
    steps = 0
    while any(held[name] != set(fabric.names) for name in fabric.names):
        after = {name: set(have) for name, have in held.items()}
        for wire in fabric.wires:
            after[wire.target] |= held[wire.source]
        held, steps = after, steps + 1
    return Fraction(steps)


BOUND = Bound(
    name="fabric_hops",
    group="fabric",
    quantity="steps of one all-gather or all-reduce",
    unit="1",
    kind=Status.TIGHT,
    loss="network",
    symbols=(replace(FABRIC, means="members, switches and wires"),),
    compute=farthest,
    assumptions=(),
    source="diameter; Cai et al. 2021",
    examples=(
        Example({"fabric": cast("Any", dgx1())}, 2.0, "solver: unsat, sat"),
        Example({"fabric": cast("Any", ring(9))}, 4.0, "half way round"),
        Example({"fabric": cast("Any", torus((4, 4, 4)))}, 6.0, "two on each axis"),
    ),
    proofs=(Recheck("smt", "a DGX-1 in one step and in two", solved),),
    witness=Witness("flooding, step by step", flooded),
    telemetry=("links",),
    display=r"\max_{u, v} \; d(u, v) \quad \text{over members } u \text{ and } v",
    unread="all_gather_fabric and all_reduce_fabric count the latencies of links",
)
