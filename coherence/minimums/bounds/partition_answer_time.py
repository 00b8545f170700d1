"""answers in a partition: how long an answer waits that must show the last write, while two sides are cut apart.

## What
As long as the partition lasts: a read on one side that must see a write on the other cannot end before a message
passes.  Who answers sooner on both sides gives, sometimes, an answer that is not the last write.

## Why it matters
It is the choice between consistency and availability: what is asked of both sides is paid with the whole partition.

## Example
A partition of 40 s: some answer takes 40 s.

## Source
S. Gilbert and N. Lynch, "Brewer's conjecture and the feasibility of consistent, available, partition-tolerant web
services", SIGACT News 33(2), 2002, theorem 1 (no bound on delays) and theorem 2 (with clocks).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def unheard() -> Checked:
    """A write that ends on one side and a read that begins on the other after it, both within the partition: what the
    read hears of the write comes after the partition, so it ends after it, or shows what was there before."""
    return refuted(
        "a read that ends within the partition has heard nothing of the write", "QF_LRA",
        ("begins", "ends", "written", "heard", "read", "done"),
        ("(<= begins written)", "(<= written read)", "(<= read done)", "(>= heard ends)", "(>= done heard)",
         "(< done ends)"),
    )  # fmt: skip


BOUND = Bound(
    name="partition_answer_time",
    group="consistency",
    quantity="longest time of an answer, from the beginning of a partition",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("duration", "s", "time without a message between two sides", Trend.RISES),),
    formula="duration",
    assumptions=("last_write_read", "both_sides_answer"),
    source="Gilbert and Lynch 2002",
    examples=(Example({"duration": Fraction(40)}, 40.0, "arithmetic"),),
    proofs=(Recheck("smt", "what a read has heard", unheard, ProofGrade.UNIVERSAL),),
    telemetry=("times without messages between sites",),
    unread="no key states how long a partition lasts",
)
