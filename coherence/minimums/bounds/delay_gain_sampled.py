"""gain under delay, sampled: the largest gain with which a loop that reads d decisions late stays stable.

## What
x[t+1] = x[t] - k x[t-d] decays exactly for 0 < k < 2 sin(pi / (2 (2 d + 1))).

## Why it matters
No retuning of a proportional law reaches more: 2, 1, 0.618, 0.445 for 0, 1, 2, 3 decisions of delay.  A law that
multiplies by the whole ratio has k = 1 and stands on the edge with one decision of delay.

## Example
d = 2: 0.618.

## Source
S. Levin and R. May, "A note on difference-delay equations", Theoretical Population Biology 9, 1976.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._limited import bisected, delayed, largest_radius, stable
from coherence.minimums.formulas import number

FORMULA = "2 * sin(pi / (2 * (2 * delay + 1)))"
DELAYS, APART = range(7), Fraction(1, 10**9)


def counted() -> Checked:
    """Roots counted exactly at rational gains one part in 1e9 below and above the formula."""
    for delay in DELAYS:
        edge = Fraction(float(number(FORMULA, {"delay": Fraction(delay)})))
        if not stable(delayed(delay), edge * (1 - APART)) or stable(delayed(delay), edge * (1 + APART)):
            return Checked(False, f"delay {delay}: the edge is not at {float(edge)}")
    return Checked(True, f"exact root counts on both sides, 1e-9 apart, for delays of 0 to {DELAYS[-1]}")


def _grows(weights: tuple[Fraction, ...], gain: float) -> bool:
    return largest_radius([float(w) for w in weights], gain) >= 1


def edge_of_roots(inputs: Inputs) -> float:
    """Returns the gain at which the largest root of the loop reaches the unit circle, by bisection on computed
    roots."""
    return bisected(partial(_grows, delayed(int(inputs["delay"]))), 1e-3, 3.0)


BOUND = Bound(
    name="delay_gain_sampled",
    group="limited information",
    quantity="largest stable gain",
    unit="1",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("delay", "1", "decisions between an action and its reading", Trend.FALLS, whole=True, sign="d"),),
    formula=FORMULA,
    assumptions=("gain_law", "linear_plant", "integrator"),
    source="Levin and May 1976",
    examples=(
        Example({"delay": Fraction(1)}, 1.0, "root bisection"),
        Example({"delay": Fraction(2)}, 0.6180339887498948, "root bisection"),
        Example({"delay": Fraction(0)}, 2.0, "x[t+1] = (1 - k) x[t]"),
    ),
    proofs=(Recheck("enumeration", "exact root counts on both sides", counted),),
    witness=Witness("bisection on computed roots", edge_of_roots),
    telemetry=("age of readings", "period of decisions"),
    unread="sampled_gain is told of every chain of readings",
)
