"""barrier, exponential members: the mean time until the last of n independent exponential members is ready.

## What
n members take independent exponential times of one mean.  The last is ready after mean (1 + 1/2 + ... + 1/n): the gaps
between order statistics are independent exponentials of mean / n, mean / (n - 1), ..., mean.

## Why it matters
A synchronous step waits for its slowest member.  With this spread the wait grows like log n whatever the schedule.

## Example
1,024 members of mean 1: 7.509.

## Source
A. Renyi, "On the theory of order statistics", Acta Math. Hung. 4, 1953.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend

PROVED_TO = 8


def integrals() -> Checked:
    """Checks that the integral of 1 - (1 - exp(-t))^n over t >= 0 is the harmonic number, by sympy, for n up to
    PROVED_TO.
    """
    import sympy as sp

    t = sp.symbols("t", positive=True)
    for n in range(1, PROVED_TO + 1):
        tail = sp.expand(1 - (1 - sp.exp(-t)) ** n)
        if sp.integrate(tail, (t, 0, sp.oo)) != sp.harmonic(n):
            return Checked(False, f"n = {n}: the integral is not the harmonic number")
    return Checked(True, f"the integral of the tail is the harmonic number for n = 1 to {PROVED_TO}")


BOUND = Bound(
    name="barrier_exponential",
    group="barriers",
    quantity="mean time until the last member is ready",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("mean", "s", "mean time of one member", Trend.RISES, sign=r"\mu^{-1}"),
    ),
    formula="mean * harmonic(n)",
    assumptions=("iid", "exponential"),
    without={"exponential": "barrier_any_dependence", "iid": "barrier_any_dependence"},
    source="Renyi 1953",
    examples=(
        Example({"n": 1024, "mean": Fraction(1)}, 7.509175672278132, "harmonic number of 1,024"),
        Example({"n": 1, "mean": Fraction(3)}, 3.0, "one member waits for nobody"),
    ),
    proofs=(Recheck("identity", "integral of the tail", integrals),),
    telemetry=("times of the members in each step",),
    unread="no key states the law of a member's time; only its range",
)
