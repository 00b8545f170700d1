"""migration: how long moving a running state takes at least.

## What
Every byte of the state crosses the link once: state/rate.

## Why it matters
Moving a replica or a virtual machine costs this even with a perfect scheme; what is written meanwhile is sent again on
top of it.

## Example
80 GB over 10 GB/s: 8 s.

## Source
Counting.
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
from coherence.minimums.bounds._inductions import CROSSES, refuted


def stopped(inputs: Inputs) -> Fraction | float:
    """Stop, copy piece by piece, go on."""
    pieces = 64
    now: Fraction | float = Fraction(0)
    for _ in range(pieces):
        now += inputs["state"] / pieces / inputs["rate"]
    return now


def crossed() -> Checked:
    """The whole state crosses the link, and T seconds at rate B carry no more than B T."""
    return refuted(CROSSES, "QF_NRA", ("S", "B", "T"), ("(> B 0.0)", "(>= (* T B) S)", "(< T (/ S B))"))


BOUND = Bound(
    name="migration_time",
    group="migration",
    quantity="time of a move",
    unit="s",
    kind=Status.TIGHT,
    loss="migration",
    symbols=(
        Symbol("state", "B", "bytes of the state", Trend.RISES, sign="M"),
        Symbol("rate", "B/s", "rate of the link", Trend.FALLS, open_=True, sign="R"),
    ),
    formula="state / rate",
    assumptions=("uncompressed", "fluid"),
    source="counting",
    examples=(Example({"state": Fraction(80 * 10**9), "rate": Fraction(10 * 10**9)}, 8.0, "arithmetic"),),
    proofs=(Recheck("smt", "the state crosses the link", crossed, ProofGrade.UNIVERSAL),),
    witness=Witness("stop and copy, piece by piece", stopped),
    telemetry=("bytes of the state", "rate of the link"),
    unread="no key states the bytes of what moves",
)
