"""Kingman's bound: no single server first come first served waits longer than this, on average.

## What
rate (va + vs) / (2 (1 - load)), with the variances of the times between arrivals and of service: an upper bound for any
independent arrivals and services.

## Why it matters
It is told beside the floors, never subtracted: a wait above it refutes independence.

## Example
1 request/s, load 0.8, variances 1 s^2 and 0.64 s^2: at most 4.1 s.

## Source
J. F. C. Kingman, "Some inequalities for the queue GI/G/1", Biometrika 49, 1962.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Quantifier, Status, Symbol, Trend

BOUND = Bound(
    name="kingman",
    group="queues",
    quantity="largest mean wait",
    unit="s",
    kind=Status.UPPER,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("rate", "Hz", "arrivals per second", Trend.RISES, open_=True, sign=r"\lambda"),
        Symbol("load", "1", "load of the server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("arrival_sigma", "s", "standard deviation of the times between arrivals", Trend.RISES),
        Symbol("service_sigma", "s", "standard deviation of the service times", Trend.RISES),
    ),
    formula="rate * (arrival_sigma * arrival_sigma + service_sigma * service_sigma) / (2 * (1 - load))",
    valid="load < 1",
    assumptions=("iid", "fcfs", "work_conserving"),
    source="Kingman 1962",
    examples=(
        Example(
            {
                "rate": Fraction(1),
                "load": Fraction(4, 5),
                "arrival_sigma": Fraction(1),
                "service_sigma": Fraction(4, 5),
            },
            4.1,
            "arithmetic",
        ),
    ),
    telemetry=("times between arrivals", "service times"),
    unread="no key states the spread of times between arrivals beside general services",
)
