"""join the shortest queue: the mean time in the system where each request goes to one of several queues at once.

## What
Of all rules that see every queue none is quicker than to join the shortest one, where servers are alike, services are
exponential and nothing moves later.  Its mean time has no closed form; a chain in which the last request of a queue
that is far too long moves to the shortest one is a little quicker and is solved: that is the floor.  (A move leaves
lengths that are majorised by those before; arrivals at the shortest queue and ends in the k-th longest one keep that.)

## Why it matters
It is what a dispatcher that knows everything can reach; one queue for all servers is quicker still, and the difference
is the price of deciding early.

## Example
2 servers, load 0.9, 1 s: 5.475 s, against 5.263 s with one queue and 10 s by lot.

## Source
W. Winston, "Optimality of the shortest line discipline", J. Appl. Probab. 14(1), 1977; A. Ephremides, P. Varaiya and J.
Walrand, "A simple dynamic routing problem", IEEE Trans. Automatic Control 25(4), 1980; I. Adan, G.-J. van Houtum and J.
van der Wal, "Upper and lower bounds for the waiting time in the symmetric shortest queue system", Ann. Oper. Res. 48,
1994.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._own_queues import MOST, shortest

ROOM = 80  # requests in the chain of the witness
LENGTHS, EVENTS = 10, 14  # of the queues that are decided about


def seconds(inputs: Inputs) -> float:
    """Of the chain in which requests of far longer queues move."""
    servers, mean = int(inputs["servers"]), float(inputs["mean"])
    return mean * shortest(servers, float(inputs["rate"]) * mean / servers)


def by_values() -> Checked:
    """Decides at each pair of lengths which of two queues to join, backwards event by event: always the shorter one."""
    load, size = Fraction(4, 5), EVENTS + LENGTHS
    worth = {(a, b): Fraction(0) for a, b in itertools.product(range(size + 1), repeat=2)}
    for left in range(size, LENGTHS, -1):
        for a, b in itertools.combinations_with_replacement(range(left), 2):
            if worth[a + 1, b] > worth[a, b + 1]:
                return Checked(False, f"lengths {a} and {b}, {size - left} events before the end")
        worth = {(a, b): _cost(worth, a, b, load) for a, b in itertools.product(range(left), repeat=2)}
    return Checked(True, f"the shorter of two queues costs least, at lengths up to {LENGTHS} and for {EVENTS} events")


def _cost(worth: Mapping[tuple[int, int], Fraction], a: int, b: int, load: Fraction) -> Fraction:
    """Returns what is there now, and what is expected after an arrival that joins the best, or an end at a server."""
    joins = min(worth[a + 1, b], worth[a, b + 1])
    ends = worth[max(a - 1, 0), b] + worth[a, max(b - 1, 0)]
    return a + b + (2 * load * joins + ends) / (2 * load + 2)


def queues(inputs: Inputs) -> float:
    """Solves the chain of all lengths, without moves."""
    servers, mean = int(inputs["servers"]), float(inputs["mean"])
    load = float(inputs["rate"]) * mean / servers
    return mean * shortest(servers, load, apart=ROOM)


BOUND = Bound(
    name="join_shortest_time",
    group="queues",
    quantity="mean time in the system",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("servers", "1", "servers, each with its queue", Trend.FALLS, least=1, most=MOST, whole=True, sign="n"),
        Symbol("rate", "req/s", "arrivals per second", Trend.RISES, open_=True, sign=r"\lambda"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, open_=True, sign="m"),
    ),
    compute=seconds,
    valid="rate * mean <= 0.98 * servers",
    assumptions=("poisson", "exponential", "own_queues", "stays_there", "unknown_sizes", "patient", "iid"),
    source="Winston 1977; Ephremides, Varaiya and Walrand 1980; Adan, van Houtum and van der Wal 1994",
    examples=(
        Example({"servers": 2, "rate": Fraction(9, 5), "mean": 1}, 5.4748, "chain of all lengths, solved", 1e-3),
        Example({"servers": 1, "rate": Fraction(1, 2), "mean": 1}, 2.0, "M/M/1", 1e-6),
    ),
    proofs=(Recheck("enumeration", "value iteration over two queues", by_values, ProofGrade.INSTANCES),),
    witness=Witness("the chain of all queue lengths without moves", queues, 1 + 1e-4),
    telemetry=("arrivals per second", "mean service time", "queue lengths"),
    display=(
        r"\frac{1}{\lambda} \, E\left[ L_1 + \dots + L_n \right] \quad \text{of the lengths } L_i \text{ "
        r"where each joins the shortest, at rate } \lambda \text{ and services of mean } m"
    ),
    unread="members of a design share one queue; no key gives each its own",
)
