"""fastest k of n: the mean time until k of n members with exponential times are ready.

## What
m (1/n + 1/(n - 1) + ... + 1/(n - k + 1)): the mean of the k-th of n.

## Why it matters
It is what waiting for k of n (backup workers, coded computation, hedged reads) costs, and what the last members cost.

## Example
n = 10, k = 8, mean 1 s: 1.43 s instead of 2.93 s.

## Source
A. Renyi, "On the theory of order statistics", 1953; K. Lee et al., IEEE Trans. Inf. Theory 64(3), 2018 (coded
computation).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def integrated() -> Checked:
    """The integral of P(fewer than k of n are ready at t), term by term, is the sum, for all k <= n up to 5."""
    import sympy as sp

    t = sp.symbols("t", positive=True)
    for n in range(1, 6):
        for k in range(1, n + 1):
            tail = sum(sp.binomial(n, j) * (1 - sp.exp(-t)) ** j * sp.exp(-t * (n - j)) for j in range(k))
            if sp.integrate(sp.expand(tail), (t, 0, sp.oo)) != sp.harmonic(n) - sp.harmonic(n - k):
                return Checked(False, f"{k} of {n}")
    return Checked(True, "all k of n up to 5")


BOUND = Bound(
    name="fastest_of",
    group="barriers",
    quantity="mean time until enough members are ready",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "members", Trend.FALLS, least=1, most=1e5, whole=True),
        Symbol("k", "1", "members that are waited for", Trend.RISES, least=1, whole=True),
        Symbol("mean", "s", "mean time of a member", Trend.RISES, sign="m"),
    ),
    formula="(harmonic(n) - harmonic(n - k)) * mean",
    valid="k <= n",
    assumptions=(
        "exponential",
        "iid",
    ),
    source="Renyi 1953",
    examples=(
        Example({"n": 10, "k": 8, "mean": Fraction(1)}, 1.4289682539682538, "sum by hand"),
        Example({"n": 3, "k": 3, "mean": Fraction(2)}, 11 / 3, "all: the barrier of exponential times"),
    ),
    proofs=(Recheck("identity", "integral of the tail, up to five members", integrated),),
    telemetry=("times of members",),
    unread="no key states that some of a group's members are enough",
)
