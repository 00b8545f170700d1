"""load without a lasting overload: the share of capacity above which retries keep an overload up by themselves.

## What
While every try times out each request is sent t times; the queue then shrinks only if rate * t < capacity, that is
below 1/t of the capacity.

## Why it matters
Above it a pause or a burst of the right length leaves a collapse behind that nothing ends (a metastable state).

## Example
4 tries (3 retries): 25 % of the capacity.

## Source
N. Bronson et al., "Metastable failures in distributed systems", HotOS 2021; L. Huang et al., OSDI 2022.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Kind, Proof, Role, Symbol, Way, Witness
from coherence.minimums.bounds._retrying import retrying

SLOTS = 400


def fluid(inputs: Inputs) -> Fraction:
    """The least load, in hundredths of 1/t, from which an overload does not drain: slot by slot, all work served."""
    tries = int(inputs["tries"])
    for step in range(99, 130):
        load = Fraction(step, 100 * tries)
        if not _drains(load, tries):
            return load
    raise AssertionError("no load keeps an overload up")


def _drains(load: Fraction, tries: int) -> bool:
    """Every try of a slot times out while the backlog is longer than one slot of service, and comes again."""
    backlog, classes = Fraction(50), [load] + [load] * (tries - 1)
    for _ in range(SLOTS * 25):
        backlog = max(Fraction(0), backlog + sum(classes) - 1)
        if backlog < 1:
            return True
    return False


def both_sides() -> Checked:
    """With all t classes arriving, the backlog falls each second exactly below 1/t (linear arithmetic, exact)."""
    for tries in (2, 3, 4, 8):
        edge = Fraction(1, tries)
        if not (edge * (1 - Fraction(1, 10**6)) * tries < 1 <= edge * tries):
            return Checked(False, f"{tries} tries")
    return Checked(True, "the drift of the backlog changes sign at 1/t")


BOUND = Bound(
    name="overload_free_load",
    group="retries",
    quantity="share of capacity below which no overload lasts",
    unit="1",
    kind=Kind.EXACT,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("tries", "1", "tries in all, the first one included", Way.FALLS, least=1, whole=True, sign="t"),),
    formula="1 / tries",
    assumptions=("abandoned_work_is_served", "same_cause", "fluid"),
    source="Bronson et al. 2021",
    examples=(Example({"tries": Fraction(4)}, 0.25, "3 retries, fluid"),),
    proofs=(Proof("enumeration", "sign of the drift", both_sides),),
    witness=Witness("a fluid overload, slot by slot", fluid, gap=1.01),
    telemetry=("tries of the callers",),
    applies=retrying,
)
