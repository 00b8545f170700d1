"""Handles gates in the event loop: limits on how many tries a route sends in a window, and buckets of tokens."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    GATE_COUNTS,
    GATE_FILLED,
    GATE_MOST,
    GATE_NEXT,
    GATE_PLACES,
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

    What a gate lets through counts there, also where a later one refuses it.
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
    """Returns now where the window up to now has room, when it has where tries wait, else never.

    Each place is taken for the length of a window from when a try passes; places are taken in turn.
    """
    places = int(x[gate + GATE_MOST])
    if places == 0:
        return float("inf")
    own = n[gate + GATE_PLACES] + n[gate + GATE_NEXT]
    passes = max(x[NOW], x[own] + x[gate + GATE_WINDOW])
    refused = passes > x[NOW] and (hedge or n[gate + GATE_WAITS] == 0)
    if not refused or n[gate + GATE_COUNTS]:
        x[own] = x[NOW] if refused else passes
        n[gate + GATE_NEXT] = (n[gate + GATE_NEXT] + 1) % places
    return float("inf") if refused else passes


@inlined
def by_tokens(x: Floats, gate: int) -> float:
    """Returns now where a token is left, else never: what is refused takes none."""
    fills = x[gate + GATE_FILLED] + (x[NOW] - x[gate + GATE_SINCE]) * x[gate + GATE_RATE]
    x[gate + GATE_FILLED], x[gate + GATE_SINCE] = min(x[gate + GATE_MOST], fills), x[NOW]
    if x[gate + GATE_FILLED] < 1 - WHOLE:
        return float("inf")
    x[gate + GATE_FILLED] -= 1
    return x[NOW]  # type: ignore[no-any-return]
