"""tokens with a kept prefix: the price of a run when what was sent before is read from a cache.

## What
Each new token is written once at w times the price of an input token, each re-sent one is read at r times:
w u + r (T - u), with u new tokens of T in all.

## Why it matters
It is what a prompt cache leaves of the cost of re-sending; the floor stays u.

## Example
u = 17,200, T = 192,000, w = 1.25, r = 0.1: 38,980 token prices.

## Source
Multipliers as a provider publishes them (write 1.25, read 0.1).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="tokens_cached",
    group="agents",
    quantity="price of a run in input tokens",
    unit="token",
    kind=Status.CLASS_COST,
    loss="C",
    symbols=(
        Symbol("new", "token", "tokens that are new", Trend.RISES, sign="u"),
        Symbol("sent", "token", "tokens that are sent in all", Trend.RISES, sign="T"),
        Symbol("write", "1", "price of writing a token to the cache", Trend.RISES, sign="w"),
        Symbol("read", "1", "price of reading a token from the cache", Trend.RISES, most=1.0, sign="r"),
    ),
    formula="write * new + read * (sent - new)",
    valid="sent >= new and write >= read",
    assumptions=("stateless_api",),
    source="published multipliers",
    examples=(
        Example(
            {"new": Fraction(17200), "sent": Fraction(192000), "write": Fraction(5, 4), "read": Fraction(1, 10)},
            38980.0,
            "step trace",
        ),
    ),
    telemetry=("cached and new tokens of the bill",),
    unread="no key states what a cached token costs",
)
