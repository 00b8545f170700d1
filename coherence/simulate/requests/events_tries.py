"""Handles tries in the event loop: sent, given up, withdrawn, answered."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_breakers import give_back, note_outcome, permits
from coherence.simulate.requests.events_gates import let_through, note_send
from coherence.simulate.requests.events_layout import (
    AT_ANSWER,
    AT_BREAKER,
    AT_CIRCUIT,
    AT_GATE,
    BATCHED,
    BREAKER,
    C_CLASS,
    C_HEDGE,
    C_KIND,
    C_LIVE,
    C_ONE,
    C_OWNER,
    C_PASSED,
    C_ROOT,
    C_ROUND,
    C_ROUTE,
    C_SOURCE,
    C_TWO,
    CALLS,
    CANCEL,
    CANCELS,
    CAUSE,
    COMPLETED,
    ENDED,
    FAIL,
    FAILED,
    GIVE_UP,
    H_NEXT,
    H_PREV,
    HEDGE,
    HEDGE_AFTER,
    HEDGE_TIMER,
    HEDGED,
    IN_OUTAGE,
    L_NEXT,
    L_PREV,
    LEAVING,
    LET_THROUGH,
    N_ABANDONED,
    N_ANSWERED,
    N_ANSWERED_FAILED,
    N_AT_STATION,
    N_BROKEN,
    N_CANCELLED,
    N_CANCELS,
    N_FIRST,
    N_HEDGES,
    N_LIVE,
    N_OFFERED,
    N_PRESENT,
    N_REFUSED,
    N_REJECTED,
    N_RETRIES,
    N_SERVED,
    N_TRIES,
    N_WASTED,
    NOTHING,
    NOW,
    OPEN,
    OUTSIDE,
    PER_TRY,
    PLAN,
    R_NEED,
    R_TRIES,
    REFUSED,
    REJECTED,
    REQUEST,
    S_NEXT,
    SENT,
    STAGE,
    STAMP,
    STATION,
    STATION_PLANS,
    T_CALL,
    T_CLASS,
    T_DEMAND,
    T_FIRST,
    T_LIMIT,
    T_MATE,
    T_NUMBER,
    T_PHASE,
    T_ROOT,
    T_ROUTE,
    T_SINCE,
    T_SOURCE,
    T_WORK,
    TRIES_FREE,
    TRIES_LEFT,
    TRY_FAILED,
    TRY_LIMIT,
    TRY_TIMER,
    USEFUL,
    WASTED,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_stations import place, refusal, withdraw
from coherence.simulate.requests.events_tables import (
    append,
    arm,
    at_once,
    free_row,
    new_row,
    plan_of,
    remove,
    schedule,
    tell,
)


@inlined
def send(n: Ints, x: Floats, row: int, hedge: bool) -> None:
    """A try, or the second copy of one, goes to the station unless it is turned away.

    What the breaker of its own route turns away is not tried again.  A gate may make it wait: it is sent later.
    """
    route = n[row + C_ROUTE]
    now = x[NOW]
    full = n[route + N_LIVE] + 1 > x[route + BREAKER]
    passes = now if full or n[row + C_PASSED] else let_through(n, x, route, hedge)
    if hedge and (full or passes > now):
        return
    if now < passes < float("inf"):
        n[row + C_PASSED] = 1
        schedule(n, x, passes, LET_THROUGH, row, n[row + STAMP])
        return
    n[row + C_PASSED] = 0
    permitted = full or passes > now or permits(n, x, route)
    if hedge and not permitted:
        return
    count_try(n, x, row, hedge)
    station = n[route + STATION]
    where = AT_BREAKER if full else AT_GATE if passes > now else NOTHING if permitted else AT_CIRCUIT
    if where == NOTHING:
        where = refusal(n, x, station, n[row + C_CLASS])
        if where != NOTHING:
            note_outcome(n, x, route, 1)
    n[row + C_LIVE] += 1
    if where != NOTHING:
        turn_away(n, x, row, where)
        return
    attempt = new_try(n, x, row, station, now)
    if x[route + PER_TRY] < float("inf"):
        x[attempt + T_LIMIT] = now + x[route + PER_TRY]
        append(n, route + TRY_TIMER, attempt, L_PREV, L_NEXT)
        arm(n, x, TRY_LIMIT, route, TRY_TIMER, x[attempt + T_LIMIT])
    if not hedge and x[route + HEDGE_AFTER] < float("inf"):
        x[row + C_HEDGE] = now + x[route + HEDGE_AFTER]
        append(n, route + HEDGE_TIMER, row, H_PREV, H_NEXT)
        arm(n, x, HEDGE, route, HEDGE_TIMER, x[row + C_HEDGE])
    place(n, x, attempt, station)


@inlined
def turn_away(n: Ints, x: Floats, row: int, where: int) -> None:
    """A try fails before it is at its station; beyond a cap on tries in flight it is not tried again."""
    route, cause = n[row + C_ROUTE], REFUSED if where == IN_OUTAGE else REJECTED
    n[route + (N_REFUSED if cause == REFUSED else N_REJECTED)] += 1
    n[route + N_BROKEN] += int(where == AT_CIRCUIT)
    tell(n, x, TRY_FAILED, route, n[row + C_ROOT], n[row + C_ROUND], cause, where)
    at_once(n, ENDED if where == AT_BREAKER else FAIL, row, n[row + STAMP], cause)


@inlined
def count_try(n: Ints, x: Floats, row: int, hedge: bool) -> None:
    """A try in the counts of its route and of its request."""
    route = n[row + C_ROUTE]
    n[route + N_TRIES] += 1
    note_send(n, x, route, not hedge and n[row + C_ROUND] == 1)
    if n[row + C_KIND] == REQUEST:
        n[n[row + C_OWNER] + R_TRIES] += 1
    if hedge:
        n[route + N_HEDGES] += 1
    elif n[row + C_ROUND] > 1:
        n[route + N_RETRIES] += 1
    tell(n, x, HEDGED if hedge else SENT, route, n[row + C_ROOT], n[row + C_ROUND], 0, 0)


@inlined
def new_try(n: Ints, x: Floats, row: int, station: int, now: float) -> int:
    """Returns the row of a try of a call."""
    attempt = new_row(n, TRIES_FREE, TRIES_LEFT)
    route = n[row + C_ROUTE]
    n[attempt + STAGE], n[attempt + OPEN], n[attempt + CAUSE], n[attempt + T_CALL], n[attempt + T_ROUTE] = (
        0,
        0,
        COMPLETED,
        row,
        route,
    )
    n[attempt + T_CLASS], n[attempt + T_ROOT], n[attempt + T_NUMBER] = (
        n[row + C_CLASS],
        n[row + C_ROOT],
        n[row + C_ROUND],
    )
    n[attempt + T_SOURCE] = n[row + C_SOURCE]
    n[attempt + PLAN] = plan_of(n, x, n[station + STATION_PLANS])
    n[attempt + CALLS], n[attempt + T_MATE], n[attempt + L_PREV] = NOTHING, NOTHING, OUTSIDE
    n[attempt + T_FIRST] = 1 if n[row + C_ROUND] == 1 and n[row + C_ONE] == NOTHING else 0
    x[attempt + T_WORK], x[attempt + T_SINCE] = -1.0, now
    n[row + (C_ONE if n[row + C_ONE] == NOTHING else C_TWO)] = attempt
    n[route + N_LIVE] += 1
    n[route + N_FIRST] += n[attempt + T_FIRST]
    n[route + N_AT_STATION] += 1
    n[station + N_OFFERED] += 1
    n[station + N_PRESENT] += 1
    return attempt


@inlined
def detach(n: Ints, row: int) -> None:
    """Nobody waits for a try any more."""
    call, route = n[row + T_CALL], n[row + T_ROUTE]
    n[call + (C_ONE if n[call + C_ONE] == row else C_TWO)] = NOTHING
    if n[row + L_PREV] != OUTSIDE:
        remove(n, route + TRY_TIMER, row, L_PREV, L_NEXT)
        n[row + L_PREV] = OUTSIDE
    n[route + N_LIVE] -= 1
    n[route + N_FIRST] -= n[row + T_FIRST]
    n[row + T_CALL] = NOTHING


@inlined
def abandon(n: Ints, row: int) -> None:
    """The caller of a try has gone: the try is withdrawn, or served to its end for nobody."""
    detach(n, row)
    route = n[row + T_ROUTE]
    n[route + N_ABANDONED] += 1
    if n[route + CANCELS]:
        at_once(n, CANCEL, row, n[row + STAMP], 0)


@inlined
def give_up(n: Ints, row: int) -> None:
    """A try is given up with its call, whatever it would have been."""
    give_back(n, n[row + T_ROUTE])
    abandon(n, row)


@inlined
def cancel(n: Ints, x: Floats, row: int) -> None:
    """A try given up leaves the station, and gives up the calls that it waits for."""
    route = n[row + T_ROUTE]
    if n[row + T_PHASE] in (BATCHED, LEAVING) or n[row + T_MATE] != NOTHING:
        return
    station = n[route + STATION]
    withdraw(n, x, row, station)
    give_up_calls(n, row)
    n[route + N_CANCELS] += 1
    n[station + N_CANCELLED] += 1
    depart(n, row, route, station)


@inlined
def give_up_calls(n: Ints, row: int) -> None:
    """A try gives up the calls that it waits for."""
    while n[row + CALLS] != NOTHING:
        child = n[row + CALLS]
        n[row + CALLS] = n[child + S_NEXT]
        n[child + C_OWNER] = NOTHING
        at_once(n, GIVE_UP, child, n[child + STAMP], 0)


@inlined
def depart(n: Ints, row: int, route: int, station: int) -> None:
    """A try is no longer at its station."""
    n[route + N_AT_STATION] -= 1
    n[station + N_PRESENT] -= 1
    free_row(n, row, TRIES_FREE, TRIES_LEFT)


@inlined
def credit(n: Ints, x: Floats, row: int, waiting: int) -> None:
    """The service of an answered try in the isolated need of the request that it was for, if that still waits."""
    call = waiting
    while call != NOTHING and n[call + C_OWNER] != NOTHING:
        owner = n[call + C_OWNER]
        if n[call + C_KIND] == REQUEST:
            x[owner + R_NEED] += x[row + T_DEMAND]
            return
        call = n[owner + T_CALL]


@inlined
def answer(n: Ints, x: Floats, row: int, cause: int) -> None:
    """A try was served to its end: its caller hears, if it still waits."""
    route, waiting, number = n[row + T_ROUTE], n[row + T_CALL], n[row + T_NUMBER]
    station = n[route + STATION]
    n[route + N_ANSWERED] += 1
    n[station + N_SERVED] += 1
    x[station + (WASTED if waiting == NOTHING else USEFUL)] += x[row + T_DEMAND]
    if waiting == NOTHING:
        n[station + N_WASTED] += 1
    else:
        credit(n, x, row, waiting)
        detach(n, row)
        note_outcome(n, x, route, int(cause != COMPLETED))
    depart(n, row, route, station)
    if cause != COMPLETED:
        n[route + N_ANSWERED_FAILED] += 1
    if waiting != NOTHING and cause == COMPLETED:
        at_once(n, ENDED, waiting, n[waiting + STAMP], COMPLETED)
    elif waiting != NOTHING:
        tell(n, x, TRY_FAILED, route, n[waiting + C_ROOT], number, FAILED, AT_ANSWER)
        at_once(n, FAIL, waiting, n[waiting + STAMP], FAILED)
