"""What bounds of packing share: symbols, the packing that they are compared with, and the proof of small instances.

SOURCE: S. Martello and P. Toth 1990.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.bound import Checked, Inputs, Recheck, Symbol, Trend, Witness, several
from coherence.minimums.packing import fewest, first_fit, script

INSTANCES = (((51,) * 5, 100), ((6, 6, 5, 5, 5, 3), 10), ((7, 6, 4, 3, 3, 3, 3), 10), ((9, 8, 2, 1), 10))
SYMBOLS = (
    Symbol("sizes", "1", "size of each item", Trend.LIST),
    Symbol("capacity", "1", "what a bin holds", Trend.FALLS, open_=True),
)
Floor = Callable[[Sequence[Fraction | int], Fraction | int], int]


def given(*sizes: Fraction | int) -> Inputs:
    """Returns the numbers of an example with bins of 1."""
    return {"sizes": cast("Any", sizes), "capacity": Fraction(1)}


def computed(floor: Floor) -> Callable[[Inputs], Fraction | float]:
    """Returns what computes a bound, for sizes of any order."""
    return lambda inputs: Fraction(floor(several(inputs, "sizes"), Fraction(inputs["capacity"])))


def packed(*, gap: float) -> Witness:
    """Returns the witness: the bins of first fit, largest items first."""
    filled = computed(lambda sizes, capacity: len(first_fit(sizes, capacity)))
    return Witness("first fit, largest items first", filled, gap=gap)


def solved(floor: Floor) -> Recheck:
    """Returns the proof: a bin below the bound is unsat; the fewest bins, found by trying every packing, are sat."""
    return Recheck("smt", "small instances: unsat a bin below, sat at the fewest", lambda: _solved(floor))


def _solved(floor: Floor) -> Checked:
    below = []
    for sizes, room in INSTANCES:
        least, best = floor(sizes, room), fewest(sizes, room)
        if least > best or solver.unsat(script(sizes, room, best), timeout_ms=1000).outcome is not solver.Outcome.SAT:
            return Checked(False, f"{sizes}: {least} against {best}")
        below.append(script(sizes, room, least - 1))
    joined = solver.joined(below)
    return Checked(solver.unsat(joined, timeout_ms=2000).unsat, f"{len(below)} instances: a bin less is unsat", joined)
