"""bins that are needed: whole items in whole bins, counting those above one half.

## What
L2 of Martello and Toth: items above one half share no bin; with items of at least a threshold that do not fit beside
them, the volume that is left needs bins of its own; the best threshold counts.

## Why it matters
Slices, replicas and jobs are placed whole.  Volume alone says that 10 items of 0.51 fit 6 devices; they need 10.

## Example
10 items of 0.51 in bins of 1: 10 bins (by volume 6).

## Source
S. Martello and P. Toth, "Lower bounds and reduction procedures for the bin packing problem", DAM 28, 1990.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness, several
from coherence.minimums.packing import by_halves, fewest, first_fit, script


def bins(inputs: Inputs) -> Fraction | float:
    """For sizes of any order."""
    return Fraction(by_halves(several(inputs, "sizes"), Fraction(inputs["capacity"])))


def filled(inputs: Inputs) -> Fraction | float:
    """Returns the bins of first fit, largest items first."""
    return Fraction(len(first_fit(several(inputs, "sizes"), Fraction(inputs["capacity"]))))


INSTANCES = (((51,) * 5, 100), ((6, 6, 5, 5, 5, 3), 10), ((7, 6, 4, 3, 3, 3, 3), 10), ((9, 8, 2, 1), 10))


def solved() -> Checked:
    """A bin below the bound is unsat; the fewest bins, found by trying every packing, are sat."""
    below = []
    for sizes, room in INSTANCES:
        floor, best = by_halves(sizes, room), fewest(sizes, room)
        if floor > best or solver.unsat(script(sizes, room, best), timeout_ms=1000).outcome is not solver.Outcome.SAT:
            return Checked(False, f"{sizes}: {floor} against {best}")
        below.append(script(sizes, room, floor - 1))
    joined = solver.joined(below)
    return Checked(solver.unsat(joined, timeout_ms=2000).unsat, f"{len(below)} instances: a bin less is unsat", joined)


def _given(*sizes: Fraction | int) -> Inputs:
    return {"sizes": cast("Any", sizes), "capacity": Fraction(1)}


BOUND = Bound(
    name="bins_needed",
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
    assumptions=("atomic_items",),
    without={"atomic_items": "bins_by_volume"},
    source="Martello and Toth 1990",
    examples=(
        Example(_given(*[Fraction(51, 100)] * 10), 10.0, "published worst case of L1"),
        Example(
            _given(*[Fraction(7, 10), Fraction(6, 10), Fraction(4, 10), Fraction(3, 10)] * 2), 4.0, "packed by hand"
        ),
    ),
    proofs=(Recheck("smt", "small instances: unsat a bin below, sat at the fewest", solved),),
    witness=Witness("first fit, largest items first", filled, gap=1.5),
    telemetry=("sizes of what is placed",),
)
