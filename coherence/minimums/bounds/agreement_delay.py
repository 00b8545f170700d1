"""agreement latency: message delays from a proposal to its decision, even when nothing fails.

## What
Of n processes f may stop for ever without blocking.  Where anybody from outside may propose, a value is decided within
two message delays, also while e of them are down, only if n > 2 e + f; else three delays are needed.  Fewer than two
are never enough.  (A replica that proposes itself, and counts its own vote, needs fewer: 2 e + f - 1 are enough then.)

## Why it matters
A commit across regions costs two or three one-way delays by proof; more replicas buy the fast path.

## Example
5 replicas, 2 may stop, fast with 1 down, 30 ms one way: 2 delays, 60 ms (5 > 2 + 2); fast with 2 down: 90 ms.

## Source
L. Lamport, "Lower bounds for asynchronous consensus", Distributed Computing 19, 2006.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def quorums() -> Checked:
    """Checks that two fast quorums (n - e) and one that recovers (n - f) share a process exactly if n > 2 e + f: all
    of n <= 6.

    Without a shared one the recovering processes cannot tell which of two values was decided fast.
    """
    for n in range(2, 7):
        everyone = range(n)
        for f in range(1, n):
            if n <= 2 * f:
                continue
            for e in range(f + 1):
                fast = [set(q) for q in itertools.combinations(everyone, n - e)]
                slow = [set(q) for q in itertools.combinations(everyone, n - f)]
                meet = all(a & b & c for a in fast for b in fast for c in slow)
                if meet != (n > 2 * e + f):
                    return Checked(False, f"n = {n}, f = {f}, e = {e}")
    return Checked(True, "quorums of up to 6 processes, all triples")


BOUND = Bound(
    name="agreement_delay",
    group="consistency",
    quantity="time from a proposal to its decision",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("replicas", "1", "processes that decide", Trend.FALLS, least=3, whole=True, sign="n"),
        Symbol("failures", "1", "processes that may stop without blocking", Trend.RISES, least=1, whole=True, sign="f"),
        Symbol(
            "crashed", "1", "processes that are down while it must still be fast", Trend.RISES, whole=True, sign="e"
        ),
        Symbol("delay", "s", "least delay of a message between two of them", Trend.RISES, sign="d"),
    ),
    formula="delay * (2 if replicas > 2 * crashed + failures else 3)",
    valid="replicas > 2 * failures and crashed <= failures",
    assumptions=("crash_faults", "any_proposer", "outside_proposers"),
    source="Lamport 2006",
    examples=(
        Example(
            {"replicas": Fraction(5), "failures": Fraction(2), "crashed": Fraction(1), "delay": Fraction(3, 100)},
            0.06,
            "arithmetic",
        ),
        Example(
            {"replicas": Fraction(5), "failures": Fraction(2), "crashed": Fraction(2), "delay": Fraction(3, 100)},
            0.09,
            "arithmetic",
        ),
    ),
    proofs=(Recheck("enumeration", "all quorums of few processes", quorums),),
    telemetry=("delays between replicas",),
    unread="no key states which processes agree, and how many of them may stop",
)
