"""time between failures of a job: of n parts that each fail at a rate, the first fails n times as often.

## What
The least of n independent exponential times of mean M is exponential with mean M/n.

## Why it matters
A part that fails once in years fails every few hours in a job of thousands; checkpoints must follow that.

## Example
6.5 failures per 1,000 node-days on 2,048 nodes: one every 1.80 h.

## Source
Minimum of exponentials; for the rates A. Kokolis et al., "Revisiting reliability in large-scale machine learning
clusters", HPCA 2025.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    ProofGrade,
    Quantifier,
    Recheck,
    Role,
    Status,
    Symbol,
    Trend,
)
from coherence.minimums.bounds._integrals import falling_tail
from coherence.minimums.bounds._training import failing


def integral() -> Checked:
    """Checks that the integral of exp(-t/M)^n over t >= 0 is M/n, by sympy."""
    import sympy as sp

    t, mean, n = sp.symbols("t M n", positive=True)
    mean_time = sp.integrate(sp.exp(-n * t / mean), (t, 0, sp.oo))
    return Checked(sp.simplify(mean_time - mean / n) == 0, "the integral of the joint tail is M/n")


BOUND = Bound(
    name="job_failure_time",
    group="checkpoints",
    quantity="mean time between failures of the whole job",
    unit="s",
    kind=Status.EXACT,
    role=Role.CEILING,
    quantifier=Quantifier.MEAN,
    loss="R",
    symbols=(
        Symbol("part_mtbf", "s", "mean time between failures of one part", Trend.RISES, open_=True, sign="M"),
        Symbol("n", "1", "parts, all of which the job needs", Trend.FALLS, least=1, whole=True),
    ),
    formula="part_mtbf / n",
    assumptions=("exponential", "iid"),
    source="minimum of exponentials",
    examples=(
        Example(
            {"part_mtbf": Fraction(86400 * 1000 * 2, 13), "n": Fraction(2048)},
            1.8028846153846154 * 3600,
            "the published 1.8 h at 6.50 failures in 1,000 node-days",
        ),
    ),
    proofs=(
        Recheck("identity", "integral of the joint tail", integral, ProofGrade.UNIVERSAL),
        Recheck("smt", "the tail, part after part", falling_tail, ProofGrade.UNIVERSAL),
    ),
    telemetry=("failures", "device hours"),
    applies=failing,
)
