"""dispatch without messages: the mean time in the system where the dispatcher hears nothing of the queues.

## What
m/(1 - s) with s = (n r/(n r + 1 - s))^n, for n servers alike, each with its queue, at load r: requests that go to the
servers in turn.  No rule that knows its own past decisions and the times of arrivals alone is quicker, however much it
remembers; with messages about the queues the floor is that of joining the shortest one.

## Why it matters
The difference of the two floors is what messages of load can buy at most; lots instead of turns lose more than this.
How many messages and how much memory suffice for no wait at all is known for many servers only (Gamarnik, Tsitsiklis
and Zubeldia 2018: growth rates, no number for n servers), so it has no floor here.

## Example
2 servers, load 0.9, 1 s: 7.59 s; with lots 10 s, with all lengths known 5.47 s.

## Source
A. Ephremides, P. Varaiya and J. Walrand, "A simple dynamic routing problem", IEEE Trans. Automatic Control 25(4), 1980
(two servers); Z. Liu and D. Towsley, "Optimality of the round-robin routing policy", J. Appl. Probab. 31(2), 1994; D.
Gamarnik, J. Tsitsiklis and M. Zubeldia, "Delay, memory, and messaging tradeoffs in distributed service systems",
Stochastic Systems 8(1), 2018.
"""

from __future__ import annotations

import itertools
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
from coherence.minimums.bounds._own_queues import in_turn


def seconds(inputs: Inputs) -> float:
    """Of requests that go to the servers in turn."""
    servers, mean = int(inputs["servers"]), float(inputs["mean"])
    return mean * in_turn(servers, float(inputs["rate"]) * mean / servers)


def every_word() -> Checked:
    """Sends six requests to two servers in every order, from empty queues: none has them wait less than in turn.

    Gaps of arrivals are given (equal ones, and two others); the mean lengths at each arrival are exact, event by event.
    """
    for gaps in ((1,) * 5, (2, 1, 3, 1, 2), (0, 4, 0, 4, 0)):
        costs = {word: _waits(word, gaps) for word in itertools.product((0, 1), repeat=6)}
        if min(costs.values()) < costs[0, 1, 0, 1, 0, 1]:
            return Checked(False, f"gaps {gaps}: {min(costs, key=lambda word: costs[word])}")
    return Checked(True, "all 64 orders of six requests to two servers, at three sequences of gaps")


def _waits(word: tuple[int, ...], gaps: tuple[int, ...]) -> Fraction:
    """Returns how many requests are found by the arrivals at their servers, on average; in a gap a server that is busy
    ends a request with chance 1/2 in each unit of time.
    """
    lengths: list[dict[int, Fraction]] = [{0: Fraction(1)}, {0: Fraction(1)}]
    total = Fraction(0)
    for server, gap in zip(word, (*gaps, 0), strict=True):
        total += sum((length * chance for length, chance in lengths[server].items()), Fraction(0))
        lengths[server] = {length + 1: chance for length, chance in lengths[server].items()}
        for _ in range(gap):
            lengths = [_step(chances) for chances in lengths]
    return total


def _step(chances: dict[int, Fraction]) -> dict[int, Fraction]:
    after: dict[int, Fraction] = {}
    for length, chance in chances.items():
        for left in (length, max(0, length - 1)):
            after[left] = after.get(left, Fraction(0)) + chance / 2
    return after


def turns(inputs: Inputs) -> float:
    """Solves the chain of one server that every n-th arrival goes to: how many came since the last, and its length."""
    from coherence.minimums.bounds._stationary import stationary

    servers, mean = int(inputs["servers"]), float(inputs["mean"])
    rate = float(inputs["rate"]) * mean
    room = math.ceil(math.log(1e-12) / math.log(rate / servers)) + 2

    def moves(state: tuple[int, int]) -> list[tuple[tuple[int, int], float]]:
        turn, length = state
        joined = (turn + 1, length) if turn + 1 < servers else (0, min(length + 1, room))
        return [(joined, rate), *([((turn, length - 1), 1.0)] if length else [])]

    return mean * servers * math.fsum(length * share for (_, length), share in stationary((0, 0), moves).items()) / rate


BOUND = Bound(
    name="blind_dispatch_time",
    group="queues",
    quantity="mean time in the system",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("servers", "1", "servers, each with its queue", Trend.FALLS, least=1, whole=True, sign="n"),
        Symbol("rate", "req/s", "arrivals per second", Trend.RISES, open_=True, sign=r"\lambda"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, open_=True, sign="m"),
    ),
    compute=seconds,
    valid="rate * mean < servers",
    assumptions=(
        "poisson",
        "exponential",
        "own_queues",
        "no_reports",
        "stays_there",
        "unknown_sizes",
        "patient",
        "iid",
    ),
    source="Ephremides, Varaiya and Walrand 1980; Liu and Towsley 1994; Gamarnik, Tsitsiklis and Zubeldia 2018",
    examples=(
        Example({"servers": 1, "rate": Fraction(1, 2), "mean": 1}, 2.0, "M/M/1"),
        Example({"servers": 2, "rate": 1, "mean": 1}, 1.618033988749895, "s = 1/(2 - s)^2: (3 - 5^(1/2))/2"),
    ),
    without={"no_reports": "join_shortest_time"},
    proofs=(Recheck("enumeration", "every order of six requests", every_word),),
    witness=Witness("the chain of one server that is served in turn", turns, 1 + 1e-6),
    telemetry=("arrivals per second", "mean service time"),
    display=r"\frac{m}{1 - s}, \quad s = \left( \frac{\lambda m}{\lambda m + 1 - s} \right)^n",
    unread="members of a design share one queue; no key gives each its own",
)
