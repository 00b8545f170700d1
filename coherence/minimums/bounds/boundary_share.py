"""share behind a boundary: what no slice of a device can reach.

## What
1 - instances x share: slices that are all taken still leave this much of the device's compute (or memory) to nobody.

## Why it matters
A tier's nominal capacity counts whole devices; behind a boundary only the slices' shares can be used.  The rest is lost
to the layout, whatever the scheduler does.

## Example
7 slices of 12.5 % of the memory: 1/8 is nobody's.

## Source
Arithmetic of the layout; shares: NVIDIA MIG User Guide, Supported MIG Profiles.
"""

from __future__ import annotations

from fractions import Fraction

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
from coherence.minimums.bounds._fabrics import shares
from coherence.minimums.bounds._inductions import refuted


def handed_out(inputs: Inputs) -> Fraction:
    """Hands slices out one by one; returns what is left then."""
    left = Fraction(1)
    for _ in range(int(inputs["instances"])):
        left = max(Fraction(0), left - Fraction(inputs["share"]))
    return left


def taken() -> Checked:
    """n slices of a share hold n times that share at most; what is used of a device lies in slices."""
    claims = ("(<= used (* n share))", "(< (- 1.0 used) (- 1.0 (* n share)))")
    return refuted("no use of slices reaches more", "QF_NRA", ("used", "n", "share"), claims)


BOUND = Bound(
    name="boundary_share",
    group="capacity",
    quantity="share of each device that nobody can use",
    unit="1",
    kind=Status.TIGHT,
    loss="virtualization",
    symbols=(
        Symbol("instances", "1", "slices of one device", Trend.FALLS, least=1, whole=True),
        Symbol("share", "1", "share of the device that a slice has", Trend.FALLS, most=1, open_=True),
    ),
    formula="max(0, 1 - instances * share)",
    assumptions=("fixed_slices",),
    source="layout of slices",
    examples=(
        Example({"instances": Fraction(7), "share": Fraction(1, 8)}, 0.125, "profile table: 7 of 8 memory slices"),
        Example({"instances": Fraction(2), "share": Fraction(3, 7)}, 1 / 7, "profile table: 2 of 3 out of 7"),
    ),
    proofs=(Recheck("smt", "slices that are all taken leave the rest", taken, ProofGrade.UNIVERSAL),),
    witness=Witness("slices handed out one by one", handed_out),
    telemetry=("layout of the slices",),
    applies=shares,
)
