"""Handles time limits in the event loop: of tries, of calls, and until a second copy is sent."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_breakers import note_outcome
from coherence.simulate.requests.events_calls import leave_hedges
from coherence.simulate.requests.events_layout import (
    C_DEADLINE,
    C_HEDGE,
    C_OWNER,
    C_ROOT,
    C_ROUND,
    CALL_LIMIT,
    CALL_TIMER,
    CALLING,
    CALLS,
    CAUSE,
    D_NEXT,
    D_PREV,
    DEADLINE,
    DOWNSTREAM,
    ENDED,
    FAIL,
    GIVE_UP,
    HEDGE,
    HEDGE_TIMER,
    IN_PAUSE,
    IN_QUEUE,
    IN_SERVICE,
    N_DEADLINES,
    N_TIMEOUTS,
    NOTHING,
    NOW,
    OUTSIDE,
    PAUSED,
    QUEUED,
    R_DEADLINE,
    REQUEST_LIMIT,
    REQUEST_TIMER,
    S_NEXT,
    SEND_HEDGE,
    STAMP,
    STATION,
    T_CALL,
    T_LIMIT,
    T_NUMBER,
    T_PHASE,
    T_ROOT,
    TIMEOUT,
    TIMER_ARMED,
    TRY_FAILED,
    TRY_LIMIT,
    TRY_TIMER,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_owners import finish
from coherence.simulate.requests.events_tables import arm, at_once, remove, tell
from coherence.simulate.requests.events_tries import abandon


@inlined
def expire_try(n: Ints, x: Floats, route: int) -> None:
    """The first try of a route's list is given up if its time is over; the event watches the next one."""
    row = n[route + TRY_TIMER]
    n[route + TRY_TIMER + TIMER_ARMED] = 0
    if row != NOTHING and x[row + T_LIMIT] <= x[NOW]:
        call = n[row + T_CALL]
        n[route + N_TIMEOUTS] += 1
        tell(n, x, TRY_FAILED, route, n[row + T_ROOT], n[row + T_NUMBER], TIMEOUT, whereabouts(n, row, route))
        abandon(n, row)
        note_outcome(n, x, route, 1)
        at_once(n, FAIL, call, n[call + STAMP], TIMEOUT)
        row = n[route + TRY_TIMER]
    if row != NOTHING:
        arm(n, x, TRY_LIMIT, route, TRY_TIMER, x[row + T_LIMIT])


@inlined
def whereabouts(n: Ints, row: int, route: int) -> int:
    """Returns what a try was held up by when it was given up."""
    phase = n[row + T_PHASE]
    if n[n[route + STATION] + PAUSED]:
        return IN_PAUSE
    return IN_QUEUE if phase == QUEUED else DOWNSTREAM if phase == CALLING else IN_SERVICE


@inlined
def expire_call(n: Ints, x: Floats, route: int) -> None:
    """The first call of a route's list fails if its deadline has come."""
    row = n[route + CALL_TIMER]
    n[route + CALL_TIMER + TIMER_ARMED] = 0
    if row != NOTHING and x[row + C_DEADLINE] <= x[NOW]:
        n[route + N_DEADLINES] += 1
        remove(n, route + CALL_TIMER, row, D_PREV, D_NEXT)
        n[row + D_PREV] = OUTSIDE
        tell(n, x, TRY_FAILED, route, n[row + C_ROOT], n[row + C_ROUND], DEADLINE, 0)
        at_once(n, ENDED, row, n[row + STAMP], DEADLINE)
        row = n[route + CALL_TIMER]
    if row != NOTHING:
        arm(n, x, CALL_LIMIT, route, CALL_TIMER, x[row + C_DEADLINE])


@inlined
def expire_request(n: Ints, x: Floats, source: int) -> None:
    """The first request of a source's list fails if its deadline has come: what it waits for is given up."""
    row = n[source + REQUEST_TIMER]
    n[source + REQUEST_TIMER + TIMER_ARMED] = 0
    if row != NOTHING and x[row + R_DEADLINE] <= x[NOW]:
        while n[row + CALLS] != NOTHING:
            call = n[row + CALLS]
            n[row + CALLS] = n[call + S_NEXT]
            n[call + C_OWNER] = NOTHING
            at_once(n, GIVE_UP, call, n[call + STAMP], 0)
        n[row + CAUSE] = DEADLINE
        finish(n, x, row)
        row = n[source + REQUEST_TIMER]
    if row != NOTHING:
        arm(n, x, REQUEST_LIMIT, source, REQUEST_TIMER, x[row + R_DEADLINE])


@inlined
def hedge_call(n: Ints, x: Floats, route: int) -> None:
    """The first call of a route's list sends a second copy if it is time."""
    row = n[route + HEDGE_TIMER]
    n[route + HEDGE_TIMER + TIMER_ARMED] = 0
    if row != NOTHING and x[row + C_HEDGE] <= x[NOW]:
        leave_hedges(n, row)
        at_once(n, SEND_HEDGE, row, n[row + STAMP], 0)
        row = n[route + HEDGE_TIMER]
    if row != NOTHING:
        arm(n, x, HEDGE, route, HEDGE_TIMER, x[row + C_HEDGE])
