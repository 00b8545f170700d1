"""Handles outages in the event loop: servers that stand still and go on, and members that begin anew."""

from __future__ import annotations

from coherence.simulate.requests.compiled import compiled, inlined
from coherence.simulate.requests.events_breakers import note_outcome
from coherence.simulate.requests.events_layout import (
    BEGINS_ANEW,
    CALLING,
    CLASSES,
    DONE,
    DOWNSTREAM,
    FAIL,
    FAILED,
    IN_SERVERS,
    IN_SERVICE,
    LANE_WIDTH,
    LANES,
    N_AWAY,
    N_BUSY,
    N_LOST,
    N_RESTARTS,
    N_SERVERS,
    N_TRIES_LOST,
    NOTHING,
    NOW,
    OUTAGE_REFUSES,
    OUTAGE_STATION,
    PAUSED,
    Q_NEXT,
    REFUSING,
    RESTART,
    RESUMES,
    SERVED,
    STAMP,
    START,
    START_STREAM,
    STARTED,
    STATION,
    STOPS,
    T_CALL,
    T_END,
    T_EVENT,
    T_NUMBER,
    T_PHASE,
    T_ROOT,
    T_ROUTE,
    T_WORK,
    TRY_FAILED,
    WANTED,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_stations import settle, withdraw
from coherence.simulate.requests.events_tables import at_once, draw, schedule, tell
from coherence.simulate.requests.events_tries import depart, detach, give_up_calls


@inlined
def stop_or_go(n: Ints, x: Floats, stops: bool, outage: int) -> None:
    """An outage begins or ends."""
    station, refuses = n[outage + OUTAGE_STATION], n[outage + OUTAGE_REFUSES]
    tell(n, x, STOPS if stops else RESUMES, station, NOTHING, 0, 0, 0)
    if stops:
        n[station + REFUSING] += refuses
        freeze(n, x, station)
    else:
        n[station + REFUSING] -= refuses
        thaw(n, x, station)


@inlined
def freeze(n: Ints, x: Floats, station: int) -> None:
    """The servers of a station stand still: what is in service keeps the rest of its work."""
    n[station + PAUSED] += 1
    if n[station + PAUSED] > 1:
        return
    for kind in range(n[CLASSES]):
        row = n[station + LANES + LANE_WIDTH * kind + IN_SERVERS]
        while row != NOTHING:
            x[row + T_WORK] = x[row + T_END] - x[NOW]
            n[row + T_EVENT] += 1
            row = n[row + Q_NEXT]


@inlined
def thaw(n: Ints, x: Floats, station: int) -> None:
    """The servers of a station go on."""
    n[station + PAUSED] -= 1
    if n[station + PAUSED] > 0:
        return
    for kind in range(n[CLASSES]):
        row = n[station + LANES + LANE_WIDTH * kind + IN_SERVERS]
        while row != NOTHING:
            x[row + T_END] = x[NOW] + x[row + T_WORK]
            schedule(n, x, x[row + T_END], DONE, row, n[row + T_EVENT])
            row = n[row + Q_NEXT]
    at_once(n, START, station, 0, 0)


@compiled
def overdue(n: Ints, x: Floats, row: int) -> None:
    """A service has lasted for longer than its member may work: it is lost, and the member begins anew."""
    if n[row + T_PHASE] in (SERVED, CALLING):
        station = n[n[row + T_ROUTE] + STATION]
        stays = n[station + N_BUSY] <= n[station + N_SERVERS]
        lose(n, x, row, station)
        if stays:  # those that are taken away are not begun again
            begin_anew(n, x, station)


@compiled
def lose(n: Ints, x: Floats, row: int, station: int) -> None:
    """A try is lost with the member that worked on it: its caller hears of a failure, if it still waits."""
    route, call, where = n[row + T_ROUTE], n[row + T_CALL], DOWNSTREAM if n[row + T_PHASE] == CALLING else IN_SERVICE
    withdraw(n, x, row, station)
    give_up_calls(n, row)
    n[route + N_TRIES_LOST] += 1
    n[station + N_LOST] += 1
    if call != NOTHING:
        detach(n, row)
        note_outcome(n, x, route, 1)
        tell(n, x, TRY_FAILED, route, n[row + T_ROOT], n[row + T_NUMBER], FAILED, where)
        at_once(n, FAIL, call, n[call + STAMP], FAILED)
    depart(n, row, route, station)


@compiled
def begin_anew(n: Ints, x: Floats, station: int) -> None:
    """A member serves again once it has started; never, where no start of it ends in time."""
    settle(n, x, station)
    n[station + N_RESTARTS] += 1
    n[station + N_AWAY] += 1
    n[station + N_SERVERS] = max(n[station + WANTED] - n[station + N_AWAY], 0)
    tell(n, x, BEGINS_ANEW, station, NOTHING, 0, 0, 0)
    back = x[NOW] + draw(n, x, n[station + START_STREAM])
    if back < float("inf"):
        schedule(n, x, back, STARTED, station, 0)


@inlined
def started(n: Ints, x: Floats, station: int) -> None:
    """A member that began anew serves again."""
    settle(n, x, station)
    n[station + N_AWAY] -= 1
    n[station + N_SERVERS] = max(n[station + WANTED] - n[station + N_AWAY], 0)
    at_once(n, START, station, 0, 0)


@compiled
def restart(n: Ints, x: Floats, outage: int, left: int) -> None:
    """A member of a station that hangs begins anew, and at this instant the next one; with the last the pause ends.

    `left`: how many are left to begin anew; 0 at the first, NOTHING where requests alone are left.  One that serves
    again at this very instant does not begin anew a second time.
    """
    station = n[outage + OUTAGE_STATION]
    row = NOTHING
    for kind in range(n[CLASSES]):
        if row == NOTHING:
            row = n[station + LANES + LANE_WIDTH * kind + IN_SERVERS]
    if row != NOTHING:
        lose(n, x, row, station)
    members = n[station + N_SERVERS] if left == 0 else max(left, 0)
    if members > 0 and n[station + N_SERVERS] > 0:
        begin_anew(n, x, station)
    if members > 1 or row != NOTHING:
        schedule(n, x, x[NOW], RESTART, outage, members - 1 if members > 1 else NOTHING)
    else:
        stop_or_go(n, x, False, outage)
