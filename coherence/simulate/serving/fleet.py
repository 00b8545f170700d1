"""Runs the copies of a server through a load: requests go to the copy with the least to do, copies take their steps.

A request goes, when it comes, to the copy with the least `4 waiting + running`, in turn where several have the least.
SOURCE: vLLM, `v1/engine/core_client.py`, DPLBAsyncMPClient (behaviour; its counts are up to 100 ms old, ours are not).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coherence.simulate.requests.compiled import compiled, digest, in_place
from coherence.simulate.serving.kernel import duration, enqueue, finish, plan
from coherence.simulate.serving.state import (
    FREE,
    LAST,
    NEXT,
    PREFILLED,
    RUNNING,
    SAMPLES,
    WAITING,
    WRITTEN,
    Array,
    Copies,
    Cost,
    Rules,
    copy_of,
)

HELPERS = digest(*(str(Path(__file__).with_name(name)) for name in ("kernel.py", "blocks.py", "state.py")))


@compiled
def is_busy(fleet: Copies, copy: int) -> bool:
    """Has the copy a request?"""
    return bool(fleet.count[copy, RUNNING] + fleet.count[copy, WAITING] > 0)


@compiled
def first_of(fleet: Copies) -> int:
    """Returns the copy whose next step begins first, or -1 where none has a request."""
    best = -1
    for copy in range(len(fleet.count)):
        if is_busy(fleet, copy) and (best < 0 or fleet.clock[copy, 0] < fleet.clock[best, 0]):
            best = copy
    return best


@compiled
def least_busy(fleet: Copies) -> int:
    """Returns the copy that takes the next request."""
    copies, best, least = len(fleet.count), 0, -1
    for turn in range(copies):
        copy = (fleet.turn[LAST] + 1 + turn) % copies
        score = 4 * fleet.count[copy, WAITING] + fleet.count[copy, RUNNING]
        if least < 0 or score < least:
            best, least = copy, score
    return best


@compiled
def send(rules: Rules, fleet: Copies) -> None:
    """Sends the next request to a copy; one that was idle begins now, or with the others."""
    request, copy, first = fleet.turn[NEXT], least_busy(fleet), first_of(fleet)
    begin = fleet.clock[first, 0] if rules.together and first >= 0 else fleet.of.arrival[request]
    if not is_busy(fleet, copy):
        fleet.clock[copy, 0] = max(fleet.clock[copy, 0], begin)
    enqueue(copy_of(fleet, copy), request)
    fleet.turn[NEXT] += 1
    fleet.turn[LAST] = copy


@compiled
def send_all(rules: Rules, fleet: Copies, until: float) -> None:
    """Sends the requests that have come by a time, as long as no copy begins a step before them."""
    while fleet.turn[NEXT] < len(fleet.of.arrival) and fleet.of.arrival[fleet.turn[NEXT]] <= until:
        first = first_of(fleet)
        if first >= 0 and fleet.clock[first, 0] < fleet.of.arrival[fleet.turn[NEXT]]:
            return
        send(rules, fleet)


@compiled
def resumed(fleet: Copies, time: float) -> float:
    """Returns the end of the pause that a time is in, or the time."""
    for row in range(len(fleet.pauses)):
        if fleet.pauses[row, 0] <= time < fleet.pauses[row, 1]:
            time = fleet.pauses[row, 1]
    return time


@compiled
def step_alone(rules: Rules, cost: Cost, fleet: Copies, copy: int) -> float:
    """Takes a step of one copy.  Returns its end."""
    state = copy_of(fleet, copy)
    plan(rules, state)
    end = state.clock[0] + duration(cost, state)
    finish(rules, state, end)
    return float(end)


@compiled
def step_together(rules: Rules, cost: Cost, fleet: Copies, begin: float) -> float:
    """Takes a step of all copies that have a request; it lasts as long as the slowest needs.  Returns its end."""
    longest = 0.0
    for copy in range(len(fleet.count)):
        if is_busy(fleet, copy):
            state = copy_of(fleet, copy)
            state.clock[0] = begin
            plan(rules, state)
            longest = max(longest, duration(cost, state))
    for copy in range(len(fleet.count)):
        if is_busy(fleet, copy):
            finish(rules, copy_of(fleet, copy), begin + longest)
    return begin + longest


@compiled
def observe(rules: Rules, fleet: Copies, samples: Array, now: float) -> None:
    """Writes a sample if one is due, and always when all copies fall idle."""
    running = 0
    for copy in range(len(fleet.count)):
        running += fleet.count[copy, RUNNING]
    if now < fleet.sampling[0] and running > 0:
        return
    row = samples[fleet.turn[SAMPLES]]
    row[0], row[1], row[2:] = now, running, 0.0
    for copy in range(len(fleet.count)):
        row[2] += fleet.count[copy, WAITING]
        row[3] += rules.blocks - fleet.count[copy, FREE]
        row[4] += fleet.count[copy, PREFILLED]
        row[5] += fleet.count[copy, WRITTEN]
    fleet.turn[SAMPLES] += 1
    if now >= fleet.sampling[0]:
        fleet.sampling[0] = (now // fleet.sampling[1] + 1) * fleet.sampling[1]


def _run(sources: str) -> Callable[[Rules, Cost, Copies, float, Array], bool]:
    """Returns the loop over steps and arrivals.  `sources` is closed over: a changed helper makes another entry."""

    @in_place
    def advance(rules: Rules, cost: Cost, fleet: Copies, until: float, samples: Array) -> bool:
        """Takes steps that begin before `until`.  True when nothing more is to do, False when `samples` is full."""
        _ = sources
        while fleet.turn[SAMPLES] < len(samples):
            copy, arrivals = first_of(fleet), fleet.of.arrival
            coming = arrivals[fleet.turn[NEXT]] if fleet.turn[NEXT] < len(arrivals) else until
            begin = fleet.clock[copy, 0] if copy >= 0 else until
            if min(coming, begin) >= until:
                return True
            if coming <= begin:
                send(rules, fleet)
            elif resumed(fleet, begin) > begin:
                fleet.clock[copy, 0] = resumed(fleet, begin)
            else:
                end = (
                    step_together(rules, cost, fleet, begin) if rules.together else step_alone(rules, cost, fleet, copy)
                )
                send_all(rules, fleet, end)
                observe(rules, fleet, samples, end)
        return False

    return advance


advance = _run(HELPERS)
