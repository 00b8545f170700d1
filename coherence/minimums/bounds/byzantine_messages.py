"""messages of an agreement among liars: how many messages some run takes although f of n processes may fail.

## What
More than (f/2)^2 messages of processes that do not fail.  Of f/2 processes each must hear more than f/2 others: else
those that it hears from can be silent for it alone, and it cannot tell two runs apart in which the others decide
differently.

## Why it matters
Agreement grows with the square of the failures that it survives, with signatures or without; protocols that claim
fewer messages draw lots, or survive fewer failures.

## Example
f = 10: more than 25 messages.

## Source
D. Dolev and R. Reischuk, "Bounds on information exchange for Byzantine agreement", J. ACM 32(1), 1985, 191-204.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def heard() -> Checked:
    """As many processes as half of the failures, each of which hears more than half: fewer messages is unsat."""
    return refuted("messages of f/2 processes that each hear more than f/2", "QF_NRA", ("f", "members", "each", "all"),
                   ("(>= f 0.0)", "(>= members (/ f 2.0))", "(>= each (/ f 2.0))", "(>= all (* members each))",
                    "(< all (/ (* f f) 4.0))"))  # fmt: skip


BOUND = Bound(
    name="byzantine_messages",
    group="consistency",
    quantity="messages of one agreement",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("failures", "1", "processes that may fail", Trend.RISES, whole=True, sign="f"),),
    formula="failures * failures / 4",
    assumptions=("omitted_messages", "deterministic_policy", "unicast"),
    source="Dolev and Reischuk 1985",
    examples=(
        Example({"failures": 10}, 25.0, "published"),
        Example({"failures": 0}, 0.0, "nobody fails"),
    ),
    proofs=(Recheck("smt", "the count of what a half must hear", heard, ProofGrade.PART),),
    telemetry=("messages of an agreement",),
    unread="no key states which replicas decide, and how many of them may lie",
)
