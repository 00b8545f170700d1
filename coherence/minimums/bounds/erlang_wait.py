"""Erlang's wait: the mean time that a request waits before any of c servers takes it.

## What
C(c, a) / (c/m - rate) for Poisson arrivals at `rate`, exponential service of mean m and one queue, a = rate m < c.

## Why it matters
With these arrivals and services no dispatcher that does not know the service times waits less on average: the queue is
shared and nobody idles beside it.  One that takes short requests first does, so the assumption is named.

## Example
10 servers of mean 1 s, 8 requests/s: 0.205 s.

## Source
A. K. Erlang 1917; optimality: L. Kleinrock, Queueing Systems II, section 3.4 (the conservation law).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._stations import balance, exponential


def birth_death(inputs: Inputs) -> Fraction:
    """Returns the mean number that waits, state by state far beyond the servers, over the rate (Little's law)."""
    servers, rate, mean = int(inputs["servers"]), Fraction(inputs["rate"]), Fraction(inputs["mean"])
    weight, total, waiting = Fraction(1), Fraction(1), Fraction(0)
    number = 0
    while number < servers or weight * 10**14 > total:
        number += 1
        weight = (weight * rate * mean / min(number, servers)).limit_denominator(10**40)
        total += weight
        waiting += weight * max(0, number - servers)
    return waiting / total / rate


BOUND = Bound(
    name="erlang_wait",
    group="queues",
    quantity="mean time of a request in which it is not served",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("servers", "1", "servers", Trend.FALLS, least=1, whole=True, sign="c"),
        Symbol("rate", "req/s", "arrivals per second", Trend.RISES, open_=True, sign=r"\lambda"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, open_=True, sign="m"),
    ),
    formula="erlang_c(servers, rate * mean) / (servers / mean - rate)",
    valid="rate * mean < servers",
    assumptions=("poisson", "exponential", "one_queue", "work_conserving", "blind", "patient", "iid"),
    source="Erlang 1917",
    examples=(
        Example(
            {"servers": Fraction(10), "rate": Fraction(8), "mean": Fraction(1)},
            0.40918015079644354 / 2,
            "Erlang C table: 0.409",
            1e-9,
        ),
    ),
    proofs=(Recheck("identity", "balance equations", balance),),
    witness=Witness("the birth-death chain summed state by state", birth_death),
    telemetry=("arrivals per second", "mean service time"),
    applies=exponential,
)
