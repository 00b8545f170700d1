"""Handles stations in the event loop: admission, queues, servers, batches, preemption."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    ANSWER,
    ARMED,
    AT_ROOM,
    AT_SHED,
    BATCH_DUE,
    BATCHED,
    BEGIN,
    BUSY_SECONDS,
    CALLING,
    CAUSE,
    CLASSES,
    DEMANDED,
    DISCARDED,
    DISCIPLINE,
    DONE,
    EACH,
    FAIR,
    FIXED,
    FREED,
    IN_OUTAGE,
    IN_SERVERS,
    LANE_WIDTH,
    LANES,
    LARGEST,
    LASTS_STREAM,
    LEAVING,
    LIFO,
    MEAN,
    N_BUSY,
    N_PREEMPTED,
    N_QUEUE,
    N_SERVERS,
    NOTHING,
    NOW,
    OVERDUE,
    PAUSED,
    PLAN,
    PREEMPTIVE,
    PRIORITY,
    Q_NEXT,
    Q_PREV,
    QUEUE_SECONDS,
    QUEUED,
    REDO,
    REDONE,
    REFUSING,
    ROOM,
    SERVED,
    SERVICE_MEAN,
    SERVICE_STREAM,
    SERVICE_WIDTH,
    SERVICES,
    SHARED,
    SHED,
    SINCE,
    STAGE,
    STAMP,
    START,
    STATION,
    STATION_STREAM,
    T_CLASS,
    T_DEMAND,
    T_END,
    T_EVENT,
    T_MATE,
    T_PHASE,
    T_ROOT,
    T_ROUTE,
    T_SINCE,
    T_SOURCE,
    T_WORK,
    TAKEN,
    TAKES,
    TRACING,
    TRY,
    WAIT,
    WASTED,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_tables import append, at_once, draw, prepend, remove, schedule, tell


@inlined
def pace(n: Ints, station: int) -> float:
    """Returns how fast each try in service gets on where the servers are shared: at most as by one of its own."""
    return min(1.0, n[station + N_SERVERS] / max(n[station + N_BUSY], 1))  # type: ignore[no-any-return]


@inlined
def settle(n: Ints, x: Floats, station: int) -> None:
    """Add the time since the last change to the integrals of the queue and of the busy servers."""
    passed = x[NOW] - x[station + SINCE]
    x[station + QUEUE_SECONDS] += passed * n[station + N_QUEUE]
    busy = n[station + N_BUSY]
    if n[station + DISCIPLINE] == FAIR:
        x[station + SHARED] += passed * pace(n, station)
        busy = min(busy, n[station + N_SERVERS])
    x[station + BUSY_SECONDS] += passed * busy
    x[station + SINCE] = x[NOW]


@inlined
def lane_of(n: Ints, row: int, station: int) -> int:
    """Returns the list in which a try waits; IN_SERVERS further is that of the tries in service."""
    kind = n[row + T_CLASS] if n[station + DISCIPLINE] >= PRIORITY else 0
    return station + LANES + LANE_WIDTH * kind


@inlined
def victim_of(n: Ints, station: int, kind: int) -> int:
    """The try that a higher class takes a server from: of the lowest class in service the last begun, or NOTHING."""
    if n[station + DISCIPLINE] == PREEMPTIVE:
        for lower in range(kind):
            last = n[station + LANES + LANE_WIDTH * lower + IN_SERVERS + 1]
            if last != NOTHING:
                return last  # type: ignore[no-any-return]
    return NOTHING


@inlined
def refusal(n: Ints, x: Floats, station: int, kind: int) -> int:
    """Returns where a new try is turned away, or NOTHING."""
    if n[station + REFUSING]:
        return IN_OUTAGE
    idle = max(n[station + N_SERVERS] - n[station + N_BUSY], 0) if not n[station + PAUSED] else 0
    waiting = n[station + N_QUEUE] - idle * max(n[station + LARGEST], 1)
    if waiting < 0 or (not n[station + PAUSED] and victim_of(n, station, kind) != NOTHING):
        return NOTHING
    if waiting + 1 > x[station + ROOM]:
        return AT_ROOM
    if x[station + SHED] < float("inf") and waiting * x[station + TAKES] > x[station + SHED] * n[station + N_SERVERS]:
        return AT_SHED
    return NOTHING


@inlined
def place(n: Ints, x: Floats, row: int, station: int) -> None:
    """An admitted try goes to a free server, takes one from a lower class, or waits."""
    victim = NOTHING
    idle = n[station + DISCIPLINE] == FAIR or n[station + N_BUSY] < n[station + N_SERVERS]
    at_server = idle and n[station + N_QUEUE] == 0 and n[station + LARGEST] == 0
    if not at_server:
        victim = victim_of(n, station, n[row + T_CLASS])
    settle(n, x, station)
    if n[station + PAUSED] == 0 and (at_server or victim != NOTHING):
        if victim != NOTHING:
            suspend(n, x, victim, station)
        serve(n, x, row, station)
        return
    append(n, lane_of(n, row, station), row, Q_PREV, Q_NEXT)
    n[row + T_PHASE] = QUEUED
    n[station + N_QUEUE] += 1
    if n[station + LARGEST]:
        at_once(n, START, station, 0, 0)


@inlined
def suspend(n: Ints, x: Floats, row: int, station: int) -> None:
    """A try loses its server and waits before all others of its class, with what is left of its work or all of it."""
    lane = lane_of(n, row, station)
    remove(n, lane + IN_SERVERS, row, Q_PREV, Q_NEXT)
    prepend(n, lane, row, Q_PREV, Q_NEXT)
    x[row + T_WORK] = x[row + T_END] - x[NOW]
    if n[station + REDO]:
        x[station + REDONE] += x[row + T_DEMAND] - x[row + T_WORK]
        x[row + T_WORK] = x[row + T_DEMAND]
    n[row + T_PHASE] = QUEUED
    n[row + T_EVENT] += 1
    n[station + N_BUSY] -= 1
    n[station + N_QUEUE] += 1
    n[station + N_PREEMPTED] += 1
    tell_server(n, x, FREED, station, row)


@inlined
def serve(n: Ints, x: Floats, row: int, station: int) -> None:
    """A server begins a try, or goes on with it."""
    now = x[NOW]
    if x[row + T_WORK] < 0:
        table = n[station + SERVICES]
        if table == NOTHING:
            work = draw(n, x, n[station + STATION_STREAM]) * x[station + MEAN]
        else:
            own = table + SERVICE_WIDTH * n[row + T_SOURCE]
            work = draw(n, x, n[own + SERVICE_STREAM]) * x[own + SERVICE_MEAN]
        x[row + T_WORK] = x[row + T_DEMAND] = work
        x[station + DEMANDED] += x[row + T_DEMAND]
        if n[station + LASTS_STREAM] != NOTHING:
            schedule(n, x, now + draw(n, x, n[station + LASTS_STREAM]), OVERDUE, row, n[row + STAMP])
    occupy(n, x, row, station, now)


@inlined
def occupy(n: Ints, x: Floats, row: int, station: int, now: float) -> None:
    """A server works on a try from now until its work is done."""
    x[row + T_SINCE] = now
    append(n, lane_of(n, row, station) + IN_SERVERS, row, Q_PREV, Q_NEXT)
    n[row + T_PHASE] = SERVED
    n[station + N_BUSY] += 1
    tell_server(n, x, TAKEN, station, row)
    if n[station + DISCIPLINE] == FAIR:
        x[row + T_END] = x[station + SHARED] + x[row + T_WORK]
        share(n, x, station)
        return
    x[row + T_END] = now + x[row + T_WORK]
    schedule(n, x, x[row + T_END], DONE, row, n[row + T_EVENT])


@inlined
def share(n: Ints, x: Floats, station: int) -> None:
    """Who shares the servers has changed: the end of the try that has least left to do, at their pace, is scheduled."""
    row = first = n[station + LANES + IN_SERVERS]
    while row != NOTHING:
        n[row + T_EVENT] += 1
        if x[row + T_END] < x[first + T_END]:
            first = row
        row = n[row + Q_NEXT]
    if first != NOTHING and n[station + N_SERVERS] > 0:
        left = max(x[first + T_END] - x[station + SHARED], 0.0)
        schedule(n, x, x[NOW] + left / pace(n, station), DONE, first, n[first + T_EVENT])
    elif first == NOTHING:
        x[station + SHARED] = 0.0


@inlined
def first_waiting(n: Ints, station: int) -> int:
    """Returns the lane whose turn it is: of the highest class that waits."""
    lane = station + LANES
    if n[station + DISCIPLINE] >= PRIORITY:
        for kind in range(n[CLASSES] - 1, 0, -1):
            if n[lane + LANE_WIDTH * kind] != NOTHING:
                return lane + LANE_WIDTH * kind
    return lane


@inlined
def start(n: Ints, x: Floats, station: int) -> None:
    """A free server takes the next try, or the next batch."""
    if n[station + PAUSED] or n[station + N_BUSY] >= n[station + N_SERVERS] or n[station + N_QUEUE] == 0:
        return
    settle(n, x, station)
    if n[station + LARGEST]:
        start_batch(n, x, station)
        return
    lane = first_waiting(n, station)
    row = n[lane + (1 if n[station + DISCIPLINE] == LIFO else 0)]
    remove(n, lane, row, Q_PREV, Q_NEXT)
    n[station + N_QUEUE] -= 1
    serve(n, x, row, station)
    if n[station + N_BUSY] < n[station + N_SERVERS] and n[station + N_QUEUE] > 0:
        at_once(n, START, station, 0, 0)


@inlined
def start_batch(n: Ints, x: Floats, station: int) -> None:
    """A full batch, or one whose first try has waited long enough, starts; else a timer is set for that try."""
    now = x[NOW]
    first = n[first_waiting(n, station)]
    due = x[first + T_SINCE] + x[station + WAIT]
    if n[station + N_QUEUE] < n[station + LARGEST] and now < due:
        n[station + ARMED] += 1
        schedule(n, x, due, BATCH_DUE, station, n[station + ARMED])
        return
    size = min(n[station + N_QUEUE], n[station + LARGEST])
    leader, last = first, NOTHING
    for _ in range(size):
        lane = first_waiting(n, station)
        row = n[lane]
        remove(n, lane, row, Q_PREV, Q_NEXT)
        n[row + T_PHASE] = BATCHED
        x[row + T_DEMAND] = x[station + EACH] + x[station + FIXED] / size
        if last != NOTHING:
            n[last + T_MATE] = row
        last = row
    n[station + N_QUEUE] -= size
    x[leader + T_WORK] = x[station + FIXED] + size * x[station + EACH]
    x[station + DEMANDED] += x[leader + T_WORK]
    occupy(n, x, leader, station, now)
    if n[station + N_BUSY] < n[station + N_SERVERS] and n[station + N_QUEUE] > 0:
        at_once(n, START, station, 0, 0)


@inlined
def served(n: Ints, x: Floats, row: int) -> None:
    """The work on a try, or on the batch that it leads, is done: it calls on, or its server is free."""
    station = n[n[row + T_ROUTE] + STATION]
    remove(n, lane_of(n, row, station) + IN_SERVERS, row, Q_PREV, Q_NEXT)
    if n[row + CAUSE] == 0 and n[row + STAGE] < n[n[row + PLAN]]:
        n[row + T_PHASE] = CALLING
        at_once(n, BEGIN, row, n[row + STAMP], TRY)
        return
    tell_server(n, x, FREED, station, row)
    release(n, x, station)
    while row != NOTHING:
        mate = n[row + T_MATE]
        leave(n, row)
        row = mate


@inlined
def leave(n: Ints, row: int) -> None:
    """A try has been served to its end; its answer goes out."""
    n[row + T_PHASE] = LEAVING
    at_once(n, ANSWER, row, n[row + STAMP], n[row + CAUSE])


@inlined
def called_on(n: Ints, x: Floats, row: int) -> None:
    """A try whose station has called on goes on to the next stage or leaves; in a pause, when that is over."""
    station = n[n[row + T_ROUTE] + STATION]
    if n[station + PAUSED]:
        x[row + T_WORK] = 0.0
        n[row + T_PHASE] = SERVED
        append(n, lane_of(n, row, station) + IN_SERVERS, row, Q_PREV, Q_NEXT)
    elif n[row + CAUSE] == 0 and n[row + STAGE] < n[n[row + PLAN]]:
        at_once(n, BEGIN, row, n[row + STAMP], TRY)
    else:
        tell_server(n, x, FREED, station, row)
        release(n, x, station)
        leave(n, row)


@inlined
def tell_server(n: Ints, x: Floats, action: int, station: int, row: int) -> None:
    """Writes into the trace that a try, or each of the batch that it leads, takes a server or frees it."""
    if n[TRACING]:
        size, mate = 0, row
        while mate != NOTHING:
            size, mate = size + 1, n[mate + T_MATE]
        while row != NOTHING:
            tell(n, x, action, station, n[row + T_ROOT], size, 0, 0)
            row = n[row + T_MATE]


@inlined
def release(n: Ints, x: Floats, station: int) -> None:
    """A server is free for the next try."""
    settle(n, x, station)
    n[station + N_BUSY] -= 1
    if n[station + DISCIPLINE] == FAIR:
        share(n, x, station)
    if n[station + N_QUEUE] > 0:
        at_once(n, START, station, 0, 0)


@inlined
def withdraw(n: Ints, x: Floats, row: int, station: int) -> None:
    """A try given up leaves its queue or its server.  (In a batch it stays: the others need the server.)"""
    phase = n[row + T_PHASE]
    lane = lane_of(n, row, station)
    settle(n, x, station)
    left = max(x[row + T_WORK], 0.0)
    if phase == QUEUED:
        remove(n, lane, row, Q_PREV, Q_NEXT)
        n[station + N_QUEUE] -= 1
    elif phase == SERVED:
        remove(n, lane + IN_SERVERS, row, Q_PREV, Q_NEXT)
        if n[station + DISCIPLINE] == FAIR:
            left = max(x[row + T_END] - x[station + SHARED], 0.0)
        elif not n[station + PAUSED]:
            left = x[row + T_END] - x[NOW]
        n[row + T_EVENT] += 1
    else:
        left = 0.0
    if phase in (SERVED, CALLING):
        n[station + N_BUSY] -= 1
        tell_server(n, x, FREED, station, row)
        if n[station + DISCIPLINE] == FAIR:
            share(n, x, station)
    if x[row + T_WORK] >= 0:
        x[station + DISCARDED] += left
        x[station + WASTED] += x[row + T_DEMAND] - left
    at_once(n, START, station, 0, 0)
