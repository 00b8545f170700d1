"""tokens until accepted: the mean tokens of a task whose attempts are given up with a probability.

## What
Attempts that cost T tokens each and are abandoned with probability q take T/(1 - q) on average.

## Why it matters
What is above T is the ghost cost of abandoned attempts; only fewer or cheaper failures lower it.

## Example
T = 10,000, q = 0.3: 14,286 tokens.

## Source
Geometric law.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def renewal() -> Checked:
    """x = T + q x has the solution T/(1 - q), by sympy."""
    import sympy as sp

    x, cost, q = sp.symbols("x T q", positive=True)
    (solution,) = sp.solve(sp.Eq(x, cost + q * x), x)
    return Checked(sp.simplify(solution - cost / (1 - q)) == 0, "the renewal equation")


BOUND = Bound(
    name="tokens_until_accepted",
    group="agents",
    quantity="mean tokens of an accepted result",
    unit="token",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="C",
    symbols=(
        Symbol("attempt", "token", "tokens of one attempt", Trend.RISES, sign="T"),
        Symbol("q", "1", "probability that an attempt is given up", Trend.RISES, most=0.999999),
    ),
    formula="attempt / (1 - q)",
    assumptions=("independent_failures",),
    source="geometric law",
    examples=(Example({"attempt": Fraction(10000), "q": Fraction(3, 10)}, 14285.714285714286, "Monte Carlo"),),
    proofs=(Recheck("identity", "renewal equation", renewal),),
    telemetry=("attempts", "accepted results"),
    unread="no key states which share of attempts is given up",
)
