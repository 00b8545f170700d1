"""oldest reading: how old what a periodic loop acts on becomes, whatever the phases are.

## What
A sampler of period T shows what is up to T old, a window of length W still holds what is W old, and a decision stands
for a period P.  For phases that nobody aligns the ages of a chain add.

## Why it matters
Safety needs the oldest reading, not the mean: a window that forgets sooner than this acts on what is over.

## Example
Scrape 30 s, window 5 min, relist 1 min, loop 45 s: 435 s.

## Source
Worst phase of each sampler; the oldest reading in a window.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._ages import longest
from coherence.minimums.bounds._inductions import refuted


def phases() -> Checked:
    """Two samplers in a row over all phases of a fine grid: the oldest reading is one step short of the sum."""
    first, second = 12, 5
    oldest = 0
    for phase in range(first):
        for read in range(first * second):
            seen = (read - phase) // first * first + phase  # the sampler's last instant
            oldest = max(oldest, (read - seen) + (second - 1))
    return Checked(oldest == first - 1 + second - 1, "all phases of two samplers on a grid: the sum of the periods")


def added() -> Checked:
    """What a part shows is as old as what it took, C at most, and less than its own T: less than C + T, and as near to
    it as one likes at some phase; a decision stands for P.  By induction over the parts of a chain.
    """
    above = ("(<= taken C)", "(< held T)", "(>= (+ taken held) (+ C T))")
    near = (
        "(> near 0.0)",
        "(>= taken (- C near))",
        "(>= held (- T near))",
        "(< (+ taken held) (- (+ C T) (* 2.0 near)))",
    )
    stands = ("(< shown C)", "(<= held P)", "(>= (+ shown held) (+ C P))")
    return refuted("part after part of a chain, and the decision", "QF_LRA",
                   ("C", "T", "P", "taken", "held", "shown", "near"), above, near, stands)  # fmt: skip


BOUND = Bound(
    name="reading_age_longest",
    group="limited information",
    quantity="longest age of what a loop acts on",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(
        Symbol("chain", "s", "every sampling period and window of the sensor chain", Trend.RISES),
        Symbol("period", "s", "period of the loop", Trend.RISES, sign="P"),
    ),
    formula="chain + period",
    assumptions=("uniform_samples", "free_phases"),
    source="worst phases",
    examples=(Example({"chain": Fraction(390), "period": Fraction(45)}, 435.0, "the same chain"),),
    proofs=(
        Recheck("enumeration", "all phases on a grid", phases),
        Recheck("smt", "part after part", added, ProofGrade.UNIVERSAL),
    ),
    telemetry=("sensor chain", "period of the loop"),
    applies=longest,
)
