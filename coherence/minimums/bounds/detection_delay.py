"""detection delay: how long a change goes unseen, in the worst case, by any alarm with a given rate of false alarms.

## What
With a mean of `false_alarms` readings between false alarms and `information` nats per reading, no alarm on independent
normal readings has a smaller worst mean delay than (h - 1 + exp(-h))/information - 1, where exp(h) - h - 1 =
information * false_alarms.  It is Page's test on the continuous path that the readings are taken from; the last 1 is
for the change that falls between two readings.

## Why it matters
Delay grows like the logarithm of the quiet that is wanted; a quicker alarm needs more informative or more frequent
readings.

## Example
0.5 nat per reading (a shift of one standard deviation), a false alarm every 1,000 readings: 9.4 readings.

## Source
E. Page 1954; G. Moustakides, Ann. Stat. 14, 1986; A. Shiryaev 1996 and M. Beibel 1996 for the continuous path.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.detection import page_threshold


def delay(inputs: Inputs) -> float:
    """Readings; at least none."""
    information = float(inputs["information"])
    h = page_threshold(information, float(inputs["false_alarms"]))
    return max(0.0, (h + math.expm1(-h)) / information - 1)


def diffusion() -> Checked:
    """Mean times to height h of a path of drift -+D and variance 2 D, held at 0: D f'' -+ D f' = -1, by sympy."""
    import sympy as sp

    x, h, d = sp.symbols("x h D", positive=True)
    before = (sp.exp(h) - h - 1 - (sp.exp(x) - x - 1)) / d
    after = (sp.exp(-h) + h - 1 - (sp.exp(-x) + x - 1)) / d
    for f, sign in ((before, -1), (after, 1)):
        equation = sp.simplify(d * sp.diff(f, x, 2) + sign * d * sp.diff(f, x) + 1)
        if equation != 0 or sp.diff(f, x).subs(x, 0) != 0 or sp.simplify(f.subs(x, h)) != 0:
            return Checked(False, f"drift {sign}")
    return Checked(True, "mean times to the height with and without a change, by sympy")


BOUND = Bound(
    name="detection_delay",
    group="detection",
    quantity="worst mean readings until a change is seen",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(
        Symbol("information", "1", "divergence of one reading, nats", Trend.FALLS, open_=True, sign="D"),
        Symbol("false_alarms", "1", "mean readings between two false alarms", Trend.RISES, open_=True, sign=r"\gamma"),
    ),
    compute=delay,
    assumptions=("gaussian_readings", "known_laws", "uniform_samples"),
    source="Page 1954; Moustakides 1986; Shiryaev 1996",
    examples=(
        Example(
            {"information": Fraction(1, 2), "false_alarms": 2 * (math.e**5 - 6)},
            2 * (4 + math.exp(-5)) - 1,
            "height 5",
        ),
    ),
    proofs=(Recheck("identity", "mean times of the held path", diffusion),),
    telemetry=("law of readings before and after a change", "false alarms"),
    display=r"\max\left( 0, \frac{h + e^{-h} - 1}{D} - 1 \right), \quad e^h - h - 1 = D \, \gamma",
    unread="no key states by how much a change moves a reading",
)
