"""updates with stale readings: how many updates an error takes to fall to 1/e where each reads what is d updates old.

## What
1/log((d + 1)/d), about d + 1/2: of all gains of x[t+1] = x[t] - k x[t-d] none has its slowest root nearer than
d/(d + 1), where two roots meet.  Without staleness one update is enough.  A gain that changes with time does better:
none for d updates, then one of 1, leaves no error.

## Why it matters
It is what staleness costs, of gradients as of readings of a loop: d updates in flight make convergence d times as long,
so that asynchrony gains only where updates get more than d times as frequent (or noise is what limits it).

## Example
8 updates old: 8.49 updates for a factor e.

## Source
Y. Arjevani, O. Shamir and N. Srebro, "A tight convergence analysis for stochastic gradient descent with delayed
updates", ALT 2020 (PMLR 117, 111-132).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._limited import stable


def both_sides() -> Checked:
    """Counts the roots within d/(d + 1) of the origin, for staleness 1 to 6 and gains up to four times the best one.

    On a circle that is smaller by 1 % some root is outside at every gain; on one that is larger by 1 % none is at the
    best gain.
    """
    for d in range(1, 7):
        best = Fraction(d**d, (d + 1) ** (d + 1))
        for radius, gains in ((Fraction(99, 100), range(1, 33)), (Fraction(101, 100), (8,))):
            circle = radius * Fraction(d, d + 1)
            inside = [_within(d, best * part / 8, circle) for part in gains]
            if any(inside) is (radius < 1):
                return Checked(False, f"{d} updates old, radius {float(circle):g}")
    return Checked(True, "exact root counts inside a smaller and a larger circle, staleness 1 to 6")


def _within(delay: int, gain: Fraction, circle: Fraction) -> bool:
    """Returns whether all roots of z^(d+1) - z^d + k lie within a circle, by the count for the unit circle.

    With z = r w the polynomial is w^(d+1) - w^d/r + k/r^(d+1): a first weight of 1 - 1/r beside the late one.
    """
    return stable([1 - 1 / circle, *[Fraction(0)] * (delay - 1), gain / circle ** (delay + 1)], Fraction(1))


BOUND = Bound(
    name="stale_updates",
    group="limited information",
    quantity="updates until an error is 1/e of what it was, in the long run",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("staleness", "1", "how many updates old a reading is", Trend.RISES, least=1, whole=True, sign="d"),
    ),
    formula="1 / log((staleness + 1) / staleness)",
    assumptions=("gain_law", "linear_law", "linear_plant", "integrator"),
    source="Arjevani, Shamir and Srebro 2020",
    examples=(
        Example({"staleness": 1}, 1.4426950408889634, "1/log(2)"),
        Example({"staleness": 8}, 8.490187015703762, "1/log(9/8)"),
    ),
    proofs=(Recheck("enumeration", "exact root counts", both_sides),),
    telemetry=("age of readings", "period of updates"),
)
