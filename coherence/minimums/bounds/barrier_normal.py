"""barrier, normal members: the mean time until the last of n independent normal members is ready.

## What
mean + sigma e(n); e(n), the mean of the largest of n standard normals, is the integral of n x phi(x) Phi(x)^(n-1).

## Why it matters
Collectives wait for the slowest of many ranks; e(n) grows like sqrt(2 log n), which no schedule avoids while the spread
is there.

## Example
1,024 members, mean 0, sigma 1: 3.2482.

## Source
H. L. Harter, "Expected values of normal order statistics", Biometrika 48, 1961.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend

CLOSED = {1: 0.0, 2: 1 / math.sqrt(math.pi), 3: 1.5 / math.sqrt(math.pi)}


def largest(inputs: Inputs) -> float:
    """mean + sigma e(n)."""
    from coherence.simulate.jobs.closed_forms import normal_excess

    return float(inputs["mean"]) + float(inputs["sigma"]) * normal_excess(int(inputs["n"]))


def closed_forms() -> Checked:
    """e(1) = 0, e(2) = 1/sqrt(pi) and e(3) = 3/(2 sqrt(pi)), and e(5) by Bose and Gupta's form, to 1e-10."""
    from coherence.simulate.jobs.closed_forms import normal_excess

    five = 5 / (4 * math.sqrt(math.pi)) + 15 / (2 * math.pi**1.5) * math.asin(1 / 3)
    known = {**CLOSED, 5: five}
    worst = max(abs(normal_excess(n) - value) for n, value in known.items())
    return Checked(worst < 1e-10, f"the integral agrees with the closed forms for n = 1, 2, 3, 5 within {worst:.1e}")


BOUND = Bound(
    name="barrier_normal",
    group="barriers",
    quantity="mean time until the last member is ready",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("mean", "s", "mean time of one member", Trend.RISES),
        Symbol("sigma", "s", "standard deviation of one member", Trend.RISES),
    ),
    compute=largest,
    assumptions=("iid", "normal"),
    source="Harter 1961",
    examples=(
        Example({"n": 1024, "mean": Fraction(0), "sigma": Fraction(1)}, 3.2482396013754133, "Harter's integral", 1e-8),
    ),
    proofs=(Recheck("identity", "closed forms for small n", closed_forms),),
    telemetry=("times of the members in each step",),
    display=r"\mathrm{mean} + \mathrm{sigma} \int_{-\infty}^\infty x \; d\, \Phi(x)^n",
    unread="no key states the law of a member's time; only its range",
)
