"""sequential consistency: a write and a read together wait at least for one message.

## What
If each process answers from its own copy, two processes that write x and y and then read y and x could both read the
old value unless write time + read time >= d, the delay between them.

## Why it matters
A store across regions cannot make both reads and writes local: one of them pays the distance.

## Example
30 ms between regions: read + write >= 30 ms.

## Source
R. Lipton and J. Sandberg 1988; H. Attiya and J. Welch, ACM TOCS 12, 1994.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._far_clocks import replicas


def two_processes() -> Checked:
    """Checks that both processes write at 0 and read at `w`, done at `w + r`; a message of delay d sent at 0 or later
    is not there.

    Sequential consistency forbids both old values; without a message before the end each must read the old one.
    """
    script = (
        "(set-logic QF_LRA)\n(declare-const w Real)\n(declare-const r Real)\n(declare-const d Real)\n"
        "(declare-const sees_x Real)\n(declare-const sees_y Real)\n"
        "(assert (>= w 0.0))\n(assert (>= r 0.0))\n(assert (> d 0.0))\n"
        "(assert (>= sees_x d))\n(assert (>= sees_y d))\n"  # when news of a write can arrive
        "(assert (or (<= sees_x (+ w r)) (<= sees_y (+ w r))))\n"  # not both old
        "(assert (< (+ w r) d))\n(check-sat)\n"
    )
    return Checked(solver.unsat(script, timeout_ms=2000).unsat, "read + write below one delay: unsat", script)


BOUND = Bound(
    name="sequential_consistency",
    group="consistency",
    quantity="longest time of a read plus longest time of a write",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("delay", "s", "delay of a message between two replicas", Trend.RISES, sign="d"),),
    formula="delay",
    assumptions=("reliable_messages", "several_users"),
    source="Lipton and Sandberg 1988; Attiya and Welch 1994",
    examples=(Example({"delay": Fraction(3, 100)}, 0.03, "arithmetic"),),
    proofs=(Recheck("smt", "two processes", two_processes, ProofGrade.UNIVERSAL),),
    telemetry=("delay between replicas",),
    applies=replicas,
)
