"""sampling period: the longest period of readings that can tell an oscillation from a slower one.

## What
An oscillation of period T sampled every h >= T/2 shows the same readings as one of period T h/(T - h) or slower: only
h < T/2 tells them apart.

## Why it matters
A loop that reads more slowly steers an oscillation that it cannot see; faster acting does not help, faster reading
does.

## Example
An oscillation of 60 s: readings more often than every 30 s.

## Source
H. Nyquist 1928; C. Shannon 1949.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness


def aliases() -> Checked:
    """cos(2 pi k (1 - f)) = cos(2 pi k f) at every whole k: frequencies f and 1 - f per sample look alike."""
    import sympy as sp

    k, f = sp.symbols("k", integer=True), sp.symbols("f", real=True)
    difference = sp.simplify(sp.expand_trig(sp.cos(2 * sp.pi * k - 2 * sp.pi * k * f)) - sp.cos(2 * sp.pi * k * f))
    return Checked(difference == 0, "a frequency and its mirror at half the sampling rate have the same readings")


def mirrored(inputs: Inputs) -> float:
    """Returns the shortest period, of a grid, whose readings are also those of a slower oscillation."""
    period = float(inputs["oscillation"])
    for k in range(4000, 12_000):
        h = period * k / 10_000
        slower = abs(1 / h - 1 / period)  # its mirror
        if slower <= 1 / period and all(
            math.isclose(math.cos(2 * math.pi * n * h / period), math.cos(2 * math.pi * n * h * slower), abs_tol=1e-9)
            for n in range(40)
        ):
            return h
    return math.inf


BOUND = Bound(
    name="sampling_period",
    group="limited information",
    quantity="period of readings from which an oscillation looks like a slower one",
    unit="s",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("oscillation", "s", "period of the oscillation", Trend.RISES, open_=True, sign="T"),),
    formula="oscillation / 2",
    assumptions=("uniform_samples",),
    source="Nyquist 1928; Shannon 1949",
    examples=(Example({"oscillation": Fraction(60)}, 30.0, "arithmetic"),),
    proofs=(Recheck("identity", "mirrored frequencies", aliases),),
    witness=Witness("readings of both oscillations, compared", mirrored),
    telemetry=("period of readings",),
    unread="no key states the period of an oscillation that is to be seen",
)
