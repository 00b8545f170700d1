"""Handles outages in the event loop: servers that stand still and go on."""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    CLASSES,
    DONE,
    IN_SERVERS,
    LANE_WIDTH,
    LANES,
    NOTHING,
    NOW,
    OUTAGE_REFUSES,
    OUTAGE_STATION,
    PAUSED,
    Q_NEXT,
    REFUSING,
    RESUMES,
    START,
    STOPS,
    T_END,
    T_EVENT,
    T_WORK,
    Floats,
    Ints,
)
from coherence.simulate.requests.events_tables import at_once, schedule, tell


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
