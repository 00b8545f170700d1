"""slice packing: compute that equal slices strand, where each also takes memory.

## What
As many slices fit as the scarcer of compute and memory allows; what they leave of the compute is stranded.

## Why it matters
A profile that takes half the memory and three sevenths of the compute strands a seventh of every device.

## Example
7 compute and 8 memory slices, profile of 3 and 4: 1/7.

## Source
NVIDIA MIG User Guide, profile geometry; integer packing.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.packing import slices


def left_over(inputs: Inputs) -> Fraction:
    """Runs slices are cut one by one until one resource is short."""
    count = slices(
        (Fraction(inputs["compute"]), Fraction(inputs["memory"])),
        (Fraction(inputs["each"]), Fraction(inputs["each_memory"])),
    )
    return 1 - count * Fraction(inputs["each"]) / Fraction(inputs["compute"])


def one_more() -> Checked:
    """For every whole profile of a device of 7 and 8 slices: one instance more is unsat, the formula's number sat."""
    below = []
    for each in range(1, 8):
        for memory in range(1, 9):
            count = min(7 // each, 8 // memory)
            head = "(set-logic QF_LIA)\n(declare-const k Int)\n"
            fits = f"(assert (and (<= (* k {each}) 7) (<= (* k {memory}) 8)))\n"
            below.append(f"{head}{fits}(assert (>= k {count + 1}))\n(check-sat)\n")
            at = f"{head}{fits}(assert (= k {count}))\n(check-sat)\n"
            if each == memory and solver.unsat(at, timeout_ms=1000).outcome is not solver.Outcome.SAT:
                return Checked(False, f"{count} slices of {each} and {memory} do not fit")
    joined = solver.joined(below)
    return Checked(
        solver.unsat(joined, timeout_ms=1000).unsat, f"{len(below)} profiles: one slice more is unsat", joined
    )


BOUND = Bound(
    name="slice_packing",
    group="capacity",
    quantity="share of a device's compute that no slice has",
    unit="1",
    kind=Status.TIGHT,
    loss="virtualization",
    symbols=(
        Symbol("compute", "1", "compute slices of the device", Trend.NEITHER, least=1),
        Symbol("memory", "1", "memory slices of the device", Trend.FALLS, least=1),
        Symbol("each", "1", "compute slices of one instance", Trend.NEITHER, open_=True),
        Symbol("each_memory", "1", "memory slices of one instance", Trend.RISES, open_=True),
    ),
    formula="1 - min(floor(compute / each), floor(memory / each_memory)) * each / compute",
    valid="each <= compute and each_memory <= memory",
    assumptions=("atomic_items", "fixed_slices"),
    source="NVIDIA MIG User Guide",
    examples=(
        Example(
            {"compute": Fraction(7), "memory": Fraction(8), "each": Fraction(3), "each_memory": Fraction(4)},
            1 / 7,
            "published geometry: 2 instances of 3g",
        ),
    ),
    proofs=(Recheck("smt", "one instance more does not fit", one_more),),
    witness=Witness("slices cut one by one", left_over),
    telemetry=("profile of the instances",),
    unread="no key states how many compute and memory slices a device has",
)
