"""freshest readings: the least mean age behind an update queue, at the best rate of updates.

## What
At a load of about 0.531 the mean age is 3.48 mean service times; no rate of updates does better first come first
served.

## Why it matters
It is the staleness floor of telemetry that queues: a faster channel helps, more updates do not.

## Example
mean 1 s: 3.4838 s.

## Source
S. Kaul, R. Yates and M. Gruteser, INFOCOM 2012.
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
from coherence.minimums.bounds._information_age import age, best_load
from coherence.minimums.bounds._integrals import least_age


def least(inputs: Inputs) -> float:
    """At the best load."""
    return age(best_load()) * float(inputs["mean"])


def searched(inputs: Inputs) -> float:
    """Returns the least age over a grid of loads."""
    return min(age(k / 10_000) for k in range(1, 10_000)) * float(inputs["mean"])


def convex() -> Checked:
    """Checks that the second derivative of the age is positive on (0, 1), so the zero of the slope is the least, by
    sympy.
    """
    import sympy as sp

    s = sp.symbols("s", positive=True)
    r = sp.symbols("r")
    second = sp.diff(1 + 1 / r + r**2 / (1 - r), r, 2).subs(r, 1 / (1 + s))
    top, bottom = sp.fraction(sp.together(sp.simplify(second)))
    positive = all(c >= 0 for c in (*sp.Poly(sp.expand(top), s).coeffs(), *sp.Poly(sp.expand(bottom), s).coeffs()))
    return Checked(positive, "convex in the load: all coefficients of its second derivative are positive")


BOUND = Bound(
    name="age_least",
    group="limited information",
    quantity="least mean age of readings over all rates of updates",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(Symbol("mean", "s", "mean time of service of an update", Trend.RISES, open_=True, sign="m"),),
    compute=least,
    assumptions=("poisson", "exponential", "fcfs", "patient", "iid", "one_at_a_time"),
    source="Kaul, Yates and Gruteser 2012",
    examples=(Example({"mean": Fraction(1)}, 3.4837, "numeric minimum", 1e-3),),
    proofs=(
        Recheck("identity", "convexity in the load", convex, ProofGrade.UNIVERSAL),
        Recheck("smt", "the age lies above its tangents", least_age, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("a grid of loads", searched, 1 + 1e-6),
    telemetry=("time of service of an update",),
    display=r"m \min_{0 < \rho < 1} \left( 1 + \frac{1}{\rho} + \frac{\rho^2}{1 - \rho} \right)",
    unread="no key states the time that one update of a reading takes",
)
