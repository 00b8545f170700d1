"""variance over a limited rate: the least mean square of a state that is steered by C bits of each sample.

## What
1/(1 - a^2 4^-C), over the variance of the disturbance, for x' = a x + u + w with Gaussian w: what is not known of x
grows by a^2 and a disturbance in each step, and C bits divide it by 4^C at most.  At C = log2 a it has no end; without
a limit it is 1.

## Why it matters
It prices telemetry: what a bit of a reading is worth to the loop that acts on it, between "it diverges" (data_rate)
and "one more bit gains nothing".

## Example
a = 2, 2 bits: 4/3; 1.5 bits: 2.

## Source
S. Tatikonda, A. Sahai and S. Mitter, "Stochastic linear control over a communication channel", IEEE Trans. Automatic
Control 49(9), 2004; V. Kostina and B. Hassibi, "Rate-cost tradeoffs in control", the same journal 64(11), 2019 (arXiv
1612.02126); C. Shannon 1948 (entropy powers).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def stationary() -> Checked:
    """Entropy powers: N' >= a^2 N q + s in each step.  No steady N below s/(1 - a^2 q) keeps that: unsat; nor does it
    stay bounded where a^2 q >= 1.
    """
    names = ("a2", "q", "s", "N", "after")
    given = ("(> s 0.0)", "(>= a2 0.0)", "(> q 0.0)", "(>= N s)", "(>= after (+ (* a2 (* q N)) s))", "(<= after N)")
    return refuted("a steady variance below the bound", "QF_NRA", names,
                   (*given, "(< (* a2 q) 1.0)", "(< (* N (- 1.0 (* a2 q))) s)"),
                   (*given, "(>= (* a2 q) 1.0)"))  # fmt: skip


BOUND = Bound(
    name="rate_limited_variance",
    group="limited information",
    quantity="least mean square of a steered state, over the variance of its disturbance",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("growth", "1", "by what the state grows in a sample", Trend.RISES, sign="a"),
        Symbol("bits", "1", "bits that the controller is told of each sample", Trend.FALLS, sign="C"),
    ),
    formula="1 / (1 - growth * growth * power(4, 0 - bits))",
    valid="growth * growth * power(4, 0 - bits) < 1",
    assumptions=("linear_plant", "uniform_samples", "delimited_messages", "gaussian_disturbance", "no_forecast"),
    source="Tatikonda, Sahai and Mitter 2004; Kostina and Hassibi 2019",
    examples=(
        Example({"growth": 2, "bits": 2}, 4 / 3, "published formula"),
        Example({"growth": 2, "bits": Fraction(3, 2)}, 2.0, "published formula"),
    ),
    proofs=(Recheck("smt", "steady entropy powers", stationary, ProofGrade.PART),),
    telemetry=("bits of a reading", "variance of the state"),
    unread="no key states how many bits a reading tells; lost_readings is told of a state that runs away",
)
