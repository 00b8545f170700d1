"""Handles calls in the event loop: what follows when a try fails (retries, budgets, pauses), and their end."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_gates import may_retry
from coherence.simulate.requests.events_layout import (
    BASE,
    C_CLASS,
    C_HOLDS,
    C_KIND,
    C_LIVE,
    C_ONE,
    C_OWNER,
    C_PAUSE,
    C_ROOT,
    C_ROUND,
    C_ROUTE,
    C_TWO,
    CALL_TIMER,
    CALLS,
    CALLS_FREE,
    CALLS_LEFT,
    CAP,
    CAUSE,
    COMPLETED,
    D_NEXT,
    D_PREV,
    DECORRELATED,
    DENIED,
    DISTINCT_PAUSES,
    ENDED,
    FALLBACK,
    H_NEXT,
    H_PREV,
    HEDGE_TIMER,
    JITTER,
    JITTER_STREAM,
    LEAST,
    MOST,
    N_DENIED,
    N_DROPPED,
    N_GAVE_UP,
    N_HELD,
    N_OPEN,
    N_SUCCEEDED,
    NO_JITTER,
    NOTHING,
    NOW,
    OPEN,
    OUTSIDE,
    PAUSES,
    RETRIED,
    RETRY,
    RETRY_ON,
    S_NEXT,
    S_PREV,
    SPREAD,
    STAMP,
    TRIES,
    TRY,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_owners import joined, open_call
from coherence.simulate.requests.events_stations import called_on
from coherence.simulate.requests.events_tables import at_once, draw, free_row, remove, schedule, tell
from coherence.simulate.requests.events_tries import give_up


@inlined
def fail(n: Ints, x: Floats, row: int, cause: int) -> None:
    """One copy of a try failed.  When no other is on its way: another try, or the end of the call."""
    n[row + C_LIVE] -= 1
    if n[row + C_LIVE] > 0:
        return
    leave_hedges(n, row)
    route = n[row + C_ROUTE]
    let_go(n, row)
    if n[row + C_ROUND] >= n[route + TRIES] or not (n[route + RETRY_ON] >> cause) & 1:
        at_once(n, ENDED, row, n[row + STAMP], cause)
    elif not may_retry(n, x, route):
        n[route + N_DENIED] += 1
        tell(n, x, DENIED, route, n[row + C_ROOT], n[row + C_ROUND], cause, 0)
        at_once(n, ENDED, row, n[row + STAMP], cause)
    else:
        n[row + C_HOLDS] = 1
        n[route + N_HELD] += 1
        tell(n, x, RETRIED, route, n[row + C_ROOT], n[row + C_ROUND], cause, 0)
        schedule(n, x, x[NOW] + pause_of(n, x, row, route), RETRY, row, n[row + STAMP])


@inlined
def pause_of(n: Ints, x: Floats, row: int, route: int) -> float:
    """Returns the pause before the next try, with jitter."""
    kind = n[route + JITTER]
    pause = x[route + PAUSES + min(n[row + C_ROUND], DISTINCT_PAUSES) - 1]
    if kind == NO_JITTER:
        return pause  # type: ignore[no-any-return]
    unit = draw(n, x, n[route + JITTER_STREAM])
    if kind == SPREAD:
        return pause * (x[route + LEAST] + (x[route + MOST] - x[route + LEAST]) * unit)  # type: ignore[no-any-return]
    assert kind == DECORRELATED
    before = x[row + C_PAUSE]
    x[row + C_PAUSE] = min(x[route + BASE] + (3 * before - x[route + BASE]) * unit, x[route + CAP])
    return x[row + C_PAUSE]  # type: ignore[no-any-return]


@inlined
def let_go(n: Ints, row: int) -> None:
    """A call that holds one of the retries in flight gives it back."""
    if n[row + C_HOLDS]:
        n[row + C_HOLDS] = 0
        n[n[row + C_ROUTE] + N_HELD] -= 1


@inlined
def leave_hedges(n: Ints, row: int) -> None:
    """A call no longer waits for the time to send a second copy."""
    if n[row + H_PREV] != OUTSIDE:
        remove(n, n[row + C_ROUTE] + HEDGE_TIMER, row, H_PREV, H_NEXT)
        n[row + H_PREV] = OUTSIDE


@inlined
def close(n: Ints, row: int) -> None:
    """A call is over: what it still has on its way is given up, and its row is free."""
    for slot in range(C_ONE, C_TWO + 1):
        if n[row + slot] != NOTHING:
            give_up(n, n[row + slot])
    leave_hedges(n, row)
    if n[row + D_PREV] != OUTSIDE:
        remove(n, n[row + C_ROUTE] + CALL_TIMER, row, D_PREV, D_NEXT)
    let_go(n, row)
    n[n[row + C_ROUTE] + N_OPEN] -= 1
    free_row(n, row, CALLS_FREE, CALLS_LEFT)


@inlined
def ended(n: Ints, x: Floats, row: int, cause: int) -> None:
    """A call has succeeded, failed for good, or is given up: close it, and tell its owner if there still is one.

    When it has failed its fallback is called in its place, and the owner waits on.
    """
    route, kind, owner = n[row + C_ROUTE], n[row + C_KIND], n[row + C_OWNER]
    root, level = n[row + C_ROOT], n[row + C_CLASS]
    close(n, row)
    if owner == NOTHING:
        n[route + N_DROPPED] += 1
        return
    n[route + (N_SUCCEEDED if cause == COMPLETED else N_GAVE_UP)] += 1
    unlink_child(n, row, owner)
    if cause != COMPLETED and n[route + FALLBACK] != NOTHING:
        open_call(n, x, n[route + FALLBACK], kind, owner, root, level)
        return
    n[owner + OPEN] -= 1
    if cause != COMPLETED and n[owner + CAUSE] == COMPLETED:
        n[owner + CAUSE] = cause
    if n[owner + OPEN] > 0:
        return
    if kind == TRY:
        called_on(n, x, owner)
    else:
        joined(n, x, owner)


@inlined
def unlink_child(n: Ints, row: int, owner: int) -> None:
    """Take a call out of the calls of its owner."""
    before, after = n[row + S_PREV], n[row + S_NEXT]
    if before == NOTHING:
        n[owner + CALLS] = after
    else:
        n[before + S_NEXT] = after
    if after != NOTHING:
        n[after + S_PREV] = before
