"""Defines the layout of the event loop's memory: offsets of counters, records and lists.

The memory is one array of 64-bit words, seen twice: `n` as whole numbers, `x` as floats.  A record
(request, call, try, route, station, ...) is a run of words; it is named by the address of its first
word, and its fields are offsets: `n[route + N_TRIES] += 1`, `x[one + T_LIMIT]`.  The registers stand
at the beginning of the memory.  Free records form a chain; records are joined into doubly linked
lists, so that leaving a queue or a timer costs the same however long it is.

A call is one use of a route by an owner (a request, or a try whose station calls on); it sends tries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NOTHING = -1
OUTSIDE = -2  # in the place of an earlier neighbour: the row is in no list

# The kinds of events, in the order in which they happen at one instant.  Then come arrivals, by source in the
# order of the program, then the sample.  Events of one kind happen in the order in which they were scheduled,
# limits of several routes in the order of the routes.  What an event causes at its own instant (answers, next
# stages, tries sent, starts of service) is carried out at once, in the order in which it was caused.
(DONE, RESUME, PAUSE, TRY_LIMIT, CALL_LIMIT, HEDGE, RETRY, BATCH_DUE, REQUEST_LIMIT, LET_THROUGH, OVERDUE, STARTED,
 RESTART) = range(13)  # fmt: skip
KIND_SHIFT = 56  # an event's key is its kind, then its number

# What is carried out at once.
BEGIN, SEND, SEND_HEDGE, FAIL, ANSWER, ENDED, START, CANCEL, GIVE_UP = range(9)

# Owners of calls.
REQUEST, TRY = range(2)
# Why a try or a request failed; 0 is success.
COMPLETED, TIMEOUT, REJECTED, FAILED, REFUSED, DEADLINE = range(6)
# Where a try was when it failed.
AT_BREAKER, AT_ROOM, AT_SHED, IN_QUEUE, IN_SERVICE, DOWNSTREAM, IN_OUTAGE, AT_ANSWER, IN_PAUSE, AT_GATE, AT_CIRCUIT = (
    range(11)
)
# What the trace tells.
(SENT, TRY_FAILED, RETRIED, DENIED, HEDGED, ENDS, STOPS, RESUMES, SERVERS_SET, BEGINS_ANEW, TAKEN, FREED) = range(12)
# Phases of a try.
QUEUED, SERVED, CALLING, BATCHED, LEAVING = range(5)
FIFO, LIFO, PRIORITY, PREEMPTIVE = range(4)
FAIR = -1  # no turns: all are served at once, and share the servers
NO_JITTER, SPREAD, DECORRELATED = range(3)
NO_BUDGET, OF_REQUESTS, OF_FIRST = range(3)

# Owners of calls (requests and tries), and calls, share the first fields; owners the next two as well: the first of
# their calls, and their plan.
STAGE, OPEN, CAUSE, STAMP, FREE, CALLS, PLAN = range(7)
# Requests.  P_: neighbours in the list of deadlines.
R_SOURCE, R_TURNS, R_TRIES, R_SERIAL, R_START, R_NEED, R_DEADLINE, P_PREV, P_NEXT, R_WIDTH = range(7, 17)
# Tries.  Q_: neighbours in a queue or among those in service; L_: neighbours in the list of time limits.
(T_CALL, T_ROUTE, T_PHASE, T_CLASS, Q_PREV, Q_NEXT, L_PREV, L_NEXT, T_MATE, T_NUMBER, T_ROOT, T_FIRST,
 T_EVENT, T_LIMIT, T_WORK, T_END, T_DEMAND, T_SINCE, T_SOURCE, T_WIDTH) = range(7, 27)  # fmt: skip
# Calls.  D_: neighbours in the list of deadlines; H_: of hedges; S_: the owner's other calls.
(C_ROUTE, C_OWNER, C_KIND, C_ROUND, C_LIVE, C_ONE, C_TWO, C_HOLDS, D_PREV, D_NEXT, H_PREV, H_NEXT, S_PREV, S_NEXT,
 C_ROOT, C_CLASS, C_DEADLINE, C_HEDGE, C_PAUSE, C_SOURCE, C_PASSED, C_WIDTH) = range(5, 27)  # fmt: skip

# Counts, by the name under which the result tells them.  Those in LEVELS go down again.
SOURCE_COUNTS = ("arrivals", "completed", "failed", "in_flight")
STATION_COUNTS = ("queue", "busy", "servers", "present", "offered", "served", "wasted", "cancelled", "preempted",
                  "lost", "restarts", "away")  # fmt: skip
ROUTE_COUNTS = (
    "in_flight", "first_in_flight", "retries_in_flight", "at_station", "open",
    "calls", "succeeded", "gave_up", "dropped",
    "tries", "retries", "hedges", "timeouts", "deadlines", "rejected", "refused", "failed",
    "served", "cancelled", "abandoned", "denied", "broken", "lost",
)  # fmt: skip
LEVELS = {"in_flight", "queue", "busy", "servers", "present", "first_in_flight", "retries_in_flight", "at_station",
          "open", "away"}  # fmt: skip
# Work of a station in server-seconds, and integrals over time of its queue and of its busy servers.
WORK = ("demanded", "useful", "wasted", "redone", "discarded", "queue_seconds", "busy_seconds")

# Sources: counts, then facts.
(N_ARRIVALS, N_COMPLETED, N_FAILED, N_REQUESTS, SOURCE_NUMBER, SOURCE_PLANS, LOW, HIGH, SOURCE_STREAM, SOURCE_CLASS,
 SOURCE_DEADLINE, AGAIN, REQUEST_TIMER) = range(13)  # fmt: skip
SOURCE_WIDTH = REQUEST_TIMER + 3
# Stations: counts, work, facts, limits; then for each class the list of those that wait and of those in service.
(N_QUEUE, N_BUSY, N_SERVERS, N_PRESENT, N_OFFERED, N_SERVED, N_WASTED, N_CANCELLED, N_PREEMPTED, N_LOST, N_RESTARTS,
 N_AWAY) = range(12)  # fmt: skip
DEMANDED, USEFUL, WASTED, REDONE, DISCARDED, QUEUE_SECONDS, BUSY_SECONDS, SINCE = range(12, 20)
(STATION_NUMBER, DISCIPLINE, REDO, LARGEST, STATION_PLANS, STATION_STREAM, PAUSED, REFUSING, ARMED, MEAN, ROOM, SHED,
 WAIT, FIXED, EACH, TAKES, SERVICES, SHARED, WANTED, LASTS_STREAM, START_STREAM,
 LANES) = range(20, 42)  # fmt: skip
# `WANTED`: the servers that there are to be; those that start serve later.  `LASTS_STREAM`: how long a service may last
# before its server begins anew, or NOTHING; `START_STREAM`: how long it then is away.
IN_SERVERS, LANE_WIDTH = 2, 4  # offset of the second list of a lane
# `SHARED`: of a station with fair shares, the work that who has been in service since it was last empty has had.
# `SERVICES`: a table with the stream and the mean of each source, or NOTHING where all are served alike.
SERVICE_STREAM, SERVICE_MEAN, SERVICE_WIDTH = range(3)
# Routes: counts, facts, limits, timers (first, last, armed), pauses before retries.
(N_LIVE, N_FIRST, N_HELD, N_AT_STATION, N_OPEN, N_CALLS, N_SUCCEEDED, N_GAVE_UP, N_DROPPED, N_TRIES, N_RETRIES,
 N_HEDGES, N_TIMEOUTS, N_DEADLINES, N_REJECTED, N_REFUSED, N_ANSWERED_FAILED, N_ANSWERED, N_CANCELS, N_ABANDONED,
 N_DENIED, N_BROKEN, N_TRIES_LOST) = range(23)  # fmt: skip
(ROUTE_NUMBER, STATION, TRIES, RETRY_ON, CANCELS, BUDGET_OF, JITTER, JITTER_STREAM, PER_TRY, ROUTE_DEADLINE, BREAKER,
 MOST_RETRIES, HEDGE_AFTER, SHARE, FLOOR, BASE, CAP, LEAST, MOST) = range(23, 42)  # fmt: skip
TRY_TIMER, CALL_TIMER, HEDGE_TIMER, FALLBACK, GATES, CIRCUIT, PACED, PAUSES = 42, 45, 48, 51, 52, 53, 54, 55
TIMER_ARMED = 2
DISTINCT_PAUSES = 64  # pauses before later retries are those of the last
ROUTE_WIDTH = PAUSES + DISTINCT_PAUSES
# Plans of an owner: how many, the stream that chooses, then each with the share up to which it is chosen.
PLANS_COUNT, PLANS_STREAM, PLANS_FIRST = range(3)
PLAN_UP_TO, PLAN_ADDRESS, PLAN_WIDTH = range(3)
# Gates of a route: how many, then their addresses.  A gate: what it lets through in each window (or the size of its
# bucket), the length of the window (0: a bucket that fills at a rate), whether those beyond wait, or count; then where
# it says when each of its places was last taken, and whose turn it is, or how full the bucket was when.
(GATE_MOST, GATE_WINDOW, GATE_RATE, GATE_WAITS, GATE_COUNTS, GATE_PLACES, GATE_NEXT, GATE_FILLED, GATE_SINCE,
 GATE_WIDTH) = range(10)  # fmt: skip
# A budget of retries in a window: whether first tries alone count, which slice of the window it is, what was sent and
# sent again in all slices, the length of a slice, the share and the floor; then both counts of each slice in a ring.
SLICES = 100
(PACED_FIRST, PACED_SLICE, PACED_SENDS, PACED_RETRIES, PACED_BASE, PACED_SHARE, PACED_FLOOR, PACED_RING) = range(8)
# A breaker of a route that opens after failures: what opens it, how long for, how many trials; then its state, until
# when it is open, the permits of its trials, how many outcomes it counts, failures among them, and each in a ring.
CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_HALF_OPEN = range(3)
(CIRCUIT_SHARE, CIRCUIT_LAST, CIRCUIT_LEAST, CIRCUIT_OPEN_FOR, CIRCUIT_TRIALS, CIRCUIT_STATE, CIRCUIT_UNTIL,
 CIRCUIT_PERMITS, CIRCUIT_COUNTED, CIRCUIT_FAILED, CIRCUIT_NEXT, CIRCUIT_RING) = range(12)  # fmt: skip
# Outages.  Streams of draws: how many were taken, then a block.
OUTAGE_STATION, OUTAGE_REFUSES, OUTAGE_WIDTH = range(3)
SLACK = 16  # draws left in a block when it is filled up again
# Events in the heap, things to carry out at once, finished requests, lines of the trace.
E_TIME, E_KEY, E_ROW, E_STAMP, E_WIDTH = range(5)
A_KIND, A_ROW, A_STAMP, A_ARGUMENT, A_WIDTH = range(5)
F_SOURCE, F_START, F_END, F_TRIES, F_CAUSE, F_NEED, F_WIDTH = range(7)
(L_TIME, L_ACTION, L_WHICH, L_REQUEST, L_NUMBER, L_CAUSE, L_WHERE, L_WIDTH) = range(8)

# The loop's own registers: how much is in its regions of memory, where they are, how much they hold.
(HEAP, SEQUENCE, HEAD, TAIL, REQUESTS_FREE, CALLS_FREE, TRIES_FREE, REQUESTS_LEFT, CALLS_LEFT, TRIES_LEFT,
 ARRIVAL, ARRIVALS, FINISHED, SAMPLED, SAMPLES_BEFORE, TRACED, EVENTS, AT_ONCE, MOST_AT_ONCE, SERIAL, LOW_DRAWS,
 MARGIN, CLASSES, TRACING, COLUMNS,
 HEAP_AT, TASKS_AT, ARRIVALS_AT, SOURCES_AT, FINISHED_AT, SAMPLES_AT, COLUMNS_AT, TRACED_AT,
 HEAP_HOLDS, TASKS_HOLD, FINISHED_HOLDS, SAMPLES_HOLD, TRACED_HOLDS,
 MOST_EVENTS, NOW, UNTIL, NEXT_SAMPLE, EVERY, WATCHED, WATCHED_AT, REGISTERS) = range(46)  # fmt: skip
# Watched counts: where each stands, and the least and the most with which the loop goes on.
W_ADDRESS, W_LEAST, W_MOST, W_WIDTH = range(4)
# Why the loop returned.
REACHED, NEEDS_ARRIVALS, NEEDS_DRAWS, NEEDS_ROOM, NEEDS_EMPTYING, TOO_MANY, LEFT_BAND = range(7)
