"""gain of a sampled loop: the largest gain of a loop that reads a weighted mean of its past.

## What
x[t+1] = x[t] - k (h0 x[t] + h1 x[t-1] + ...): the first k at which a root reaches the unit circle, by exact counts;
larger gains may be stable again.
A window of w decisions has w equal weights, a dead time of d decisions d zeros before them.  For a loop of a design k
is the relative change of its command per relative change of what it reads, times what that does to the reading (1 for
a law that multiplies by the whole ratio, on a load that is shared by what it commands).

## Why it matters
It says how far the gain of a loop can go with the sensor chain that it has; weights on older readings usually lower it
and a little weight on one older reading can raise it.

## Example
A third each on the readings 1, 2 and 3 decisions old: 0.708.

## Source
I. Schur 1917 and A. Cohn 1922 (roots in the unit circle); counts by Sturm chains.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, several
from coherence.minimums.bounds._limited import largest_gain, stable

MOST = 400


def of(inputs: Inputs) -> float:
    """Returns the middle of a bracket whose ends are counted."""
    weights = [Fraction(w) for w in several(inputs, "weights")]
    if not 0 < len(weights) <= MOST:
        raise UsageError(f"sampled_gain takes 1 to {MOST} weights, not {len(weights)}")
    low, high = largest_gain(weights)
    return float((low + high) / 2)


def both_sides() -> Checked:
    """On both sides of the edge for windows of 1 to 5 readings."""
    for window in range(1, 6):
        weights = [Fraction(1, window)] * window
        low, high = largest_gain(weights)
        if not stable(weights, low) or stable(weights, high):
            return Checked(False, f"a window of {window}")
    return Checked(True, "exact root counts on both sides, 1e-9 apart, for windows of 1 to 5 readings")


BOUND = Bound(
    name="sampled_gain",
    group="limited information",
    quantity="gain below which every gain is stable",
    unit="1",
    kind=Status.EXACT,
    role=Role.CEILING,
    loss="B",
    symbols=(
        Symbol("weights", "1", "shares of what is read that are 0, 1, 2, ... decisions old", Trend.LIST, sign="h"),
    ),
    compute=of,
    assumptions=("gain_law", "linear_plant", "integrator"),
    source="Schur 1917; Cohn 1922",
    examples=(
        Example({"weights": (Fraction(0), Fraction(1))}, 1.0, "2 sin(pi/6)", 1e-8),
        Example({"weights": (Fraction(1, 2), Fraction(1, 2))}, 2.0, "Jury's conditions", 1e-8),
        Example({"weights": (Fraction(2, 3), Fraction(1, 3))}, 3.0, "Jury's conditions", 1e-8),
    ),
    proofs=(Recheck("enumeration", "exact root counts on both sides", both_sides),),
    telemetry=("sensor chain", "period of decisions"),
    display=(
        r"\sup\left\{ k : z^{q + 1} - z^q + k \sum_i h_i z^{q - i} \text{ has its roots in } \left| z "
        r"\right| < 1 \text{ for all smaller gains} \right\}"
    ),
)
