"""Bode's integral, sampled: the peak that damping a share of the frequencies costs a loop that acts once per period.

## What
Over one turn of the unit circle the mean of log |S| is the sum of log |l| over the unstable eigenvalues l.  If |S| is
at most `level` on a share f of the frequencies, it is at least level^(-f/(1 - f)) times (product of |l|)^(1/(1 - f))
somewhere else.  No bandwidth needs to be assumed: a sampled loop sees nothing beyond half its rate.

## Why it matters
A periodic loop that damps half of the frequencies tenfold amplifies others tenfold.

## Example
No unstable eigenvalue, |S| <= 0.1 on half of the frequencies: a peak of 10.

## Source
H. Sung and S. Hara, "Properties of sensitivity and complementary sensitivity functions in discrete-time systems", 1988.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend


def roots_of_unity() -> Checked:
    """Checks that the product of |w - a| over the n-th roots of unity w is |a^n - 1|: log of it over n tends to max(0,
    log |a|).

    So stable poles and zeros of S leave no trace in the mean, and each unstable eigenvalue leaves its logarithm.
    """
    import math

    import sympy as sp

    z, a = sp.symbols("z a")
    for n in (1, 2, 5, 8):
        if sp.expand(sp.resultant(z**n - 1, z - a, z)) not in (sp.expand(a**n - 1), sp.expand(1 - a**n)):
            return Checked(False, f"{n} roots of unity")
    close = all(
        abs(math.log(abs(float(a) ** 60 - 1)) / 60 - max(0.0, math.log(abs(float(a))))) < 1e-3
        for a in (Fraction(1, 2), Fraction(3, 2), Fraction(-2), Fraction(-4, 5))
    )
    return Checked(close, "means over the roots of unity, exactly for 1, 2, 5 and 8 of them")


BOUND = Bound(
    name="bode_sampled",
    group="limited information",
    quantity="least peak of the sensitivity",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("growth", "1", "product of the unstable eigenvalues (1: none)", Trend.RISES, least=1.0),
        Symbol("share", "1", "share of the frequencies that are damped", Trend.RISES, most=1.0, sign="f"),
        Symbol("level", "1", "what is left of a disturbance there", Trend.FALLS, most=1.0, open_=True),
    ),
    formula="exp((log(growth) + share * log(1 / level)) / (1 - share))",
    valid="share < 1",
    assumptions=("linear_plant", "linear_law", "strictly_proper", "uniform_samples"),
    source="Sung and Hara 1988",
    examples=(
        Example({"growth": Fraction(1), "share": Fraction(1, 2), "level": Fraction(1, 10)}, 10.0, "arithmetic"),
        Example({"growth": Fraction(3, 2), "share": Fraction(0), "level": Fraction(1)}, 1.5, "the peak without a band"),
    ),
    proofs=(Recheck("identity", "Jensen's formula on roots of unity", roots_of_unity),),
    telemetry=("frequency response of the loop",),
    unread="no key states up to which frequency a loop acts, and what is to be damped",
)
