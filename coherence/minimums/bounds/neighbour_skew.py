"""skew of neighbours: how far clocks of two linked members can be apart that are corrected without jumps.

## What
a u/4 (2 + k) with k the largest number of times that b = max(2, 2 (c - a)/(a e)) divides the D links of the longest
shortest way (rounded up, and down): clocks are corrected to run between the rates a and c, hardware drifts by e, delays
are uncertain by u.  Delays hide a skew of a u/2 a link on a whole way; while it is corrected, at no more than c - a,
the same happens on the b-th part of the way that is skewed most, and so on down to one link.  While a member runs
faster, what it hears over a link comes e (d + u/2) sooner, with d the least delay: that must leave room for u/2.

## Why it matters
Neighbours (two ends of one link, two stages of one pipeline) are not as near as their own link alone would allow:
it grows with the size of the network.

## Example
Rates 1 to 1.02, drift 1 %, 1 ms, 256 links: b = 4, k = 4, so 1.5 ms.

## Source
R. Fan and N. Lynch, "Gradient clock synchronization", Distributed Computing 18(4), 2006; C. Lenzen, T. Locher and R.
Wattenhofer, "Tight bounds for clock synchronization", J. ACM 57(2), 2010 (the same growth; the constants here are those
of the proof that is told above: its step is proved by a solver).
"""

from __future__ import annotations

import math
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
)
from coherence.minimums.bounds._inductions import refuted


def seconds(inputs: Inputs) -> Fraction:
    """Of the parts down to one link."""
    links, uncertainty, slow, fast, drift = (Fraction(inputs[name]) for name in NAMES)
    part, parts = max(2, math.ceil(2 * (fast - slow) / (slow * drift))), 0
    while part ** (parts + 1) <= links:
        parts += 1
    return slow * uncertainty / 4 * (2 + parts)


def next_part() -> Checked:
    """A way of b parts has a skew of s a part.  While the skew of one part is prepared (u/2e seconds a link), the rest
    corrects at c - a; the most skewed part then gains a u/2: less than s + a u/4 on it is unsat.  Also the first way.
    """
    names = ("b", "s", "a", "c", "e", "u", "most")
    given = ("(>= b 2.0)", "(> a 0.0)", "(>= c a)", "(> e 0.0)", "(>= u 0.0)")
    step = ("(>= (* b (* a e)) (* 2.0 (- c a)))",
            "(>= (* 2.0 (* e (* b most))) (- (* 2.0 (* e (* b s))) (* (- c a) u)))",
            "(< (+ most (/ (* a u) 2.0)) (+ s (/ (* a u) 4.0)))")  # fmt: skip
    first = ("(>= s 0.0)", "(= most (+ s (/ (* a u) 2.0)))", "(< most (/ (* a u) 2.0))")
    return refuted("the most skewed part of a way that is being corrected", "QF_NRA", names, (*given, *step),
                   (*given, *first))  # fmt: skip


NAMES = ("links", "uncertainty", "slowest", "fastest", "drift")
BOUND = Bound(
    name="neighbour_skew",
    group="consistency",
    quantity="least skew of two linked clocks that can be guaranteed",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol(
            "links", "1", "links of the longest shortest way of the network", Trend.RISES, least=1, whole=True, sign="D"
        ),
        Symbol("uncertainty", "s", "how far the delay of a message over one link is uncertain", Trend.RISES, sign="u"),
        Symbol("slowest", "1", "slowest rate of a corrected clock", Trend.RISES, open_=True, most=1.0, sign="a"),
        Symbol("fastest", "1", "fastest rate of a corrected clock", Trend.FALLS, least=1.0, sign="c"),
        Symbol("drift", "1", "how much faster than time hardware may run", Trend.RISES, open_=True, most=1.0, sign="e"),
    ),
    compute=seconds,
    assumptions=("messages_only", "unicast", "unrelated_delays", "bounded_rates", "slow_drift"),
    source="Fan and Lynch 2006; Lenzen, Locher and Wattenhofer 2010",
    examples=(
        Example(
            {"links": 256, "uncertainty": Fraction(1, 1000), "slowest": 1, "fastest": Fraction(102, 100),
             "drift": Fraction(1, 100)},
            0.0015, "4 divides 256 four times",
        ),
        Example({"links": 1, "uncertainty": 1, "slowest": 1, "fastest": 2, "drift": 1}, 0.5, "one link: u/2"),
    ),
    proofs=(Recheck("smt", "one part of a way after another", next_part, ProofGrade.UNIVERSAL),),
    telemetry=("clock skew", "delays of messages", "drift of clocks"),
    display=(
        r"\frac{a u}{4} \left( 2 + \max\left\{ k : b^k \le D \right\} \right), \quad b = \max\left( 2, "
        r"\left\lceil \frac{2 (c - a)}{a e} \right\rceil \right)"
    ),
    unread="no key states by how much clocks drift and how fast they are corrected",
)  # fmt: skip
