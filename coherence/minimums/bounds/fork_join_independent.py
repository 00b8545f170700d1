"""fork-join, independent parts: no fan-out over n exponential queues takes longer than if its parts were independent.

## What
H(n) m/(1 - load): the parts of a request arrive together, so their times are associated and their maximum is smaller
than that of independent times with the same laws.

## Why it matters
It is told beside the floor: what is measured above it refutes exponential parts or Poisson arrivals.

## Example
32 servers at a load of 0.8: 20.3 mean parts.

## Source
R. Nelson and A. Tantawi, "Approximate analysis of fork/join synchronization in parallel queues", IEEE TC 37, 1988.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def two_servers() -> Checked:
    """For two servers: 3/2 >= (12 - load)/8 at every load, by sympy."""
    import sympy as sp

    load = sp.symbols("rho", nonnegative=True)
    return Checked(bool(sp.simplify(sp.Rational(3, 2) - (12 - load) / 8).is_nonnegative), "above the exact value")


BOUND = Bound(
    name="fork_join_independent",
    group="queues",
    quantity="largest mean time of a request with n parts",
    unit="s",
    kind=Status.UPPER,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "servers that each do one part", Trend.RISES, least=1, whole=True),
        Symbol("load", "1", "load of each server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("mean", "s", "mean time of a part", Trend.RISES, sign="m"),
    ),
    formula="harmonic(n) * mean / (1 - load)",
    valid="load < 1",
    assumptions=("poisson", "exponential", "iid", "own_queues", "fcfs"),
    source="Nelson and Tantawi 1988",
    examples=(
        Example({"n": Fraction(2), "load": Fraction(1, 2), "mean": Fraction(1)}, 3.0, "arithmetic"),
        Example({"n": Fraction(1), "load": Fraction(1, 2), "mean": Fraction(1)}, 2.0, "M/M/1"),
    ),
    proofs=(Recheck("identity", "two servers", two_servers),),
    telemetry=("arrivals per second", "times of the parts"),
    unread="members of a design share one queue; no key gives each its own",
)
