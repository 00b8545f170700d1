"""age of information: how old the newest reading behind a queue is, on average, at a given load.

## What
Updates arrive as a Poisson process at a load rho and are served first come first served by one exponential server of
mean m: the mean age at the reader is m (1 + 1/rho + rho^2/(1 - rho)).

## Why it matters
Few updates are old when they come; many are old because they queued.  Both ends are bad.

## Example
load 0.5, mean 1 s: 3.5 s.

## Source
S. Kaul, R. Yates and M. Gruteser, "Real-time status: how often should one update?", INFOCOM 2012.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._information_age import FORMULA
from coherence.minimums.bounds._integrals import falling_moment


def areas() -> Checked:
    """rate (E[X T] + E[X^2]/2), with T = max(T' - X, 0) + S behind a gap X, and T' exponential of rate mu - rate."""
    import sympy as sp

    x, y, a, b, rho = sp.symbols("x y a b rho", positive=True)  # mu = 1, a = 1 - rho, b = rho
    wait = sp.integrate(y * a * sp.exp(-a * (x + y)), (y, 0, sp.oo))
    joint = sp.integrate(sp.expand(x * (wait + 1) * b * sp.exp(-b * x)), (x, 0, sp.oo))
    area = (b * (joint + 1 / b**2)).subs({a: 1 - rho, b: rho})
    claim = 1 + 1 / rho + rho**2 / (1 - rho)
    return Checked(sp.simplify(area - claim) == 0, "areas under the age between updates, by sympy")


BOUND = Bound(
    name="age_of_information",
    group="limited information",
    quantity="mean age of the newest reading",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("load", "1", "load of the server of updates", Trend.NEITHER, most=1.0, open_=True, sign=r"\rho"),
        Symbol("mean", "s", "mean time of service of an update", Trend.RISES, open_=True, sign="m"),
    ),
    formula=FORMULA,
    valid="load < 1",
    assumptions=("poisson", "exponential", "fcfs", "patient", "iid", "one_at_a_time"),
    source="Kaul, Yates and Gruteser 2012",
    examples=(Example({"load": Fraction(1, 2), "mean": Fraction(1)}, 3.5, "arithmetic"),),
    proofs=(
        Recheck("identity", "areas between updates", areas, ProofGrade.UNIVERSAL),
        Recheck("smt", "the areas, part after part", falling_moment, ProofGrade.UNIVERSAL),
    ),
    telemetry=("rate of updates", "time of service"),
    unread=(
        "no key states how long updates of a reading are served one by one; reading_age_mean counts scrapes and windows"
    ),
)
