"""replicas for agreement, lies: the fewest replicas that agree although f of them say anything.

## What
3 f + 1. No rule may wait for more than n - f answers, since f may never come; two such sets must share a replica that
does not lie, or two values are decided.

## Why it matters
Each lie that a group must survive costs three replicas; signatures alone do not lower it while delays have no known
bound.

## Example
f = 1: 4 replicas; f = 2: 7.

## Source
M. Pease, R. Shostak and L. Lamport, "Reaching agreement in the presence of faults", J. ACM 27(2), 1980; C. Dwork, N.
Lynch and L. Stockmeyer, J. ACM 35(2), 1988 (also with signatures, where delays have no known bound).
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def quorums() -> Checked:
    """A quorum of q answers although f are silent, and two share more replicas than lie: fewer in all is unsat."""
    return refuted("quorums that answer and meet need as many, for all numbers", "QF_LIA", ("n", "q", "f"),
                   ("(>= f 0)", "(<= q (- n f))", "(>= (- (* 2 q) n) (+ f 1))", "(< n (+ (* 3 f) 1))"),
                   whole=True)  # fmt: skip


BOUND = Bound(
    name="byzantine_replicas",
    group="consistency",
    quantity="fewest replicas that agree although some lie",
    unit="1",
    kind=Status.THEOREM,
    loss="none",
    symbols=(Symbol("failures", "1", "replicas that may fail", Trend.RISES, whole=True, sign="f"),),
    formula="3 * failures + 1",
    assumptions=(
        "late_messages",
        "arbitrary_faults",
    ),
    source="Pease, Shostak and Lamport 1980; Dwork, Lynch and Stockmeyer 1988",
    examples=(
        Example({"failures": 1}, 4.0, "published"),
        Example({"failures": 2}, 7.0, "published"),
    ),
    proofs=(Recheck("smt", "rules that decide by quorums", quorums, ProofGrade.PART),),
    telemetry=(),
    unread="no key states which replicas decide, and how many of them may lie",
)
