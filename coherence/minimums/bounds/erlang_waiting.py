"""Erlang's delay: the share of requests that find all c servers busy and wait.

## What
C(c, a) for Poisson arrivals, exponential service and one queue, with a the rate times the mean time of service.

First come first served: a newcomer that interrupts others waits more rarely, and they do.

## Why it matters
It is what a promise "most requests start at once" costs in servers; it does not depend on the order of the queue.

## Example
10 servers, 8 Erlang: 40.9 %.

## Source
A. K. Erlang 1917.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._stations import balance, waits


def states(inputs: Inputs) -> Fraction:
    """Returns the share of time with every server busy, state by state (arrivals of a Poisson process see time
    averages).
    """
    return waits(int(inputs["servers"]), Fraction(inputs["offered"]))[1]


BOUND = Bound(
    name="erlang_waiting",
    group="queues",
    quantity="share of requests that wait",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("servers", "1", "servers", Trend.FALLS, least=1, whole=True, sign="c"),
        Symbol("offered", "1", "offered load: rate times mean time of service", Trend.RISES, sign="a"),
    ),
    formula="erlang_c(servers, offered)",
    assumptions=("poisson", "exponential", "one_queue", "work_conserving", "patient", "fcfs", "iid"),
    source="Erlang 1917",
    examples=(
        Example({"servers": Fraction(10), "offered": Fraction(8)}, 0.40918015079644354, "Erlang C table: 0.409"),
    ),
    proofs=(Recheck("identity", "balance equations", balance),),
    witness=Witness("the birth-death chain, state by state", states),
    telemetry=("arrivals per second", "mean service time"),
    unread="erlang_wait and wait_beyond are told of a design's queues",
)
