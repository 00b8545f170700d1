"""bins by volume: as many bins as the sum of the sizes fills.

## What
L1: the sum of the sizes over the capacity, rounded up; it holds also where items may be split.

## Why it matters
It is what a sum of requests over a sum of capacities says; `bins_needed` says what whole items add.

## Example
10 items of 0.51 in bins of 1: 6 bins.

## Source
S. Martello and P. Toth 1990 (L1).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness, several
from coherence.minimums.packing import by_volume, fewest, first_fit, script


def bins(inputs: Inputs) -> Fraction | float:
    """For sizes of any order."""
    return Fraction(by_volume(several(inputs, "sizes"), Fraction(inputs["capacity"])))


def filled(inputs: Inputs) -> Fraction | float:
    """Returns the bins of first fit, largest items first."""
    return Fraction(len(first_fit(several(inputs, "sizes"), Fraction(inputs["capacity"]))))


INSTANCES = (((51,) * 5, 100), ((6, 6, 5, 5, 5, 3), 10), ((7, 6, 4, 3, 3, 3, 3), 10), ((9, 8, 2, 1), 10))


def solved() -> Checked:
    """A bin below the bound is unsat; the fewest bins, found by trying every packing, are sat."""
    below = []
    for sizes, room in INSTANCES:
        floor, best = by_volume(sizes, room), fewest(sizes, room)
        if floor > best or solver.unsat(script(sizes, room, best), timeout_ms=1000).outcome is not solver.Outcome.SAT:
            return Checked(False, f"{sizes}: {floor} against {best}")
        below.append(script(sizes, room, floor - 1))
    joined = solver.joined(below)
    return Checked(solver.unsat(joined, timeout_ms=2000).unsat, f"{len(below)} instances: a bin less is unsat", joined)


def _given(*sizes: Fraction | int) -> Inputs:
    return {"sizes": cast("Any", sizes), "capacity": Fraction(1)}


BOUND = Bound(
    name="bins_by_volume",
    group="capacity",
    quantity="bins",
    unit="1",
    kind=Status.THEOREM,
    loss="virtualization",
    symbols=(
        Symbol("sizes", "1", "size of each item", Trend.LIST),
        Symbol("capacity", "1", "what a bin holds", Trend.FALLS, open_=True),
    ),
    compute=bins,
    assumptions=(),
    without={},
    source="Martello and Toth 1990",
    examples=(
        Example(_given(*[Fraction(51, 100)] * 10), 6.0, "published: L1 = 6"),
        Example(_given(*[Fraction(1, 2)] * 4), 2.0, "two each"),
    ),
    proofs=(Recheck("smt", "small instances: unsat a bin below, sat at the fewest", solved),),
    witness=Witness("first fit, largest items first", filled, gap=2.0),
    telemetry=("sizes of what is placed",),
)
