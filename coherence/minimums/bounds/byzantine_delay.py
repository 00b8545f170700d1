"""fast agreement with lies: message delays until all have an honest leader's value, whatever f others do.

## What
Of n replicas f may lie or be silent; messages are signed.  Two delays from the leader's proposal to the decision can be
promised exactly if n >= 5 f - 1; else some run takes three.  (While all n answer, fewer replicas may be as fast.)

## Why it matters
Four replicas that survive one lie may decide in two delays; with two lies that takes nine, and seven take three.

## Example
f = 2, 10 ms a message: 7 replicas 30 ms, 9 replicas 20 ms.

## Source
I. Abraham, K. Nayak, L. Ren and Z. Xiang, "Good-case latency of Byzantine broadcast: a complete categorization", PODC
2021; P. Kuznetsov, A. Tonkikh and Y. Zhang, "Revisiting optimal resilience of fast Byzantine consensus", PODC 2021.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def tells(replicas: int, failures: int) -> bool:
    """Returns whether the next leader can tell from any n - f answers which value may have been decided in two delays.

    The first leader (replica 0) proposed two values: it lies and need not be asked, and f - 1 others may lie.
    Decided: n - f replicas, the first leader among them, took the value; the others and the liars show the other one.
    """
    others, wanted = range(1, replicas), replicas - failures
    for voted in itertools.combinations(others, wanted - 1):
        for heard in itertools.combinations(others, min(wanted, replicas - 1)):
            shown = len({*voted} & {*heard}) - (failures - 1)
            if shown <= len(heard) - shown:
                return False
    return True


def quorums() -> Checked:
    """Goes through all sets of up to nine replicas."""
    for failures in (1, 2):
        for replicas in range(3 * failures + 1, 9 if failures == 1 else 10):
            if tells(replicas, failures) != (replicas >= 5 * failures - 1):
                return Checked(False, f"{replicas} replicas, {failures} lies")
    return Checked(True, "sets that decide and sets that are asked, up to nine replicas and two lies")


BOUND = Bound(
    name="byzantine_delay",
    group="consistency",
    quantity="longest time from an honest leader's proposal to the decision of all",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("replicas", "1", "replicas that decide", Trend.FALLS, least=4, whole=True, sign="n"),
        Symbol("failures", "1", "replicas that may lie", Trend.RISES, least=1, whole=True, sign="f"),
        Symbol("delay", "s", "least delay of a message between two of them", Trend.RISES, sign="d"),
    ),
    formula="delay * (2 if replicas >= 5 * failures - 1 else 3)",
    valid="replicas >= 3 * failures + 1",
    assumptions=("late_messages", "arbitrary_faults"),
    source="Abraham, Nayak, Ren and Xiang 2021; Kuznetsov, Tonkikh and Zhang 2021",
    examples=(
        Example({"replicas": 7, "failures": 2, "delay": Fraction(1, 100)}, 0.03, "published"),
        Example({"replicas": 9, "failures": 2, "delay": Fraction(1, 100)}, 0.02, "published"),
        Example({"replicas": 4, "failures": 1, "delay": Fraction(1, 100)}, 0.02, "published"),
    ),
    proofs=(Recheck("enumeration", "sets of up to nine replicas", quorums),),
    telemetry=("delays between replicas",),
    unread="no key states which replicas decide, and how many of them may lie",
)
