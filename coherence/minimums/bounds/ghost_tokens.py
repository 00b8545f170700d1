"""ghost tokens: what abandoned attempts cost beside the results that are accepted.

## What
With attempts of T tokens that are given up with probability q, each accepted result pays for T q/(1 - q) tokens that
nobody uses, at a price per token.

## Why it matters
The bill counts them; a dashboard of accepted results does not.

## Example
10,000 tokens, q = 0.3, 10 usd per million tokens: 0.043 usd per result.

## Source
Geometric law.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def series() -> Checked:
    """Checks that the mean number of attempts before the accepted one is the sum of k (1 - q) q^k, by sympy."""
    import sympy as sp

    q = sp.symbols("q", positive=True)
    mean = (1 - q) * q * sp.diff(1 / (1 - q), q)
    return Checked(sp.simplify(mean - q / (1 - q)) == 0, "the mean of the geometric law")


BOUND = Bound(
    name="ghost_tokens",
    group="economics",
    quantity="cost of abandoned attempts per accepted result",
    unit="usd",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="economics",
    symbols=(
        Symbol("attempt", "token", "tokens of one attempt", Trend.RISES, sign="T"),
        Symbol("q", "1", "probability that an attempt is given up", Trend.RISES, most=0.999999),
        Symbol("price", "usd/token", "price of a token", Trend.RISES),
    ),
    formula="attempt * q / (1 - q) * price",
    assumptions=("independent_failures",),
    source="geometric law",
    examples=(
        Example(
            {"attempt": Fraction(10_000), "q": Fraction(3, 10), "price": Fraction(1, 100_000)},
            0.3 / 0.7 / 10,
            "arithmetic",
        ),
    ),
    proofs=(Recheck("identity", "the geometric law", series),),
    telemetry=("attempts", "accepted results", "price of a token"),
    unread="no key states which share of attempts is given up",
)
