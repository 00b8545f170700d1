"""tail budget: how rarely each of n parts may be slow, so that no more than a share q of requests meets a slow one.

## What
1 - (1 - s)^n <= q holds exactly up to s = 1 - (1 - q)^(1/n).

## Why it matters
A percentile promised at the root is bought at the leaves, at a price of about n.

## Example
q = 1 %, n = 100: each leaf may be slow once in 9,950.

## Source
The inverse of `tail_at_scale`.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Role, Status, Symbol, Trend


def inverse() -> Checked:
    """1 - (1 - s)^n = q at the formula, by sympy."""
    import sympy as sp

    q, n = sp.symbols("q n", positive=True)
    s = 1 - (1 - q) ** (1 / n)
    return Checked(sp.simplify(sp.powdenest(1 - (1 - s) ** n - q, force=True)) == 0, "it inverts 1 - (1 - s)^n")


BOUND = Bound(
    name="tail_budget",
    group="barriers",
    quantity="largest share of slow parts",
    unit="1",
    kind=Status.EXACT,
    role=Role.CEILING,
    loss="A",
    symbols=(
        Symbol("q", "1", "share of requests that may meet a slow part", Trend.RISES, most=1.0),
        Symbol("n", "1", "parts of one request", Trend.FALLS, least=1, whole=True),
    ),
    formula="1 - power(1 - q, 1 / n)",
    assumptions=("iid",),
    source="inverse of Dean and Barroso 2013",
    examples=(Example({"q": Fraction(1, 100), "n": 100}, 0.00010049830824165884, "forward check", 1e-6),),
    proofs=(Recheck("identity", "it inverts the tail at scale", inverse),),
    telemetry=("share of slow parts",),
    unread="no key states which share of parts is slow",
)
