"""replicas for agreement, crashes: the fewest replicas that agree although f of them stop.

## What
2 f + 1. No rule may wait for more than n - f answers, since f may never come; two such sets must share a replica, or
two values are decided.

## Why it matters
A group of two survives no crash while a late message cannot be told from a stopped replica.

## Example
f = 1: 3 replicas; f = 2: 5.

## Source
C. Dwork, N. Lynch and L. Stockmeyer, "Consensus in the presence of partial synchrony", J. ACM 35(2), 1988.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def quorums() -> Checked:
    """A quorum of q answers although f are silent, and two quorums share a replica: fewer in all is unsat."""
    return refuted("quorums that answer and meet need as many, for all numbers", "QF_LIA", ("n", "q", "f"),
                   ("(>= f 0)", "(<= q (- n f))", "(>= (- (* 2 q) n) 1)", "(< n (+ (* 2 f) 1))"),
                   whole=True)  # fmt: skip


BOUND = Bound(
    name="crash_replicas",
    group="consistency",
    quantity="fewest replicas that agree although some stop",
    unit="1",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol("failures", "1", "replicas that may stop before any is made anew", Trend.RISES, whole=True, sign="f"),
    ),
    formula="2 * failures + 1",
    assumptions=("late_messages",),
    source="Dwork, Lynch and Stockmeyer 1988",
    examples=(
        Example({"failures": 1}, 3.0, "published"),
        Example({"failures": 2}, 5.0, "published"),
    ),
    proofs=(Recheck("smt", "rules that decide by quorums", quorums, ProofGrade.PART),),
    telemetry=(),
    unread="no key states which replicas agree, and how many of them may stop",
)
