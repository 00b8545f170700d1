"""recovery of a loop: how long a disturbance stays uncorrected by it, whatever the law and its gain.

## What
A disturbance just after a decision waits one period for the next; what that decision does shows in what is read only
after the dead time from command to reading.  Until then the reading is what it would be without the loop.

## Why it matters
Reserve (spare capacity, queue room) has to carry the system for this long; retuning the loop cannot shorten it.

## Example
Decisions every 15 s, 60 s from a command to a started replica: 75 s.

## Source
Causality of a sampled loop.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted

GRID = 120


def causality() -> Checked:
    """A step at the i-th decision is seen by the j-th at first, j > i, at any phase; it shows D later: sooner is unsat.

    The decision at the instant of the step does not see it; one step for each decision, whatever is decided.
    """
    sees = ("(> P 0.0)", "(>= D 0.0)", "(= struck (+ phase (* i P)))", "(>= j (+ i 1.0))",
            "(= decided (+ phase (* j P)))", "(>= shown (+ decided D))", "(< (- shown struck) (+ P D))")  # fmt: skip
    return refuted("a correction before period + dead time: unsat", "QF_NRA",
                   ("P", "D", "phase", "i", "j", "struck", "decided", "shown"), sees)  # fmt: skip


def dead_beat(inputs: Inputs) -> Fraction:
    """The best loop, run on a grid: it sees a step at the first decision after it and cancels it all at once."""
    period, dead = Fraction(inputs["period"]), Fraction(inputs["dead"])
    longest = Fraction(0)
    for k in range(GRID):
        struck = period * k / GRID - period  # from the decision at -period on, which does not see it yet
        longest = max(longest, dead - struck)  # cancelled by the decision at 0
    return longest


BOUND = Bound(
    name="recovery_time",
    group="limited information",
    quantity="longest time that a disturbance stays uncorrected",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(
        Symbol("period", "s", "period of the loop", Trend.RISES, sign="P"),
        Symbol("dead", "s", "least time from a command to its effect on what is read", Trend.RISES, sign="D"),
    ),
    formula="period + dead",
    assumptions=("uniform_samples", "no_preview"),
    source="causality",
    examples=(Example({"period": Fraction(15), "dead": Fraction(60)}, 75.0, "arithmetic"),),
    proofs=(Recheck("smt", "no effect before", causality, ProofGrade.UNIVERSAL),),
    witness=Witness("a loop that cancels at the first decision, at all phases of a grid", dead_beat),
    telemetry=("period of the loop", "time from command to effect"),
)
