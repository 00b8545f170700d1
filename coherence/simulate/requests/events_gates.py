"""Handles gates in the event loop: limits on how many tries a route sends in a window, and buckets of tokens."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    GATE_COUNT,
    GATE_FILLED,
    GATE_MOST,
    GATE_NUMBER,
    GATE_RATE,
    GATE_SINCE,
    GATE_WAITS,
    GATE_WINDOW,
    GATES,
    NOTHING,
    NOW,
    Floats,
    Ints,
)

WHOLE = 1e-9  # of a token: sums of floats that are a token for people are one here


@inlined
def let_through(n: Ints, x: Floats, route: int, hedge: bool) -> float:
    """Returns when all gates of a route let a try through: now, later (no second copy waits), or never.

    Each gate before the one that refuses counts it.
    """
    gates, latest = n[route + GATES], x[NOW]
    if gates == NOTHING:
        return latest  # type: ignore[no-any-return]
    for number in range(n[gates]):
        gate = n[gates + 1 + number]
        passes = by_window(n, x, gate, hedge) if x[gate + GATE_WINDOW] > 0 else by_tokens(x, gate)
        latest = max(latest, passes)
        if latest == float("inf"):
            return latest  # type: ignore[no-any-return]
    return latest  # type: ignore[no-any-return]


@inlined
def by_window(n: Ints, x: Floats, gate: int, hedge: bool) -> float:
    """Returns now where the window that runs has room, the start of the next that has where tries wait, else never."""
    number = int(x[NOW] / x[gate + GATE_WINDOW])
    if n[gate + GATE_NUMBER] < number:
        n[gate + GATE_NUMBER], n[gate + GATE_COUNT] = number, 0
    if n[gate + GATE_COUNT] + 1 > x[gate + GATE_MOST]:
        if hedge or not n[gate + GATE_WAITS]:
            return float("inf")
        n[gate + GATE_NUMBER] += 1
        n[gate + GATE_COUNT] = 0
    n[gate + GATE_COUNT] += 1
    return max(x[NOW], n[gate + GATE_NUMBER] * x[gate + GATE_WINDOW])  # type: ignore[no-any-return]


@inlined
def by_tokens(x: Floats, gate: int) -> float:
    """Returns now where a token is left, else never: what is refused takes none."""
    fills = x[gate + GATE_FILLED] + (x[NOW] - x[gate + GATE_SINCE]) * x[gate + GATE_RATE]
    x[gate + GATE_FILLED], x[gate + GATE_SINCE] = min(x[gate + GATE_MOST], fills), x[NOW]
    if x[gate + GATE_FILLED] < 1 - WHOLE:
        return float("inf")
    x[gate + GATE_FILLED] -= 1
    return x[NOW]  # type: ignore[no-any-return]
