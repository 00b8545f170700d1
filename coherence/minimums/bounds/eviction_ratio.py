"""online eviction: how many times more any cache that does not know the future fetches than one that does.

## What
Some sequences make every deterministic policy with k slots fetch k/(k - h + 1) times as often as the best cache with h
<= k slots does; recency attains it.

## Why it matters
No eviction policy of a prefix cache can promise better than this; what can be promised needs slack (k well above h) or
knowledge of what comes.

## Example
k = h = 8: 8; k = 16 against h = 8: 1.78.

## Source
D. Sleator and R. Tarjan, "Amortized efficiency of list update and paging rules", CACM 28, 1985.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.eviction import adversary, farthest, recently_used

PHASES = 30


def measured(slots: int, other: int) -> Fraction:
    """Returns fetches of the recency cache over those of the best one, both warm, on the adversary's trace."""
    held, trace = adversary(slots, other, PHASES)
    return Fraction(recently_used(trace, slots, held), farthest(trace, other, held[slots - other :]))


def traces() -> Checked:
    """Checks that the adversary makes the online cache fetch at every step, for all k up to 6 and h <= k; the ratio is
    attained.
    """
    for slots in range(1, 7):
        for other in range(1, slots + 1):
            held, trace = adversary(slots, other, PHASES)
            if recently_used(trace, slots, held) != len(trace):
                return Checked(False, f"k = {slots}, h = {other}: a hit")
            if measured(slots, other) < Fraction(slots, slots - other + 1):
                return Checked(False, f"k = {slots}, h = {other}: {measured(slots, other)}")
    return Checked(True, "traces of 30 phases for all k <= 6, h <= k, both caches run")


def run(inputs: Inputs) -> Fraction:
    """Both caches, run."""
    return measured(int(inputs["slots"]), int(inputs["other"]))


BOUND = Bound(
    name="eviction_ratio",
    group="online decisions",
    quantity="worst ratio of fetches to those of a cache that knows the future",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(
        Symbol("slots", "1", "slots of the cache", Trend.FALLS, least=1, most=10_000, whole=True, sign="k"),
        Symbol("other", "1", "slots of the cache that knows the future", Trend.RISES, least=1, whole=True, sign="h"),
    ),
    formula="slots / (slots - other + 1)",
    valid="other <= slots",
    assumptions=("equal_items", "deterministic_policy", "offline_optimum", "no_forecast"),
    source="Sleator and Tarjan 1985",
    examples=(
        Example({"slots": Fraction(8), "other": Fraction(8)}, 8.0, "published"),
        Example({"slots": Fraction(16), "other": Fraction(8)}, 16 / 9, "published"),
    ),
    proofs=(Recheck("enumeration", "the adversary against recency", traces),),
    witness=Witness("both caches on the adversary's trace", run),
    telemetry=(),
    unread="no key states the slots of a cache and what is asked of it",
)
