"""linearizable write: how long a write of a register takes in the worst case when delays are uncertain.

## What
With delays between d - u and d and clocks that nothing but messages sets, some write takes u/2 or more, whatever the
other operation costs.

## Why it matters
Sequential consistency allows reads, or writes, that return at once; linearizability does so only where the clocks agree
exactly, or where one process alone reads or writes.

## Example
u = 20 ms: 10 ms.

## Source
H. Attiya and J. Welch, "Sequential consistency versus linearizability", ACM TOCS 12(2), 1994.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._far_clocks import registers
from coherence.minimums.bounds._inductions import refuted


def shifted() -> Checked:
    """Two processes write one after the other, and then a third one reads what the second one wrote.

    With delays that are short one way and long the other the first writer may be shifted by u against the second, with
    nobody noticing; writes below u/2 have then changed places, and the same read shows the older one.
    """
    return refuted("two writes that change places", "QF_LRA", ("begins", "ends", "longest", "u", "read"),
                   ("(>= longest 0.0)", "(= read 2.0)", "(= begins u)", "(<= ends (* 2.0 longest))",
                    "(or (>= ends begins) (= read 1.0))", "(< (* 2.0 longest) u)"))  # fmt: skip


BOUND = Bound(
    name="linearizable_write",
    group="consistency",
    quantity="longest time of a linearizable write",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("uncertainty", "s", "longest minus shortest delay of a message", Trend.RISES, sign="u"),),
    formula="uncertainty / 2",
    assumptions=(
        "reliable_messages",
        "messages_only",
        "unrelated_delays",
        "several_users",
    ),
    source="Attiya and Welch 1994",
    examples=(Example({"uncertainty": Fraction(1, 50)}, 0.01, "arithmetic"),),
    proofs=(Recheck("smt", "writes that change places", shifted, ProofGrade.UNIVERSAL),),
    telemetry=("shortest and longest delay",),
    applies=registers,
)
