"""Follows a disturbance of a retrying call in the fluid limit: mean rates, first come first served, exact ages.

An outage stops all servers, a burst changes the rate of first tries.  A try that is not served when `per_try` has
passed is sent again after the call's pause (as tries, budget and breaker allow), and the first copy is still served.
Service time counts as waiting behind the fluid, and noise is left out: the true separatrix is a little closer.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

from coherence.base.bisection import halved
from coherence.base.errors import UsageError
from coherence.simulate.metastability.load_map import Retrying, overload

SLOTS = 40  # to one per_try: the resolution of time
_MOST_TRIES = 16  # classes of tries kept apart; beyond, retries count as the last class
_MOST_CYCLES = 60  # of limit and pause: waves of retries that come and go for longer are not followed to an end
_LONGEST = 4096  # times per_try: a trigger longer than this is not looked for
EPSILON = sys.float_info.epsilon


@dataclass(frozen=True)
class Disturbance:
    """From time 0 for `lasts` seconds: servers stand still (`rate` None) or first tries come at `rate` per second."""

    lasts: float
    rate: float | None = None


@dataclass(frozen=True)
class BacklogCourse:
    """What becomes of it: the backlog (tries) when it ends, and seconds from then until tries are in time again."""

    backlog: float
    recovery: float  # inf: never
    followed: bool = True  # to its end; else `recovery` is a lower bound, and whether it collapses is undecided

    @property
    def collapses(self) -> bool:
        return math.isinf(self.recovery)


@dataclass(frozen=True)
class _Flow:
    """Cumulative tries sent and served, and those sent in each slot by class (first tries, second tries, ...)."""

    sent: list[float] = field(default_factory=lambda: [0.0])
    served: list[float] = field(default_factory=lambda: [0.0])
    classes: list[list[float]] = field(default_factory=list)
    late: list[list[float]] = field(default_factory=list)  # what each slot found late, by the class it becomes

    def unserved(self, slot: int) -> float:
        """Share of a slot's tries that is not served yet."""
        before, after = self.sent[slot], self.sent[slot + 1]
        return min(1.0, max(0.0, (after - self.served[-1]) / (after - before))) if after > before else 0.0


def course(call: Retrying, disturbance: Disturbance) -> BacklogCourse:
    """Follow the fluid from rest until tries were in time for a whole cycle, or late for as many cycles as tries."""
    if call.server.cancel:
        raise UsageError("the fluid follows tries that are still served after their time-out (abandon)")
    width, flow = call.server.per_try / SLOTS, _Flow()
    cycle = SLOTS + round(call.pause / width)
    settled = math.ceil(min(call.tries, _MOST_TRIES) + 2) * cycle
    backlog, calm, late, slot = 0.0, 0, 0, 0
    while True:
        time = slot * width
        calm, late = (0, late + 1) if _step(call, disturbance, flow, time, width) else (calm + 1, 0)
        slot += 1
        standing = flow.sent[-1] - flow.served[-1]
        if time < disturbance.lasts:
            backlog, calm, late = standing, 0, 0
        elif calm > cycle:
            return BacklogCourse(backlog, max(0.0, (slot - calm) * width - disturbance.lasts))
        elif late > settled and _fed(call, flow, cycle, width):
            return BacklogCourse(backlog, _drained(call, standing, slot * width - disturbance.lasts))
        elif time > disturbance.lasts + _MOST_CYCLES * cycle * width:
            return BacklogCourse(backlog, slot * width - disturbance.lasts, followed=False)


def _fed(call: Retrying, flow: _Flow, cycle: int, width: float) -> bool:
    """Has as much come in over the last cycle as could be served?  A backlog that shrinks goes on to be followed.

    To the rounding of the sums: retries that just fill the capacity leave a backlog that neither grows nor shrinks.
    """
    rounding = len(flow.sent) * EPSILON * flow.sent[-1]
    came = flow.sent[-1] - flow.sent[-1 - cycle]
    return overload(call) < call.capacity or came >= call.capacity * cycle * width - rounding


def _drained(call: Retrying, standing: float, passed: float) -> float:
    """An overload that has settled: it drains at capacity - overload down to what is served within `per_try`."""
    spare = call.capacity - overload(call)
    return passed + max(0.0, standing - call.capacity * call.server.per_try) / spare if spare > 0 else math.inf


def _step(call: Retrying, disturbance: Disturbance, flow: _Flow, time: float, width: float) -> bool:
    """One slot: late tries are sent again, first tries come, servers serve.  Was any try late?"""
    during = time < disturbance.lasts
    rate = disturbance.rate if during and disturbance.rate is not None else call.rate
    flow.late.append(_late(flow, call.tries))
    ago = 1 + round(call.pause / width)
    again = flow.late[-ago] if len(flow.late) >= ago else []
    flight = _in_flight(call, flow)
    first = min(rate * width, max(0.0, call.breaker - sum(flight)))
    wanted = sum(again)
    scale = min(1.0, _allowed(call, flight[0] + first, flight[1]) / wanted) if wanted > 0 else 0.0
    classes = [first, *(count * scale for count in again)]
    flow.classes.append(classes)
    flow.sent.append(flow.sent[-1] + sum(classes))
    paused = during and disturbance.rate is None
    served = flow.served[-1] + (0.0 if paused else call.capacity * width)
    flow.served.append(min(flow.sent[-1], served))
    return sum(flow.late[-1]) > 0 or (len(flow.classes) > SLOTS and flow.unserved(len(flow.classes) - 1 - SLOTS) > 0)


def _late(flow: _Flow, tries: float) -> list[float]:
    """By class, the tries whose limit passes now and that may be sent again: second tries first."""
    due = len(flow.classes) - SLOTS
    share = flow.unserved(due) if due >= 0 else 0.0
    if share <= 0:
        return []
    late = [count * share for count in flow.classes[due]]
    if math.isinf(tries) or tries > _MOST_TRIES:
        return [*late[: _MOST_TRIES - 2], sum(late[_MOST_TRIES - 2 :])]
    return late[: int(tries) - 1]


def _in_flight(call: Retrying, flow: _Flow) -> tuple[float, float]:
    """First tries and retries that callers still wait for; counted only where a cap asks."""
    if math.isinf(call.share) and math.isinf(call.most_retries) and math.isinf(call.breaker):
        return 0.0, 0.0
    recent = range(max(0, len(flow.classes) - SLOTS + 1), len(flow.classes))
    shares = [(flow.classes[slot], flow.unserved(slot)) for slot in recent]
    return sum(tries[0] * share for tries, share in shares), sum(sum(tries[1:]) * share for tries, share in shares)


def _allowed(call: Retrying, first: float, again: float) -> float:
    """Retries that budget and breaker let through now, with so many first tries and retries in flight."""
    allowed = min(call.most_retries - again, call.breaker - first - again)
    if not math.isinf(call.share):
        part = call.share if call.of_first else call.share / (1 - call.share) if call.share < 1 else math.inf
        allowed = min(allowed, max(call.floor, part * first) - again)
    return max(0.0, allowed)


@dataclass(frozen=True)
class ShortestTrigger:
    """Seconds of the shortest trigger from which a call does not recover (inf: none is known), and what is open below.

    `undecided`: between the longest one that is followed to a recovery and the shortest one that is followed to a
    collapse lie triggers whose backlog is not followed to an end.
    """

    seconds: float
    undecided: bool = False


def smallest_pause(call: Retrying) -> ShortestTrigger:
    """Returns the shortest standstill from which the call does not recover; monotone, so by bisection."""
    return _smallest(call, None)


def smallest_burst(call: Retrying, rate: float) -> ShortestTrigger:
    """Returns the shortest burst of first tries at `rate` from which the call does not recover."""
    return _smallest(call, rate)


def _smallest(call: Retrying, rate: float | None) -> ShortestTrigger:
    if overload(call) < call.capacity:
        return ShortestTrigger(math.inf)
    courses: list[tuple[float, BacklogCourse]] = []

    def collapses(seconds: float) -> bool:
        courses.append((seconds, course(call, Disturbance(seconds, rate))))
        return courses[-1][1].collapses

    low, high = 0.0, call.server.per_try
    while not collapses(high):
        low, high = high, 2 * high
        too_weak = rate is not None and rate <= call.capacity and low > 8 * call.server.per_try  # nothing queues up
        if too_weak or high > _LONGEST * call.server.per_try:
            return ShortestTrigger(math.inf, any(not one.followed for _, one in courses))
    shortest = halved(collapses, high, low, near=lambda high, low: high - low <= call.server.per_try / SLOTS)[0]
    return ShortestTrigger(shortest, any(seconds < shortest and not one.followed for seconds, one in courses))
