"""barrier, mean and variance alone: no independent members wait longer for the last one than this, on average.

## What
E[max of n] <= mean + sigma (n - 1)/sqrt(2 n - 1) for independent members of one law, whatever it is.

## Why it matters
It is an upper bound: told beside the floors, so that a measured wait above it refutes independence or likeness, and
never subtracted from a measurement.

## Example
n = 16, mean 1 s, sigma 0.1 s: at most 1.269 s.

## Source
E. J. Gumbel, Ann. Math. Stat. 25, 1954; H. O. Hartley and H. A. David, same volume.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Quantifier, Status, Symbol, Trend

BOUND = Bound(
    name="barrier_variance",
    group="barriers",
    quantity="largest mean time until the last member is ready",
    unit="s",
    kind=Status.UPPER,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("mean", "s", "mean time of one member", Trend.RISES),
        Symbol("sigma", "s", "standard deviation of one member", Trend.RISES, sign=r"\sigma"),
    ),
    formula="mean + sigma * (n - 1) / sqrt(2 * n - 1)",
    assumptions=("iid",),
    source="Gumbel 1954; Hartley and David 1954",
    examples=(Example({"n": 16, "mean": Fraction(1), "sigma": Fraction(1, 10)}, 1 + 1.5 / 31**0.5, "arithmetic"),),
    telemetry=("mean and variance of the members' times",),
    unread="no key states the law of a member's time; only its range",
)
