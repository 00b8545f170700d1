"""lost readings: the largest share of readings that may be lost while the state of an unstable plant stays known.

## What
With a growth of l in each step and independent losses of share p, the mean square of the error grows by p l^2 while
nothing comes: it stays bounded only if p < 1/l^2.

## Why it matters
Beyond it no filter and no controller helps, whatever a reading that does come tells.

## Example
A growth of 1.5 a step: 44 %.

## Source
B. Sinopoli et al., "Kalman filtering with intermittent observations", IEEE TAC 49(9), 2004; N. Elia, Systems and
Control Letters 54, 2005.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Role, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def grows() -> Checked:
    """At the best a reading that comes removes the error: next = p (l^2 error + noise). Above 1/l^2 no error is one
    that the step does not raise (unsat)."""
    claims = ("(>= l 1.0)", "(> noise 0.0)", "(>= error 0.0)", "(>= (* p (* l l)) 1.0)",
              "(<= (* p (+ (* l (* l error)) noise)) error)")  # fmt: skip
    return refuted("no bounded error stays one, for all numbers", "QF_NRA", ("l", "p", "error", "noise"), claims)


BOUND = Bound(
    name="lost_readings",
    group="limited information",
    quantity="largest share of lost readings",
    unit="1",
    kind=Status.THEOREM,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("growth", "1", "largest eigenvalue of a step", Trend.FALLS, least=1, sign=r"\lambda"),),
    formula="1 / (growth * growth)",
    assumptions=(
        "linear_plant",
        "independent_losses",
    ),
    source="Sinopoli et al. 2004; Elia 2005",
    examples=(Example({"growth": Fraction(3, 2)}, 4 / 9, "published"),),
    proofs=(Recheck("smt", "the mean square grows where losses are more", grows, ProofGrade.UNIVERSAL),),
    telemetry=("share of lost readings",),
)
