"""Handles requests and the stages of plans in the event loop."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    AGAIN,
    BASE,
    BEGIN,
    C_CLASS,
    C_DEADLINE,
    C_HOLDS,
    C_KIND,
    C_LIVE,
    C_ONE,
    C_OWNER,
    C_PASSED,
    C_PAUSE,
    C_ROOT,
    C_ROUND,
    C_ROUTE,
    C_SOURCE,
    C_TWO,
    CALL_LIMIT,
    CALL_TIMER,
    CALLS,
    CALLS_FREE,
    CALLS_LEFT,
    CAUSE,
    COMPLETED,
    D_NEXT,
    D_PREV,
    ENDS,
    F_CAUSE,
    F_END,
    F_NEED,
    F_SOURCE,
    F_START,
    F_TRIES,
    F_WIDTH,
    FINISHED,
    FINISHED_AT,
    H_PREV,
    HIGH,
    LOW,
    N_ARRIVALS,
    N_CALLS,
    N_COMPLETED,
    N_FAILED,
    N_OPEN,
    N_REQUESTS,
    NOTHING,
    NOW,
    OPEN,
    OUTSIDE,
    P_NEXT,
    P_PREV,
    PLAN,
    R_DEADLINE,
    R_NEED,
    R_SERIAL,
    R_SOURCE,
    R_START,
    R_TRIES,
    R_TURNS,
    REQUEST,
    REQUEST_LIMIT,
    REQUEST_TIMER,
    REQUESTS_FREE,
    REQUESTS_LEFT,
    ROUTE_DEADLINE,
    S_NEXT,
    S_PREV,
    SEND,
    SERIAL,
    SOURCE_CLASS,
    SOURCE_DEADLINE,
    SOURCE_NUMBER,
    SOURCE_PLANS,
    SOURCE_STREAM,
    STAGE,
    STAMP,
    T_CLASS,
    T_ROOT,
    T_SOURCE,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_tables import (
    append,
    arm,
    at_once,
    draw,
    free_row,
    new_row,
    plan_of,
    remove,
    tell,
)


@inlined
def arrive(n: Ints, x: Floats, source: int) -> None:
    """A request of a source begins its plan."""
    row = new_row(n, REQUESTS_FREE, REQUESTS_LEFT)
    n[row + STAGE], n[row + OPEN], n[row + CAUSE], n[row + R_TRIES] = 0, 0, COMPLETED, 0
    n[row + R_SOURCE], n[row + R_TURNS], n[row + R_SERIAL] = source, n[source + LOW], n[SERIAL]
    if n[source + HIGH] > n[source + LOW]:
        unit = draw(n, x, n[source + SOURCE_STREAM])
        n[row + R_TURNS] += int(unit * (n[source + HIGH] - n[source + LOW] + 1))
    n[SERIAL] += 1
    x[row + R_START], x[row + R_NEED] = x[NOW], 0.0
    n[row + CALLS], n[row + P_PREV], n[row + PLAN] = NOTHING, OUTSIDE, plan_of(n, x, n[source + SOURCE_PLANS])
    if x[source + SOURCE_DEADLINE] < float("inf"):
        x[row + R_DEADLINE] = x[NOW] + x[source + SOURCE_DEADLINE]
        append(n, source + REQUEST_TIMER, row, P_PREV, P_NEXT)
        arm(n, x, REQUEST_LIMIT, source, REQUEST_TIMER, x[row + R_DEADLINE])
    n[source + N_ARRIVALS] += 1
    n[source + N_REQUESTS] += 1
    at_once(n, BEGIN, row, n[row + STAMP], REQUEST)


@inlined
def begin(n: Ints, x: Floats, kind: int, row: int) -> None:
    """The next stage of a plan: a call on each of its routes."""
    if kind == REQUEST:
        root, level = n[row + R_SERIAL], n[n[row + R_SOURCE] + SOURCE_CLASS]
    else:
        root, level = n[row + T_ROOT], n[row + T_CLASS]
    stage = n[n[row + PLAN] + 1 + n[row + STAGE]]
    n[row + STAGE] += 1
    n[row + OPEN] = n[stage]
    for fork in range(stage + 1, stage + 1 + n[stage]):
        open_call(n, x, n[fork], kind, row, root, level)


@inlined
def open_call(n: Ints, x: Floats, route: int, kind: int, owner: int, root: int, level: int) -> None:
    """A call on a route; its first try is sent at once."""
    row = new_row(n, CALLS_FREE, CALLS_LEFT)
    n[row + C_ROUTE], n[row + C_OWNER], n[row + C_KIND] = route, owner, kind
    n[row + C_ROOT], n[row + C_CLASS] = root, level
    n[row + C_SOURCE] = n[n[owner + R_SOURCE] + SOURCE_NUMBER] if kind == REQUEST else n[owner + T_SOURCE]
    n[row + C_ROUND], n[row + C_LIVE], n[row + C_HOLDS], n[row + C_ONE], n[row + C_TWO] = 1, 0, 0, NOTHING, NOTHING
    n[row + D_PREV], n[row + H_PREV], n[row + C_PASSED] = OUTSIDE, OUTSIDE, 0
    x[row + C_PAUSE] = x[route + BASE]
    if x[route + ROUTE_DEADLINE] < float("inf"):
        x[row + C_DEADLINE] = x[NOW] + x[route + ROUTE_DEADLINE]
        append(n, route + CALL_TIMER, row, D_PREV, D_NEXT)
        arm(n, x, CALL_LIMIT, route, CALL_TIMER, x[row + C_DEADLINE])
    n[row + S_PREV], n[row + S_NEXT] = NOTHING, n[owner + CALLS]
    if n[row + S_NEXT] != NOTHING:
        n[n[row + S_NEXT] + S_PREV] = row
    n[owner + CALLS] = row
    n[route + N_CALLS] += 1
    n[route + N_OPEN] += 1
    at_once(n, SEND, row, n[row + STAMP], 0)


@inlined
def joined(n: Ints, x: Floats, row: int) -> None:
    """All calls of a stage of a request have ended: the next stage, the next turn, or the end."""
    if n[row + CAUSE] == COMPLETED:
        if n[row + STAGE] == n[n[row + PLAN]]:
            n[row + STAGE] = 0
            n[row + R_TURNS] -= 1
        if n[row + R_TURNS] > 0:
            at_once(n, BEGIN, row, n[row + STAMP], REQUEST)
            return
    finish(n, x, row)


@inlined
def finish(n: Ints, x: Floats, row: int) -> None:
    """A request is over and written down."""
    if n[row + P_PREV] != OUTSIDE:
        remove(n, n[row + R_SOURCE] + REQUEST_TIMER, row, P_PREV, P_NEXT)
    line, source, cause = n[FINISHED_AT] + F_WIDTH * n[FINISHED], n[row + R_SOURCE], n[row + CAUSE]
    n[source + N_REQUESTS] -= 1
    n[source + (N_COMPLETED if cause == COMPLETED else N_FAILED)] += 1
    n[line + F_SOURCE], n[line + F_TRIES], n[line + F_CAUSE] = n[source + SOURCE_NUMBER], n[row + R_TRIES], cause
    x[line + F_START], x[line + F_END], x[line + F_NEED] = x[row + R_START], x[NOW], x[row + R_NEED]
    n[FINISHED] += 1
    tell(n, x, ENDS, source, n[row + R_SERIAL], n[row + R_TRIES], cause, 0)
    free_row(n, row, REQUESTS_FREE, REQUESTS_LEFT)
    if n[source + AGAIN]:
        arrive(n, x, source)
