"""Runs the event loop of the request-level engine: takes the next event and calls its handler.

The loop draws no random numbers and allocates nothing.  It returns to Python, between two steps,
when it needs arrivals, draws or room, when it has reached the time asked for, or when all that happens at
an instant has left a watched count outside its band.
"""

from __future__ import annotations

from collections.abc import Callable

from coherence.simulate.requests import (
    draws,
    events_breakers,
    events_calls,
    events_gates,
    events_layout,
    events_limits,
    events_outages,
    events_owners,
    events_stations,
    events_tables,
    events_tries,
)
from coherence.simulate.requests.compiled import compiled, digest, in_place, inlined
from coherence.simulate.requests.events_calls import ended, fail
from coherence.simulate.requests.events_layout import (
    A_ARGUMENT,
    A_KIND,
    A_ROW,
    A_STAMP,
    A_WIDTH,
    ANSWER,
    ARMED,
    ARRIVAL,
    ARRIVALS,
    ARRIVALS_AT,
    AT_ONCE,
    BATCH_DUE,
    BEGIN,
    C_ROUND,
    CALL_LIMIT,
    CALLS_LEFT,
    CANCEL,
    COLUMNS,
    COLUMNS_AT,
    DONE,
    E_KEY,
    E_ROW,
    E_STAMP,
    ENDED,
    EVENTS,
    EVERY,
    FAIL,
    FINISHED,
    FINISHED_HOLDS,
    GIVE_UP,
    HEAD,
    HEAP,
    HEAP_AT,
    HEAP_HOLDS,
    HEDGE,
    KIND_SHIFT,
    LEFT_BAND,
    LET_THROUGH,
    LOW_DRAWS,
    MARGIN,
    MOST_AT_ONCE,
    MOST_EVENTS,
    N_BUSY,
    NEEDS_ARRIVALS,
    NEEDS_DRAWS,
    NEEDS_EMPTYING,
    NEEDS_ROOM,
    NEXT_SAMPLE,
    NOTHING,
    NOW,
    OUTAGE_STATION,
    OVERDUE,
    PAUSE,
    REACHED,
    REQUEST_LIMIT,
    REQUESTS_LEFT,
    RESTART,
    RESUME,
    RETRY,
    SAMPLED,
    SAMPLES_AT,
    SAMPLES_BEFORE,
    SAMPLES_HOLD,
    SEND,
    SEND_HEDGE,
    SOURCES_AT,
    STAMP,
    START,
    STARTED,
    T_EVENT,
    TAIL,
    TASKS_AT,
    TASKS_HOLD,
    TOO_MANY,
    TRACED,
    TRACED_HOLDS,
    TRIES_LEFT,
    TRY_LIMIT,
    UNTIL,
    W_ADDRESS,
    W_LEAST,
    W_MOST,
    W_WIDTH,
    WATCHED,
    WATCHED_AT,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_limits import expire_call, expire_request, expire_try, hedge_call
from coherence.simulate.requests.events_outages import overdue, restart, started, stop_or_go
from coherence.simulate.requests.events_owners import arrive, begin
from coherence.simulate.requests.events_stations import served, start
from coherence.simulate.requests.events_tables import at_once, take_first
from coherence.simulate.requests.events_tries import answer, cancel, send

_HELPERS = (
    draws,
    events_breakers,
    events_calls,
    events_gates,
    events_layout,
    events_limits,
    events_outages,
    events_owners,
    events_stations,
    events_tables,
    events_tries,
)
_SOURCES = digest(*(str(module.__file__) for module in _HELPERS))


@inlined
def short(n: Ints) -> int:
    """Why the loop must return before the next step, or REACHED."""
    margin = n[MARGIN]
    if n[TAIL] + margin > n[TASKS_HOLD] or n[HEAP] + margin > n[HEAP_HOLDS]:
        return NEEDS_ROOM
    if n[TRIES_LEFT] == 0 or n[CALLS_LEFT] < margin or n[REQUESTS_LEFT] == 0:
        return NEEDS_ROOM
    if n[LOW_DRAWS]:
        return NEEDS_DRAWS
    if n[FINISHED] == n[FINISHED_HOLDS] or n[TRACED] + margin > n[TRACED_HOLDS]:
        return NEEDS_EMPTYING
    return REACHED


@inlined
def carry_out(n: Ints, x: Floats) -> None:
    """The first of the things to do at this instant."""
    task = n[TASKS_AT] + A_WIDTH * n[HEAD]
    kind, row, stamp, argument = n[task + A_KIND], n[task + A_ROW], n[task + A_STAMP], n[task + A_ARGUMENT]
    n[HEAD] += 1
    if n[HEAD] == n[TAIL]:
        n[HEAD] = n[TAIL] = 0
    if kind == START:
        start(n, x, row)
    elif kind == BEGIN:
        if n[row + STAMP] == stamp:
            begin(n, x, argument, row)
    elif kind in (ANSWER, CANCEL):
        if n[row + STAMP] == stamp:
            if kind == ANSWER:
                answer(n, x, row, argument)
            else:
                cancel(n, x, row)
    elif n[row + STAMP] == stamp:
        if kind in (SEND, SEND_HEDGE):
            send(n, x, row, kind == SEND_HEDGE)
        elif kind == FAIL:
            fail(n, x, row, argument)
        else:
            assert kind in (ENDED, GIVE_UP)
            ended(n, x, row, argument)


@inlined
def happen(n: Ints, x: Floats, kind: int, row: int, stamp: int) -> bool:
    """Returns an event of the heap; false if what it was meant for is over."""
    if kind == DONE:
        if n[row + T_EVENT] != stamp:
            return False
        served(n, x, row)
    elif kind == TRY_LIMIT:
        expire_try(n, x, row)
    elif kind == CALL_LIMIT:
        expire_call(n, x, row)
    elif kind == HEDGE:
        hedge_call(n, x, row)
    elif kind == REQUEST_LIMIT:
        expire_request(n, x, row)
    elif kind in (RETRY, LET_THROUGH):
        if n[row + STAMP] != stamp:
            return False
        n[row + C_ROUND] += kind == RETRY
        at_once(n, SEND, row, stamp, 0)
    elif kind == BATCH_DUE:
        if n[row + ARMED] != stamp:
            return False
        at_once(n, START, row, 0, 0)
    elif kind == OVERDUE:
        if n[row + STAMP] != stamp:
            return False
        overdue(n, x, row)
    elif kind == STARTED:
        started(n, x, row)
    elif kind == RESTART:
        restart(n, x, row, stamp)
    else:
        assert kind in (PAUSE, RESUME)
        stop_or_go(n, x, kind == PAUSE, row)
    return True


@inlined
def count_event(n: Ints, x: Floats, time: float) -> None:
    """The clock goes on; events that come without it going on are counted."""
    n[AT_ONCE] = n[AT_ONCE] + 1 if time == x[NOW] else 0
    x[NOW] = time


@inlined
def sample(n: Ints, x: Floats) -> None:
    """Write down all counts."""
    line = n[SAMPLES_AT] + n[COLUMNS] * n[SAMPLED]
    for column in range(n[COLUMNS]):
        n[line + column] = n[n[n[COLUMNS_AT] + column]]
    n[SAMPLED] += 1
    n[SAMPLES_BEFORE] += 1
    x[NEXT_SAMPLE] = n[SAMPLES_BEFORE] * x[EVERY]


@compiled
def leaves_band(n: Ints) -> bool:
    """Decides whether a watched count is outside its band."""
    for number in range(n[WATCHED]):
        watched = n[WATCHED_AT] + W_WIDTH * number
        count = n[n[watched + W_ADDRESS]]
        if count < n[watched + W_LEAST] or count > n[watched + W_MOST]:
            return True
    return False


@inlined
def next_event(n: Ints, x: Floats) -> int:
    """One step from event to event: whether the loop goes on (NOTHING), else why it returns."""
    if n[ARRIVAL] >= n[ARRIVALS]:
        return NEEDS_ARRIVALS
    arrives = x[n[ARRIVALS_AT] + n[ARRIVAL]]
    happens = x[n[HEAP_AT]] if n[HEAP] else float("inf")
    time = min(arrives, happens)
    if n[WATCHED] and time > x[NOW] and leaves_band(n):
        return LEFT_BAND
    if x[NEXT_SAMPLE] < time and x[NEXT_SAMPLE] <= x[UNTIL]:
        if n[SAMPLED] == n[SAMPLES_HOLD]:
            return NEEDS_EMPTYING
        sample(n, x)
        return NOTHING
    if time > x[UNTIL]:
        x[NOW] = x[UNTIL]
        return REACHED
    if n[AT_ONCE] > n[MOST_AT_ONCE] or n[EVENTS] >= n[MOST_EVENTS]:
        return TOO_MANY
    return next_arrival(n, x, arrives) if arrives < happens else next_scheduled(n, x, happens)


@inlined
def next_arrival(n: Ints, x: Floats, time: float) -> int:
    """Returns the next request arrives."""
    count_event(n, x, time)
    n[EVENTS] += 1
    n[ARRIVAL] += 1
    arrive(n, x, n[n[SOURCES_AT] + n[ARRIVAL] - 1])
    return NOTHING


@inlined
def next_scheduled(n: Ints, x: Floats, time: float) -> int:
    """Returns the first event of the heap happens."""
    event = n[HEAP_AT]
    kind, row, stamp = n[event + E_KEY] >> KIND_SHIFT, n[event + E_ROW], n[event + E_STAMP]
    if kind in (RESUME, RESTART) and n[HEAP] + n[n[row + OUTAGE_STATION] + N_BUSY] + n[MARGIN] > n[HEAP_HOLDS]:
        return NEEDS_ROOM
    take_first(n, x)
    count_event(n, x, time)
    if happen(n, x, kind, row, stamp):
        n[EVENTS] += 1
    return NOTHING


def _loop(sources: str) -> Callable[[Ints, Floats], int]:
    def advance(n: Ints, x: Floats) -> int:
        """Run until the time asked for, or until something is needed.  `sources` is in the key of the cache."""
        if not sources:
            return NOTHING
        while True:
            reason = short(n)
            if reason != REACHED:
                return reason
            if n[HEAD] < n[TAIL]:
                carry_out(n, x)
            else:
                reason = next_event(n, x)
                if reason != NOTHING:
                    return reason

    return in_place(advance)


advance = _loop(_SOURCES)
