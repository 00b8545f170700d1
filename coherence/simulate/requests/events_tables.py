"""Updates the tables of the event loop for every handler: the heap, lists, records, tasks, draws."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.draws import BLOCK
from coherence.simulate.requests.events_layout import (
    A_ARGUMENT,
    A_KIND,
    A_ROW,
    A_STAMP,
    A_WIDTH,
    E_KEY,
    E_ROW,
    E_STAMP,
    E_WIDTH,
    FREE,
    HEAP,
    HEAP_AT,
    HEDGE,
    KIND_SHIFT,
    L_ACTION,
    L_CAUSE,
    L_NUMBER,
    L_REQUEST,
    L_WHERE,
    L_WHICH,
    L_WIDTH,
    LOW_DRAWS,
    NOTHING,
    NOW,
    PLAN_ADDRESS,
    PLAN_UP_TO,
    PLAN_WIDTH,
    PLANS_COUNT,
    PLANS_FIRST,
    PLANS_STREAM,
    SEQUENCE,
    SLACK,
    STAMP,
    TAIL,
    TASKS_AT,
    TIMER_ARMED,
    TRACED,
    TRACED_AT,
    TRACING,
    TRY_LIMIT,
    Floats,
    Ints,
)


@inlined
def sift_up(n: Ints, x: Floats, time: float, key: int, row: int, stamp: int, hole: int) -> None:
    """Put an event into the heap, beginning at a free place at its end.  Order: time, then key."""
    base = n[HEAP_AT]
    while hole > 0:
        above = (hole - 1) >> 1
        event = base + E_WIDTH * above
        if x[event] < time or (x[event] == time and n[event + E_KEY] < key):
            break
        move(n, x, event, base + E_WIDTH * hole)
        hole = above
    event = base + E_WIDTH * hole
    x[event] = time
    n[event + E_KEY], n[event + E_ROW], n[event + E_STAMP] = key, row, stamp


@inlined
def move(n: Ints, x: Floats, event: int, to: int) -> None:
    """An event to another place of the heap."""
    x[to] = x[event]
    n[to + E_KEY], n[to + E_ROW], n[to + E_STAMP] = n[event + E_KEY], n[event + E_ROW], n[event + E_STAMP]


@inlined
def take_first(n: Ints, x: Floats) -> None:
    """Remove the first event: the hole goes down to a leaf, then the last event goes up from there."""
    base, last = n[HEAP_AT], n[HEAP] - 1
    n[HEAP] = last
    hole, below = 0, 1
    while below < last:
        left, right = base + E_WIDTH * below, base + E_WIDTH * (below + 1)
        if below + 1 < last and (x[right] < x[left] or (x[right] == x[left] and n[right + E_KEY] < n[left + E_KEY])):
            below, left = below + 1, right
        move(n, x, left, base + E_WIDTH * hole)
        hole = below
        below = 2 * hole + 1
    event = base + E_WIDTH * last
    sift_up(n, x, x[event], n[event + E_KEY], n[event + E_ROW], n[event + E_STAMP], hole)


@inlined
def schedule(n: Ints, x: Floats, time: float, kind: int, row: int, stamp: int) -> None:
    """An event at a time.  It is skipped if the stamp of its row is another by then."""
    number = row if TRY_LIMIT <= kind <= HEDGE else n[SEQUENCE]
    n[SEQUENCE] += 1
    n[HEAP] += 1
    sift_up(n, x, time, (kind << KIND_SHIFT) | number, row, stamp, n[HEAP] - 1)


@inlined
def at_once(n: Ints, kind: int, row: int, stamp: int, argument: int) -> None:
    """Something to carry out at this instant, after what was already asked for."""
    task = n[TASKS_AT] + A_WIDTH * n[TAIL]
    n[task + A_KIND], n[task + A_ROW], n[task + A_STAMP], n[task + A_ARGUMENT] = kind, row, stamp, argument
    n[TAIL] += 1


@inlined
def append(n: Ints, ends: int, row: int, before: int, after: int) -> None:
    """Add a record at the end of a list, whose first and last stand at `ends`; `before`, `after`: fields of links."""
    last = n[ends + 1]
    n[row + before], n[row + after] = last, NOTHING
    n[ends + 1] = row
    if last == NOTHING:
        n[ends] = row
    else:
        n[last + after] = row


@inlined
def prepend(n: Ints, ends: int, row: int, before: int, after: int) -> None:
    """Add a record at the beginning of a list."""
    first = n[ends]
    n[row + before], n[row + after] = NOTHING, first
    n[ends] = row
    if first == NOTHING:
        n[ends + 1] = row
    else:
        n[first + before] = row


@inlined
def remove(n: Ints, ends: int, row: int, before: int, after: int) -> None:
    """Take a record out of the list it is in."""
    earlier, later = n[row + before], n[row + after]
    if earlier == NOTHING:
        n[ends] = later
    else:
        n[earlier + after] = later
    if later == NOTHING:
        n[ends + 1] = earlier
    else:
        n[later + before] = earlier


@inlined
def new_row(n: Ints, chain: int, left: int) -> int:
    """Returns a free record.  The loop made sure that there is one."""
    row = n[chain]
    n[chain] = n[row + FREE]
    n[left] -= 1
    return row  # type: ignore[no-any-return]


@inlined
def free_row(n: Ints, row: int, chain: int, left: int) -> None:
    """Give a record back; its stamp changes, so that what was scheduled for it is skipped."""
    n[row + STAMP] += 1
    n[row + FREE] = n[chain]
    n[chain] = row
    n[left] += 1


@inlined
def draw(n: Ints, x: Floats, stream: int) -> float:
    """Returns the next number of a stream."""
    n[stream] += 1
    position = n[stream]
    if position + SLACK >= BLOCK:
        n[LOW_DRAWS] = 1
    return x[stream + position]  # type: ignore[no-any-return]


@inlined
def plan_of(n: Ints, x: Floats, plans: int) -> int:
    """Returns the plan of one request, drawn by the shares of the plans where there are several."""
    own = plans + PLANS_FIRST
    if n[plans + PLANS_COUNT] > 1:
        unit = draw(n, x, n[plans + PLANS_STREAM])
        while x[own + PLAN_UP_TO] <= unit:
            own += PLAN_WIDTH
    return n[own + PLAN_ADDRESS]  # type: ignore[no-any-return]


@inlined
def arm(n: Ints, x: Floats, kind: int, route: int, timer: int, time: float) -> None:
    """One event watches the earliest limit of a list; it may be early, never late."""
    if not n[route + timer + TIMER_ARMED]:
        n[route + timer + TIMER_ARMED] = 1
        schedule(n, x, time, kind, route, 0)


@inlined
def tell(  # noqa: PLR0913, PLR0917  (the columns of a line)
    n: Ints, x: Floats, action: int, which: int, request: int, number: int, cause: int, where: int
) -> None:
    """A line of the trace, if one is kept."""
    if n[TRACING]:
        line = n[TRACED_AT] + L_WIDTH * n[TRACED]
        x[line] = x[NOW]
        n[line + L_ACTION], n[line + L_WHICH], n[line + L_REQUEST] = action, which, request
        n[line + L_NUMBER], n[line + L_CAUSE], n[line + L_WHERE] = number, cause, where
        n[TRACED] += 1
