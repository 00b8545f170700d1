"""servers for a wait: the fewest servers in one queue at which no more than a share waits.

## What
The least c with C(c, a) <= share: C falls with c, so the number before it waits too often.

## Why it matters
It is the exact floor that square-root staffing approximates; smaller separate pools need more.

## Example
8 Erlang, at most 20 % wait: 12 servers.

## Source
A. K. Erlang 1917; monotone in c: A. Harel 1988.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.bisection import halved, whole_mean
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._stations import waits
from coherence.minimums.functions import erlang_c

MOST = 1_000_000


def fewest(inputs: Inputs) -> int:
    """By doubling and bisection on the monotone C."""
    load, share = inputs["offered"], float(inputs["share"])
    low = int(load)  # waits always (C = 1) or has no server
    high = low + 1
    while erlang_c(high, load) > share:
        low, high = high, min(2 * high, MOST)
    return halved(lambda servers: erlang_c(servers, load) <= share, high, low, middle=whole_mean)[0]


def both_sides() -> Checked:
    """In exact fractions: the number before waits more often than the share, the number itself does not."""
    for load, share in ((8, Fraction(1, 5)), (3, Fraction(1, 100)), (20, Fraction(1, 2))):
        c = fewest({"offered": Fraction(load), "share": share})
        before = waits(c - 1, Fraction(load))[1] if c - 1 > load else Fraction(1)
        if not (waits(c, Fraction(load))[1] <= share < before):
            return Checked(False, f"{load} Erlang, {share}: {c}")
    return Checked(True, "exact fractions on both sides of the number")


BOUND = Bound(
    name="servers_for_wait",
    group="queues",
    quantity="fewest servers",
    unit="1",
    kind=Status.EXACT,
    loss="B",
    symbols=(
        Symbol("offered", "1", "offered load: rate times mean time of service", Trend.RISES, most=200_000.0, sign="a"),
        Symbol("share", "1", "largest share that may wait", Trend.FALLS, most=1.0, open_=True),
    ),
    compute=fewest,
    assumptions=("poisson", "exponential", "one_queue", "work_conserving", "patient", "fcfs", "iid"),
    source="Erlang 1917",
    examples=(Example({"offered": Fraction(8), "share": Fraction(1, 5)}, 12.0, "Erlang C table"),),
    proofs=(Recheck("enumeration", "both sides in exact fractions", both_sides),),
    telemetry=("offered load",),
    display=r"\min\left\{ c : C(c, a) \le \mathrm{share} \right\}",
    unread="no key states which share may wait; wait_beyond is told of time-outs",
)
