"""linearizable read: how long a read of a register takes in the worst case when delays are uncertain.

## What
With delays between d - u and d and clocks that nothing but messages sets, some read takes u/4 or more, whatever the
other operation costs.

## Why it matters
Sequential consistency allows reads, or writes, that return at once; linearizability does so only where the clocks agree
exactly, or where one process alone reads or writes.

## Example
u = 20 ms: 5 ms.

## Source
H. Attiya and J. Welch, "Sequential consistency versus linearizability", ACM TOCS 12(2), 1994.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._far_clocks import registers
from coherence.minimums.bounds._inductions import refuted


def shifted() -> Checked:
    """Two processes read in turn while a third one writes: somewhere the old value is read, and then the new one.

    Delays midway leave room to shift the second reader by u/2 against the others, with nobody noticing; reads below
    u/4 have then changed places.
    """
    return refuted("two reads that change places", "QF_LRA", ("begins", "ends", "longest", "u", "first", "second"),
                   ("(>= longest 0.0)", "(= first 0.0)", "(= second 1.0)", "(<= ends (+ begins (* 2.0 longest)))",
                    "(or (>= (- ends (* 0.5 u)) begins) (<= second first))", "(< (* 4.0 longest) u)"))  # fmt: skip


BOUND = Bound(
    name="linearizable_read",
    group="consistency",
    quantity="longest time of a linearizable read",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("uncertainty", "s", "longest minus shortest delay of a message", Trend.RISES, sign="u"),),
    formula="uncertainty / 4",
    assumptions=(
        "reliable_messages",
        "messages_only",
        "unrelated_delays",
        "several_users",
    ),
    source="Attiya and Welch 1994",
    examples=(Example({"uncertainty": Fraction(1, 50)}, 0.005, "arithmetic"),),
    proofs=(Recheck("smt", "reads that change places", shifted, ProofGrade.UNIVERSAL),),
    telemetry=("shortest and longest delay",),
    applies=registers,
)
