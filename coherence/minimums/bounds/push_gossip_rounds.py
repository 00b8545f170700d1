"""rounds of gossip by lot: how long news takes to reach all members, where each that has it tells one by lot a round.

## What
The mean number of rounds until all n have it, from the chain of how many do.  For many members it is log2 n + ln n and
a constant: doubling at first, and then the last ones, whom a round misses with chance 1/e.  No plan at all needs fewer
than log2 n rounds of such calls.

## Why it matters
What membership and failure news costs in time without any plan; the difference to log2 n is what a tree would save.

## Example
3 members: 7/3 rounds.  100: 12.3, against 7 by plan.

## Source
B. Pittel, "On spreading a rumor", SIAM Journal on Applied Mathematics 47(1), 1987, 213-223 (the growth; the number by
the chain above).
"""

from __future__ import annotations

import itertools
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
)


def rounds(inputs: Inputs) -> float:
    """Solves the chain from its end: callers of a round one by one, each of whom may reach one more member."""
    import numpy as np

    n = int(inputs["n"])
    left = np.zeros(n + 1)  # rounds from so many on
    for known in range(n - 1, 0, -1):
        reached = np.zeros(n - known + 1)
        reached[0] = 1.0
        hits = (n - known - np.arange(n - known + 1)) / (n - 1)
        for _ in range(known):
            more = reached * hits
            reached -= more
            reached[1:] += more[:-1]
        left[known] = (1 + float(reached[1:] @ left[known + 1 :])) / (1 - reached[0])
    return float(left[1])


def few_members() -> Checked:
    """Compares the chain with every set of calls of three and four members, in exact fractions."""
    for n in (2, 3, 4):
        by_calls = _left(frozenset({0}), n, {})
        if abs(float(by_calls) - rounds({"n": Fraction(n)})) > 1e-12:
            return Checked(False, f"{n} members: {by_calls}")
    return Checked(True, "every set of calls of two, three and four members")


def _left(known: frozenset[int], n: int, solved: dict[frozenset[int], Fraction]) -> Fraction:
    """Returns the mean number of rounds from the members on that know."""
    if len(known) == n:
        return Fraction(0)
    if known not in solved:
        calls = list(itertools.product(*[[other for other in range(n) if other != caller] for caller in sorted(known)]))
        after = [known | set(called) for called in calls]
        more = [who for who in after if who != known]
        total = len(calls) + sum((_left(who, n, solved) for who in more), Fraction(0))
        solved[known] = Fraction(total) / len(more)
    return solved[known]


BOUND = Bound(
    name="push_gossip_rounds",
    group="consistency",
    quantity="mean rounds until news has reached all",
    unit="1",
    kind=Status.CLASS_COST,
    quantifier=Quantifier.MEAN,
    loss="none",
    symbols=(Symbol("n", "1", "members", Trend.RISES, least=1, most=1000, whole=True),),
    compute=rounds,
    assumptions=("random_calls", "reliable_messages"),
    source="Pittel 1987",
    examples=(
        Example({"n": 2}, 1.0, "one call"),
        Example({"n": 3}, 7 / 3, "by hand: 1 + 4/3"),
        Example({"n": 1}, 0.0, "nobody else"),
    ),
    proofs=(Recheck("enumeration", "every set of calls of few members", few_members, ProofGrade.INSTANCES),),
    telemetry=("members", "rounds of gossip"),
    display=(
        r"T_1, \quad T_k = 1 + \sum_{j} P\left( k \to j \right) T_j, \; T_n = 0, \quad P \text{ of } k "
        r"\text{ callers who each call one of } n - 1"
    ),
    unread="no key states that members tell each other what they know",
)
