"""wait without variability: the mean wait at one server that only irregular arrivals cause.

## What
Of all services with mean m at load rho, constant times wait least: rho m / (2 (1 - rho)), half of what exponential ones
wait (Pollaczek and Khinchine with a variance of zero).

## Why it matters
Making service times regular cannot bring the wait of Poisson arrivals below it, first come first served; an order that
knows the service times can.

## Example
rho = 0.8, m = 1 s: 2 s.

## Source
F. Pollaczek 1930; A. Khinchine 1932; the minimum over service laws is at zero variance.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)

MOST = 2_000  # states


def least_variance() -> Checked:
    """rho m (1 + v)/(2 (1 - rho)) grows with the squared coefficient of variation v >= 0, by sympy."""
    import sympy as sp

    load, mean, v = sp.symbols("rho m v", positive=True)
    wait = load * mean * (1 + v) / (2 * (1 - load))
    slope = sp.simplify(sp.diff(wait, v) * (1 - load))
    return Checked(bool(slope.is_positive), "the wait rises with the variance: least at none")


def departures(inputs: Inputs) -> float:
    """Returns the chain of the numbers left behind at departures, state by state; its mean gives the wait by Little's
    law.
    """
    load, mean = float(inputs["load"]), float(inputs["mean"])
    arrivals = [math.exp(-load)]  # Poisson, during one constant service
    state, weight, seen, total = [1 - load], 0.0, 1 - load, 1
    while seen < 1 - 1e-13 and total < MOST:
        arrivals.append(arrivals[-1] * load / total)
        n = total - 1
        above = state[n] - state[0] * arrivals[n] - sum(state[k] * arrivals[n - k + 1] for k in range(1, n + 1))
        state.append(above / arrivals[0])
        weight += total * state[-1]
        seen += state[-1]
        total += 1
    return (weight - load) * mean / load


BOUND = Bound(
    name="wait_without_variability",
    group="queues",
    quantity="mean wait",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("load", "1", "load of the server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, open_=True, sign="m"),
    ),
    formula="load * mean / (2 * (1 - load))",
    valid="load < 1",
    assumptions=("poisson", "work_conserving", "fcfs", "patient", "iid"),
    source="Pollaczek 1930; Khinchine 1932",
    examples=(Example({"load": Fraction(4, 5), "mean": Fraction(1)}, 2.0, "M/D/1"),),
    proofs=(Recheck("identity", "least at zero variance", least_variance),),
    witness=Witness("the chain of queue lengths at departures, summed", departures, 1 + 1e-6),
    telemetry=("arrivals per second", "service times"),
    unread="single_server_wait has the spread that a design states",
)
