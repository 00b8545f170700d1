"""waits beyond a time: the share of requests that wait longer than a time at servers with one queue.

## What
C(c, a) exp(-(c - a) t/m): of those that wait, the wait is exponential with the rate of the spare capacity.

## Why it matters
Promises are about quantiles of waits; this is how many servers a promise of one takes.

## Example
10 servers, 8 Erlang, 1 s of work, longer than 1 s: 5.5 %.

## Source
A. K. Erlang 1917; S. Borst, A. Mandelbaum and M. Reiman, Operations Research 52(1), 2004 (staffing).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._stations import limited


def phases() -> Checked:
    """For one server: k requests before it, with share (1 - a) a^k, are k exponential phases; their tails add up to
    a exp(-(1 - a) t), by the transform of both sides."""
    import sympy as sp

    a, s = sp.symbols("a s", positive=True)
    waits = (1 - a) / (1 - a / (1 + s))  # transform of the wait, summed over k
    claim = (1 - a) + a * (1 - a) / (1 - a + s)
    return Checked(sp.simplify(waits - claim) == 0, "one server at every load below one")


def given(servers: int, offered: Fraction, wait: int) -> Inputs:
    """Returns the numbers of an example with a second of work."""
    return {"servers": servers, "offered": offered, "mean": Fraction(1), "wait": wait}


BOUND = Bound(
    name="wait_beyond",
    group="queues",
    quantity="share of requests that wait longer",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("servers", "1", "servers", Trend.FALLS, least=1, most=1e5, whole=True, sign="c"),
        Symbol("offered", "1", "mean number of busy servers", Trend.RISES, sign="a"),
        Symbol("mean", "s", "mean work of a request", Trend.RISES, open_=True, sign="m"),
        Symbol("wait", "s", "wait that is promised", Trend.FALLS, sign="t"),
    ),
    formula="erlang_c(servers, offered) * exp(-(servers - offered) * wait / mean)",
    valid="offered < servers",
    assumptions=(
        "poisson",
        "exponential",
        "fcfs",
        "one_queue",
        "patient",
        "work_conserving",
        "iid",
    ),
    source="Erlang 1917; Borst, Mandelbaum and Reiman 2004",
    examples=(
        Example(
            {"servers": 1, "offered": Fraction(1, 2), "mean": Fraction(1), "wait": Fraction(2)},
            0.18393972058572117,
            "exp(-1)/2",
        ),
        Example(
            {"servers": 10, "offered": Fraction(8), "mean": Fraction(1), "wait": Fraction(0)},
            0.4091800903019979,
            "those that wait",
            1e-3,
        ),
    ),
    proofs=(Recheck("identity", "phases of one server", phases),),
    telemetry=("waits", "load"),
    applies=limited,
)
