"""shortest remaining first: the mean time in the system of given requests at one server, under any order.

## What
At each instant the request with the least work left is served, with interruption; no other order has fewer requests in
the system at any instant, and so none has a smaller mean time.

## Why it matters
It is the floor of every scheduler of one server for the very trace that was measured, also for one that knows all
sizes.

## Example
Requests of 4 s, 1 s and 2 s that come at 0 s, 1 s and 2 s: 3.33 s.

## Source
L. Schrage, "A proof of the optimality of the shortest remaining processing time discipline", Operations Research
16(3), 1968.
"""

from __future__ import annotations

import heapq
import itertools
import math
from fractions import Fraction
from typing import Any, cast

from coherence.base.errors import UsageError
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
    several,
)


def given(inputs: Inputs) -> list[tuple[Fraction, Fraction]]:
    """Returns (arrival, work) of each request.  Raises UsageError for lists that do not fit."""
    arrivals, sizes = several(inputs, "arrivals"), several(inputs, "sizes")
    if not arrivals or len(arrivals) != len(sizes) or min(sizes) <= 0 or min(arrivals) < 0:
        raise UsageError("shortest_first_time takes as many arrivals (0 s or later) as sizes (above 0 s)")
    return sorted(zip(map(Fraction, arrivals), map(Fraction, sizes), strict=True))


def shortest(inputs: Inputs) -> Fraction:
    """Returns the mean time in the system, from one arrival or end to the next."""
    coming, left, now, total = given(inputs), list[Fraction](), Fraction(0), Fraction(0)
    count = len(coming)
    while coming or left:
        now = max(now, coming[0][0]) if not left else now
        while coming and coming[0][0] <= now:
            heapq.heappush(left, coming.pop(0)[1])
        until = min([now + left[0], *(arrival for arrival, _ in coming[:1])])
        total += len(left) * (until - now)
        work = heapq.heappop(left) - (until - now)
        if work > 0:
            heapq.heappush(left, work)
        now = until
    return total / count


def stepped(inputs: Inputs) -> Fraction:
    """Runs the server in steps of the common grain: the request with the least work left gets each of them.

    Raises UsageError for more than 100,000 steps.
    """
    requests = given(inputs)
    grain = Fraction(1, math.lcm(*(x.denominator for pair in requests for x in pair)))
    if sum(work for _, work in requests) / grain > 100_000:
        raise UsageError("the times have no common grain of which 100,000 are enough")
    left, ends, now = [work for _, work in requests], dict[int, Fraction](), Fraction(0)
    while len(ends) < len(requests):
        here = [k for k, (arrival, _) in enumerate(requests) if arrival <= now and left[k] > 0]
        if not here:
            now = min(arrival for k, (arrival, _) in enumerate(requests) if left[k] > 0)
            continue
        served = min(here, key=lambda k: left[k])
        left[served], now = left[served] - grain, now + grain
        if not left[served]:
            ends[served] = now
    return sum((end - requests[k][0] for k, end in ends.items()), Fraction(0)) / len(requests)


def least(requests: tuple[tuple[int, int], ...], now: int = 0) -> int:
    """Returns the least total time in the system over every order in unit steps, idling allowed where nobody waits."""
    here = [k for k, (arrival, work) in enumerate(requests) if arrival <= now and work]
    if not here:
        later = [arrival for arrival, work in requests if work]
        return least(requests, min(later)) if later else 0
    after = (tuple((a, w - (j == k)) for j, (a, w) in enumerate(requests)) for k in here)
    return len(here) + min(least(one, now + 1) for one in after)


def every_order() -> Checked:
    """No order of unit steps has a smaller total, for all works up to 3 of three requests at 0, 0 or 1, and 1 or 2."""
    for arrivals in ((0, 0, 1), (0, 1, 1), (0, 1, 2)):
        for sizes in itertools.product((1, 2, 3), repeat=3):
            mean = shortest({"arrivals": cast("Any", arrivals), "sizes": cast("Any", sizes)})
            if mean * 3 != least(tuple(zip(arrivals, sizes, strict=True))):
                return Checked(False, f"{arrivals}, {sizes}")
    return Checked(True, "81 traces of three requests, every order of unit steps")


BOUND = Bound(
    name="shortest_first_time",
    group="queues",
    quantity="mean time in the system of given requests",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.TRACE,
    loss="A",
    symbols=(
        Symbol("arrivals", "s", "when each request comes", Trend.LIST),
        Symbol("sizes", "s", "work of each request", Trend.LIST),
    ),
    compute=shortest,
    assumptions=("one_at_a_time",),
    source="Schrage 1968",
    examples=(
        Example({"arrivals": (0, 1, 2), "sizes": (4, 1, 2)}, 10 / 3, "by hand: they end at 7, 2 and 4 s"),
        Example({"arrivals": (0, 0), "sizes": (3, 1)}, 2.5, "by hand"),
    ),
    proofs=(Recheck("enumeration", "every order in unit steps, of small traces", every_order),),
    witness=Witness("served step by step", stepped),
    telemetry=("arrivals and work of requests",),
    display=(
        r"\frac{1}{n} \int_0^\infty N(t) \, dt \quad \text{with } N \text{ of the requests } "
        r"(\mathrm{arrivals}_i, \mathrm{sizes}_i) \text{ there, the least work left first}"
    ),
    unread="it is of requests one by one: arrivals=@FILE sizes=@FILE",
)
