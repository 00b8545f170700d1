"""age of readings: how old, on average, what a periodic loop acts on must be.

## What
A sampler of period T shows what is T/2 old on average, a window of length W averages what is W/2 old; a loop of period
P holds each decision until the next one, P/2 more on average.  The ages of a chain add.

## Why it matters
It is the delay that every gain of the loop has to live with; only shorter periods and windows lower it.

## Example
Scrape 30 s, window 5 min, relist 1 min, loop 45 s: 217.5 s.

## Source
Uniform phase between a periodic sampler and what it samples; the mean of a window is its middle.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._ages import mean
from coherence.minimums.bounds._integrals import ramp

STEPS = 2000


def uniform() -> Checked:
    """Checks that the mean of a uniform age on [0, T] is T/2, and that of a window's readings W/2; sums of means are
    means.
    """
    import sympy as sp

    t, period = sp.symbols("t T", positive=True)
    return Checked(
        sp.simplify(sp.integrate(t / period, (t, 0, period)) - period / 2) == 0, "the integral over one period"
    )


def clocked(inputs: Inputs) -> Fraction:
    """A step of the loop cut into instants: the age at each of them, added up (of the chain its mean is given)."""
    period = Fraction(inputs["period"])
    total = sum((period * (2 * k + 1) / (2 * STEPS) for k in range(STEPS)), Fraction(0))
    return total / STEPS + Fraction(inputs["chain"])


BOUND = Bound(
    name="reading_age_mean",
    group="limited information",
    quantity="mean age of what a loop acts on",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("chain", "s", "half of every sampling period and window of the sensor chain", Trend.RISES),
        Symbol("period", "s", "period of the loop", Trend.RISES, sign="P"),
    ),
    formula="chain + period / 2",
    assumptions=("uniform_samples", "free_phases"),
    source="uniform phase",
    examples=(
        Example({"chain": Fraction(195), "period": Fraction(45)}, 217.5, "scrape 30 s, window 5 min, relist 1 min"),
    ),
    proofs=(
        Recheck("identity", "mean of a uniform age", uniform, ProofGrade.UNIVERSAL),
        Recheck("smt", "the ages of a period, part after part", ramp, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("the age at every instant of a step", clocked),
    telemetry=("sensor chain", "period of the loop"),
    applies=mean,
)
