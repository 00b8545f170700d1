"""Runs switching loops from event to event: exact exponentials, delays by the method of steps.

An event is a crossing (an element's input passes a threshold) or an arrival (its new output takes effect
one delay later).  A command that would arrive before an earlier one replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from coherence.loops.cycles.delayed_runs_flow import Flow
from coherence.loops.cycles.relay import Array, Element, Pieces, System

PATIENCE = 40.0  # time constants without an event after which a run is at rest
MOST_DRIFT = 1000.0  # times the patience that a steady drift is followed
INSTANT = 1e-11  # of a time scale: events closer than this happen at once
ROUNDING = 1e-12  # of the largest output seen: what rounding may do to an output
Levels = tuple[int, ...]


@dataclass(frozen=True)
class RunEvent:
    """`element` passes `threshold` to `level` (a crossing, `source` None), or takes `level` on (an arrival of
    the crossing number `source`).  `acts`: a crossing that takes effect at once.
    """

    element: int
    level: int
    threshold: float
    source: int | None = None
    acts: bool = False


@dataclass(frozen=True)
class Pending:
    """A command on its way."""

    time: float
    element: int
    level: int
    source: int


@dataclass(frozen=True)
class Segment:
    """Constant outputs `held` from the state z over a duration, ended by an event.  `number`: of the crossing."""

    start: float
    z: Array
    held: Levels
    seen: Levels
    duration: float
    event: RunEvent
    number: int


@dataclass(frozen=True)
class Start:
    """Where a run begins: z = (x, 1), what each element has seen and puts out, and what is on its way."""

    z: Array
    seen: Levels
    held: Levels
    pending: tuple[Pending, ...] = ()


class Run:
    """One run.  Iterating gives its segments; `ended` then says why there are no more ("" if there may be).

    `sizes`: how large the outputs have been, where that is known; it sets what counts as rounding.
    """

    def __init__(self, system: System, start: Start, *, sizes: Array | None = None) -> None:
        self.system = system
        self.time = 0.0
        self.z, self.seen, self.held = start.z, start.seen, start.held
        self.pending = sorted(start.pending, key=lambda p: p.time)
        self.number = 0
        self.ended = ""
        self.instant = 0
        self.longest = 0.0
        self.sizes = np.zeros(len(system.elements)) if sizes is None else sizes

    def __iter__(self) -> Iterator[Segment]:
        while not self.ended:
            segment = self._advance()
            if segment is not None:
                yield segment

    def _advance(self) -> Segment | None:
        flow = flow_of(self.system, self.held)
        within = self.pending[0].time - self.time if self.pending else quiet_time(self.system, flow)
        crossing = self._crossing(flow, within)
        if crossing is None and not self.pending:
            within = self._drift(flow, within)
            crossing = self._crossing(flow, within) if within else None
            if crossing is None:
                self.ended = self.ended or "away"
                return None
        duration, event = crossing or (within, self._arrival())
        segment = Segment(self.time, self.z, self.held, self.seen, duration, event, self.number)
        self.time += duration
        self.z = flow.after(self.z, duration)
        self._take(event)
        self._count(duration)
        return segment

    def _crossing(self, flow: Flow, within: float) -> tuple[float, RunEvent] | None:
        best: tuple[float, RunEvent] | None = None
        self.sizes = np.maximum(self.sizes, flow.weights @ np.abs(self.z))
        for index, (element, level) in enumerate(zip(self.system.elements, self.seen, strict=True)):
            low, high = element.bounds(level)
            slack = ROUNDING * float(self.sizes[index])
            leaving = flow.leaves(self.z, index, (low, high), best[0] if best else within, slack)
            if leaving is not None and (best is None or leaving[0] < best[0]):
                acts = (self.system.rise if leaving[1] > 0 else self.system.fall)[index] == 0
                threshold = high if leaving[1] > 0 else low
                best = leaving[0], RunEvent(index, level + leaving[1], threshold, None, acts)
        return best

    def _arrival(self) -> RunEvent:
        first = self.pending[0]
        return RunEvent(first.element, first.level, math.nan, first.source)

    def _take(self, event: RunEvent) -> None:
        if event.source is not None:
            self.pending.pop(0)
            self.held = _with(self.held, event.element, event.level)
            return
        rises = event.level > self.seen[event.element]
        self.seen = _with(self.seen, event.element, event.level)
        delay = (self.system.rise if rises else self.system.fall)[event.element]
        due = self.time + delay
        self.pending = [p for p in self.pending if p.element != event.element or p.time <= due]
        if event.acts:
            self.held = _with(self.held, event.element, event.level)
        else:
            self.pending.append(Pending(due, event.element, event.level, self.number))
            self.pending.sort(key=lambda p: p.time)
        self.number += 1
        if self._beyond(event):
            self.ended = "away"

    def _beyond(self, event: RunEvent) -> bool:
        element = self.system.elements[event.element]
        return element.endless and event.level in {0, _count(element) - 1}

    def _count(self, duration: float) -> None:
        """Ends the run where it switches without time in between (sliding) or where swings shrink for ever (rest)."""
        self.longest = max(self.longest, duration)
        self.instant = self.instant + 1 if duration <= INSTANT * self.longest else 0
        if self.instant > 6 * len(self.seen) + 2 * len(self.pending) + 4:
            self.ended = "sliding"

    def _drift(self, flow: Flow, within: float) -> float:
        """Returns how long a steady drift may take to the next threshold;
        0 with the end of the run where none comes.
        """
        if not math.isfinite(within):
            self.ended = "away" if np.any(flow.outputs @ flow.slope(self.z)) else "rest"
            return 0.0
        late = flow.after(self.z, within)
        rates, places = flow.outputs @ flow.slope(late), flow.outputs @ late
        if np.max(np.abs(rates)) * within <= 1e-6 * (1 + np.max(np.abs(places))):
            self.ended = "rest"
            return 0.0
        longest = 0.0
        for element, level, rate, place in zip(self.system.elements, self.seen, rates, places, strict=True):
            low, high = element.bounds(level)
            ahead = (high if rate > 0 else low) - place
            if math.isfinite(ahead) and rate:
                longest = max(longest, within + 1.5 * float(ahead / rate))
        return min(longest, within * MOST_DRIFT)


def _count(element: Element) -> int:
    return len(element.slopes if isinstance(element, Pieces) else element.levels)


def _with(levels: Levels, index: int, level: int) -> Levels:
    return (*levels[:index], level, *levels[index + 1 :])


@lru_cache(maxsize=512)
def flow_of(system: System, held: Levels) -> Flow:
    """Returns the flow while the elements hold these levels (or lie on these pieces)."""
    a, b, c, drift = system.matrices
    slopes, outputs = np.zeros(len(held)), np.zeros(len(held))
    for index, (element, level) in enumerate(zip(system.elements, held, strict=True)):
        if isinstance(element, Pieces):
            slopes[index], outputs[index] = element.slopes[level], element.intercepts[level]
        else:
            outputs[index] = element.levels[level]
    return Flow(a + b @ (slopes[:, None] * c), b @ outputs + drift, c)


def quiet_time(system: System, flow: Flow) -> float:
    """Returns how long to wait for an event before a run counts as at rest or running away."""
    if flow.polynomial:
        return math.inf
    fades = np.abs(flow.modes.real[np.abs(flow.modes.real) > 1e-12 * np.max(np.abs(flow.modes))])
    turns = np.abs(flow.modes.imag[np.abs(flow.modes.imag) > 0])
    slow = [1 / np.min(fades)] if len(fades) else []
    return PATIENCE * float(max([*slow, *(2 * np.pi / turns), *system.rise, *system.fall, 4 * flow.step]))


def start_at(system: System, x: Array, *, above: bool = False) -> Start:
    """Returns the start at rest in x until time 0: each element has long put out what it sees."""
    z = np.append(np.asarray(x, float), 1.0)
    outputs = system.matrices[2] @ z[:-1]
    levels = tuple(e.level(float(y), above=above) for e, y in zip(system.elements, outputs, strict=True))
    return Start(z, levels, levels)
