"""replicas that survive: the fewest replicas of which one is left although f of them stop, where stops are known.

## What
f + 1.  Where a bound on delays, or a detector that never errs, tells who has stopped, nobody waits for an answer that
cannot come, and what one replica has is enough.

## Why it matters
It is what a reliable detector buys over `crash_replicas`: f replicas.

## Example
f = 2: 3 replicas instead of 5.

## Source
T. Chandra and S. Toueg, "Unreliable failure detectors for reliable distributed systems", J. ACM 43(2), 1996 (a perfect
detector: any number of stops).
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def nobody_left() -> Checked:
    """Of n replicas f stop and one is left: n at most f is unsat."""
    return refuted("one that is left", "QF_LIA", ("n", "f", "left"),
                   ("(>= f 0)", "(<= left (- n f))", "(>= left 1)", "(< n (+ f 1))"), whole=True)  # fmt: skip


BOUND = Bound(
    name="surviving_replicas",
    group="consistency",
    quantity="fewest replicas of which one is left",
    unit="1",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol("failures", "1", "replicas that may stop before any is made anew", Trend.RISES, whole=True, sign="f"),
    ),
    formula="failures + 1",
    assumptions=("crash_faults",),
    source="Chandra and Toueg 1996",
    examples=(Example({"failures": 2}, 3.0, "published"),),
    proofs=(Recheck("smt", "one that is left", nobody_left, ProofGrade.UNIVERSAL),),
    telemetry=(),
    unread="no key states which replicas hold the same, and how many of them may stop",
)
