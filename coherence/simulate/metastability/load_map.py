"""Computes the load map of a retrying call: tries per second sent, as a function of tries per second that arrive.

A load L makes the share q(L) of tries late; a request is sent 1 + q + ... + q^(A-1) times, so that the load becomes
rate * (1 - q^A) / (1 - q), capped by retry budget and breaker.  Its fixed points are the operating points of the call,
stable where the map is flatter than the diagonal; the unstable ones part their basins.  A fixed point at or above
the capacity is an overload that keeps itself up.  A cap of concurrency can make a second stable point below the
capacity; it is listed, but a queue there drains and noise leaves it, so that it does not decide the verdict.

SOURCE: N. Bronson et al., "Metastable failures in distributed systems", HotOS 2021 (the effect); the map is the
mean-field reading: late tries are independent, and the load is what it is on average.  Noise crosses an edge earlier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from coherence.base.queueing import erlang_b
from coherence.base.sends import expected
from coherence.simulate.metastability.waits import Server, lateness

RESOLUTION = 1e-9  # of the capacity: how close fixed points are located
_MOST_CELLS = 100_000


@dataclass(frozen=True)
class Retrying:
    """`rate` first tries per second, up to `tries` sends each (inf: for ever), served by `server`.

    Caps of concurrency, in tries: at most max(`floor`, `share` x tries in flight) retries in flight (`of_first`: x
    first tries in flight), at most `most_retries` retries, at most `breaker` tries in flight at all.  `pause`: seconds
    from a time-out to the next try; the map does not read it (loads do not depend on it), the fluid does.
    """

    rate: float
    tries: float
    server: Server
    share: float = math.inf
    of_first: bool = False
    floor: float = 0.0
    most_retries: float = math.inf
    breaker: float = math.inf
    pause: float = 0.0

    @property
    def capacity(self) -> float:
        return self.server.capacity


@dataclass(frozen=True)
class FixedPoint:
    """A load that reproduces itself, with the share of late tries there and its sends per request."""

    load: float
    late: float
    stable: bool
    sends: float


class PortraitVerdict(StrEnum):
    """What the map says of the call."""

    HEALTHY = "healthy"  # an operating point below the capacity, and no overload keeps itself up
    METASTABLE = "metastable"  # an operating point below the capacity, and an overload that keeps itself up
    COLLAPSED = "collapsed"  # no operating point below the capacity
    UNRESOLVED = "unresolved"  # a tangency, or two points closer than the resolution


@dataclass(frozen=True)
class Portrait:
    """All fixed points by load, and the unstable ones between which each basin lies."""

    points: tuple[FixedPoint, ...]
    verdict: PortraitVerdict

    @property
    def edges(self) -> tuple[FixedPoint, ...]:
        """The unstable points: the separatrices."""
        return tuple(point for point in self.points if not point.stable)

    @property
    def healthy(self) -> FixedPoint | None:
        """The lowest stable point."""
        return next((point for point in self.points if point.stable), None)

    def basin(self, point: FixedPoint) -> tuple[float, float]:
        """Returns (low, high): loads from which the map leads to a stable point."""
        below = [edge.load for edge in self.edges if edge.load < point.load]
        above = [edge.load for edge in self.edges if edge.load > point.load]
        return max(below, default=0.0), min(above, default=math.inf)


def load_map(call: Retrying, load: float) -> float:
    """Returns the load that a load of `load` tries per second makes."""
    found = lateness(call.server, load)
    return _attempts(call, found.late, found.in_flight)


def overload(call: Retrying) -> float:
    """Tries per second while every try is late and the caller waits `per_try` for each."""
    return _attempts(call, 1.0, call.server.per_try)


def _attempts(call: Retrying, late: float, flight: float) -> float:
    """Returns the load at a share of late tries (grows with it) and a mean time in flight (shrinks with it)."""
    again = call.rate * max(0.0, expected(late, call.tries) - 1)
    budget = max(_share(call), _carried(again, call.floor, flight)) if math.isfinite(call.share) else math.inf
    retries = min(again, budget, _carried(again, call.most_retries, flight))
    return _carried(call.rate + retries, call.breaker, flight)


def _share(call: Retrying) -> float:
    """Retries per second within the share: b of first tries, b / (1 - b) where retries count as well."""
    if call.of_first:
        return call.rate * call.share
    return call.rate * call.share / (1 - call.share) if call.share < 1 else math.inf


def _carried(offered: float, places: float, flight: float) -> float:
    """Tries per second that find one of so many places in flight free: Erlang's loss, whatever the times in flight.

    A count is never used up to its last place: 3 of 3.6 wanted places carry 2.1 on average.  Tries of one request
    that follow each other at once keep their place, and count as one long stay.
    """
    wanted = offered * flight
    if places > wanted + 10 * math.sqrt(wanted) + 20 or wanted == 0:
        return offered
    if math.isinf(wanted):
        return places / flight
    return offered * (1 - erlang_b(math.floor(places), wanted))


def portrait(call: Retrying) -> Portrait:
    """Returns all fixed points of the load map.

    Complete: late tries and time in flight grow with the load, which encloses the map on every cell of the axis; a
    cell whose enclosure misses the diagonal holds no fixed point, any other is halved down to the resolution.  What
    remains are the points, and the signs beside them say which are stable.
    """
    low, high = _range(call)
    cells = _remaining(call, low, high) if not call.server.cancel or load_map(call, high) <= high else None
    if cells is None:
        return Portrait((), PortraitVerdict.UNRESOLVED)
    candidates = [_point(call, cell, low, high) for cell in _merged(cells)]
    points = [point for point in candidates if point is not None]
    beyond = overload(call)
    if not call.server.cancel and beyond >= call.capacity:
        points = [point for point in points if point.load < call.capacity * (1 - 10 * RESOLUTION) or not point.stable]
        points.append(FixedPoint(beyond, 1.0, True, beyond / call.rate))
    return Portrait(tuple(points), _verdict(call, points, resolved=len(points) >= len(candidates)))


def _range(call: Retrying) -> tuple[float, float]:
    """Returns where fixed points below saturation (abandon) or at all (cancel) may lie."""
    if not call.server.cancel:
        return min(call.rate, call.capacity) if math.isinf(call.breaker) else 0.0, call.capacity
    high = max(2 * call.rate, call.capacity)
    while load_map(call, high) > high and high < 1e6 * call.capacity:
        high *= 2
    return min(call.rate, load_map(call, call.rate)), high


def _remaining(call: Retrying, low: float, high: float) -> list[tuple[float, float]] | None:
    """Cells of the resolution that may hold a fixed point, in order; None where they are too many."""
    narrow: list[tuple[float, float]] = []
    width = RESOLUTION * max(call.capacity, high)
    stack = [(low, lateness(call.server, low), high, lateness(call.server, high))] if high > low else []
    for _ in range(_MOST_CELLS):
        if not stack:
            return narrow
        left, at_left, right, at_right = stack.pop()
        least, most = (
            _attempts(call, at_left.late, at_right.in_flight),
            _attempts(call, at_right.late, at_left.in_flight),
        )
        if least > right or most < left:
            continue
        if right - left <= width:
            narrow.append((left, right))
            continue
        middle = (left + right) / 2
        at_middle = lateness(call.server, middle)
        stack += [(middle, at_middle, right, at_right), (left, at_left, middle, at_middle)]
    return None


def _merged(cells: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Runs of neighbouring cells."""
    start: float | None = None
    end = 0.0
    for left, right in cells:
        if start is not None and left > end:
            yield start, end
            start = None
        start, end = left if start is None else start, right
    if start is not None:
        yield start, end


def _point(call: Retrying, cell: tuple[float, float], low: float, high: float) -> FixedPoint | None:
    """Returns the point in a cell, by the signs of map - diagonal beside it; None where they are equal (a tangency)."""
    left, right = cell
    above_before = left <= low or load_map(call, left) > left
    above_after = load_map(call, right) > right if right < high else overload(call) >= call.capacity
    if call.server.cancel and right >= high:
        above_after = False
    if above_before == above_after:
        return None
    load = _crossing(call, left, right, falls=above_before) if left > low or load_map(call, low) > low else low
    late = lateness(call.server, load).late
    return FixedPoint(load, late, stable=above_before, sends=load / call.rate)


def _crossing(call: Retrying, left: float, right: float, *, falls: bool) -> float:
    """Returns where the map crosses the diagonal between two loads, to the last digit."""
    while left < (middle := (left + right) / 2) < right:
        if (load_map(call, middle) > middle) == falls:
            left = middle
        else:
            right = middle
    return right


def _verdict(call: Retrying, points: list[FixedPoint], *, resolved: bool) -> PortraitVerdict:
    stable = [point for point in points if point.stable]
    if not resolved or not stable:
        return PortraitVerdict.UNRESOLVED
    if call.rate >= call.capacity or (not call.server.cancel and stable[0].load >= call.capacity):
        return PortraitVerdict.COLLAPSED
    lasting = not call.server.cancel and stable[-1].load >= call.capacity
    return PortraitVerdict.METASTABLE if lasting else PortraitVerdict.HEALTHY
