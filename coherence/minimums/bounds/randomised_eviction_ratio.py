"""randomised eviction: how many times more a cache fetches on average that draws lots, than one that knows the future.

## What
On requests drawn at random among k + 1 items every cache of k slots fetches once in k + 1 requests, and the best one
once in (k + 1) H_k: the ratio is the harmonic number H_k.

## Why it matters
Lots buy an exponential improvement over `eviction_ratio`, and not more.

## Example
k = 8: 2.72 instead of 8.

## Source
A. Fiat, R. Karp, M. Luby, L. McGeoch, D. Sleator and N. Young, "Competitive paging algorithms", J. Algorithms 12,
1991.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend


def collected() -> Checked:
    """A phase of the best cache ends when all k + 1 items were asked for since it began: (k + 1) H_k requests after
    its first one, by the waits for the j-th new item, each (k + 1)/(k + 1 - j); checked for k up to 40."""
    for k in range(1, 41):
        waited = sum((Fraction(k + 1, k + 1 - j) for j in range(1, k + 1)), Fraction(0))
        if waited / (k + 1) != sum((Fraction(1, j) for j in range(1, k + 1)), Fraction(0)):
            return Checked(False, f"k = {k}")
    return Checked(True, "mean length of a phase for k up to 40")


BOUND = Bound(
    name="randomised_eviction_ratio",
    group="online decisions",
    quantity="worst ratio of mean fetches to those of a cache that knows the future",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("slots", "1", "slots of both caches", Trend.RISES, least=1, most=1e5, whole=True, sign="k"),),
    formula="harmonic(slots)",
    assumptions=(
        "equal_items",
        "offline_optimum",
        "no_forecast",
    ),
    source="Fiat et al. 1991",
    examples=(
        Example({"slots": 8}, 2.7178571428571425, "harmonic number of 8"),
        Example({"slots": 1}, 1.0, "one slot"),
    ),
    proofs=(Recheck("identity", "phases of the random trace", collected, ProofGrade.PART),),
    telemetry=(),
    unread="no key states the slots of a cache and what is asked of it",
)
