"""restart share: the share of time in which a job that stops at each failure does no work.

## What
Up for `mtbf` on average, then down for `restart` on average, over and over: restart / (mtbf + restart) of the time is
down, whatever the laws of the two times are.

## Why it matters
It is what failures cost when checkpoints are free and nothing is ever done twice.  `checkpoint_overhead` adds what
checkpoints and repeated work cost; only faster restarts, rarer failures or work that goes on without the part lower it.

## Example
One failure in 3.093 h, 300 s to be back: 2.62 %.

## Source
Renewal reward theorem; R. E. Barlow and F. Proschan, "Mathematical theory of reliability", 1965, chapter 3.
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

CYCLES = 12


def run(inputs: Inputs) -> Fraction:
    """Cycles of unlike lengths with these means: the time down over all time."""
    up = down = Fraction(0)
    for cycle in range(CYCLES):
        share = Fraction(2 * cycle, CYCLES - 1)  # 0 .. 2 times the mean, up and down in opposite order
        up += Fraction(inputs["mtbf"]) * share
        down += Fraction(inputs["restart"]) * (2 - share)
    return down / (up + down)


def never_above_exponential() -> Checked:
    """With exponential failures that also strike restarts 1 - exp(-R/M) is lost, which is not less: by sympy.

    exp(x) - 1 - x is 0 at 0 and rises for x > 0, so exp(-x) <= 1/(1 + x).
    """
    import sympy as sp

    x = sp.symbols("x", positive=True)
    gap = sp.exp(x) - 1 - x
    rises = sp.simplify(sp.diff(gap, x) - (sp.exp(x) - 1)) == 0 and sp.limit(gap, x, 0) == 0
    second = sp.diff(gap, x, 2).is_positive
    return Checked(bool(rises and second), "1 - exp(-R/M) >= R/(M + R): the general share is below the exponential one")


BOUND = Bound(
    name="restart_share",
    group="checkpoints",
    quantity="share of time lost to restarts",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="R",
    symbols=(
        Symbol("mtbf", "s", "mean time of work between the end of a restart and the next failure", Trend.FALLS,
               open_=True, sign="M"),
        Symbol("restart", "s", "mean time from a failure until work goes on", Trend.RISES, sign="R"),
    ),
    formula="restart / (mtbf + restart)",
    assumptions=("whole_job_stops", "long_work"),
    source="Barlow and Proschan 1965",
    examples=(
        Example({"mtbf": Fraction(111348, 10), "restart": Fraction(300)}, 300 / 11434.8, "arithmetic"),
        Example({"mtbf": Fraction(100), "restart": Fraction(0)}, 0.0, "no restart costs nothing"),
    ),
    proofs=(Recheck("identity", "not above the exponential law's share", never_above_exponential, ProofGrade.RELATED),),
    witness=Witness("cycles of unlike lengths with these means", run),
    telemetry=("times of failures", "times until work goes on"),
    unread="checkpoint_overhead counts the restarts of a job",
)  # fmt: skip
