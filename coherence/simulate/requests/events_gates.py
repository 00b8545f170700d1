"""Handles gates in the event loop: limits on tries that a route sends in a window, buckets of tokens, and retries."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    BUDGET_OF,
    FLOOR,
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
    MOST_RETRIES,
    N_FIRST,
    N_HELD,
    N_LIVE,
    NO_BUDGET,
    NOTHING,
    NOW,
    OF_FIRST,
    PACED,
    PACED_BASE,
    PACED_FIRST,
    PACED_FLOOR,
    PACED_RETRIES,
    PACED_RING,
    PACED_SENDS,
    PACED_SHARE,
    PACED_SLICE,
    SHARE,
    SLICES,
    Floats,
    Ints,
)

WHOLE = 1e-9  # of a token or retry: sums and products of floats that are whole for people are whole here


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


@inlined
def may_retry(n: Ints, x: Floats, route: int) -> bool:
    """Returns whether the breaker of retries and the budgets of a route let one more be in flight, and take it.

    The try that has just failed still counts in what is in flight (measured on Envoy 1.40, answers and time-outs).
    """
    if n[route + N_HELD] + 1 > x[route + MOST_RETRIES]:
        return False
    kind = n[route + BUDGET_OF]
    if kind != NO_BUDGET:
        base = n[route + N_FIRST] if kind == OF_FIRST else n[route + N_LIVE] + 1
        if n[route + N_HELD] + 1 > max(x[route + FLOOR], x[route + SHARE] * base):
            return False
    return n[route + PACED] == NOTHING or _within_window(n, x, n[route + PACED])


@inlined
def note_send(n: Ints, x: Floats, route: int, first: bool) -> None:
    """A send counts in the budget of a window, if the route has one: each, or first tries alone."""
    own = n[route + PACED]
    if own != NOTHING and (first or n[own + PACED_FIRST] == 0):
        _go_on(n, x, own)
        n[own + PACED_SENDS] += 1
        n[own + PACED_RING + 2 * (n[own + PACED_SLICE] % SLICES)] += 1


@inlined
def _within_window(n: Ints, x: Floats, own: int) -> bool:
    """Returns whether a window has room for one more retry, and counts it there."""
    _go_on(n, x, own)
    if n[own + PACED_RETRIES] + 1 > max(x[own + PACED_FLOOR], x[own + PACED_SHARE] * n[own + PACED_SENDS]) + WHOLE:
        return False
    n[own + PACED_RETRIES] += 1
    n[own + PACED_RING + 2 * (n[own + PACED_SLICE] % SLICES) + 1] += 1
    return True


@inlined
def _go_on(n: Ints, x: Floats, own: int) -> None:
    """Leaves what was counted longer ago than a window, slice by slice."""
    now = int(x[NOW] / x[own + PACED_BASE])
    for _ in range(min(now - n[own + PACED_SLICE], SLICES)):
        n[own + PACED_SLICE] += 1
        place = own + PACED_RING + 2 * (n[own + PACED_SLICE] % SLICES)
        n[own + PACED_SENDS] -= n[place]
        n[own + PACED_RETRIES] -= n[place + 1]
        n[place], n[place + 1] = 0, 0
    n[own + PACED_SLICE] = now
