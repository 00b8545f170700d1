"""Follows the run of a straight model from its own start in balls: plants with lags, delays, landings and bounds.

Everything is a deviation from the operating point.  Before its start a model stands where it starts (model.md).
Flows read of the past what is commanded only, and nothing steps or takes means: else no run is followed.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.loops.designs.lap_matrices import LapError
from coherence.loops.designs.signal_gradients import Gradient, Gradients, PastSignal
from coherence.loops.multirate.balls import Ball, in_balls
from coherence.loops.multirate.enclosed_motion import EnclosedMotion
from coherence.model.model import Interval, Model, SampledLoop, in_turn

Array = Any
START = Fraction(0)


@dataclass(frozen=True)
class _Law:
    """What a loop decides: `own` times its last command, and what it reads; between `low` and `high`, deviations."""

    loop: SampledLoop
    own: Fraction
    gradient: Gradient
    limits: tuple[Interval, ...]
    point: Fraction

    def bounded(self, value: Ball) -> Ball:
        """Returns the command in its bounds."""
        for limits in self.limits:
            ends = [None if end is None else end - self.point for end in (limits.low, limits.high)]
            value = value.clipped(*ends)
        return value


class EnclosedRun:
    """A run in progress.  Raises LapError for a model that is not followed."""

    def __init__(self, model: Model, smooth: Model, point: Mapping[str, Fraction]) -> None:
        gradients = Gradients(smooth, point)
        self.levels = list(smooth.states)
        self.flows = [_flow(model, gradients, path) for path in self.levels]
        self.laws = [_law(model, gradients, loop, point) for loop in smooth.loops]
        if gradients.scrapes or gradients.memories:
            raise LapError("what sensors sample before the start is not followed")
        own = [[flow.get(PastSignal(path), START) for path in self.levels] for flow in self.flows]
        n = len(self.levels)
        self.motion = EnclosedMotion(np.array(own, dtype=object).reshape(n, n))
        self.channels = sorted(
            {r for flow in self.flows for r in flow if r.path in model.commands}, key=lambda r: (r.path, r.lag)
        )
        drive = [[flow.get(channel, START) for channel in self.channels] for flow in self.flows]
        self.drive = in_balls(np.array(drive, dtype=object).reshape(n, len(self.channels)))
        self.marks = [START]
        self.trace = [np.array([Ball.of(_start(model, p) - point[p]) for p in self.levels], dtype=object)]
        self.now = START
        self.lands = {loop.signal: loop.lands for loop in smooth.loops}
        if any(self.lands[loop.signal] != loop.lands for loop in smooth.loops):
            raise LapError("two loops that write one signal land differently")
        self.times: dict[str, list[Fraction]] = {loop.signal: [] for loop in smooth.loops}
        self.given = {path: [Ball.of(_start(model, path) - point[path])] for path in self.times}

    def follow(self, until: Fraction) -> None:
        """Goes through all instants from now to before a time."""
        due: dict[Fraction, list[SampledLoop]] = {}
        for law in self.laws:
            phase, period = law.loop.phase or START, law.loop.period
            k = max(0, -((phase - self.now) // period))
            for at in itertools.takewhile(lambda at: at < until, (phase + i * period for i in itertools.count(k))):
                due.setdefault(at, []).append(law.loop)
        by_name = {law.loop.name: law for law in self.laws}
        for at in sorted(due):
            self.now = at
            for loop in in_turn(due[at]):
                self._decide(by_name[loop.name])
        self.now = until

    def _decide(self, law: _Law) -> None:
        path = law.loop.signal
        value = self.given[path][-1] * law.own
        for reading, weight in law.gradient.items():
            value = value + self._read(reading) * weight
        self.times[path].append(self.now)
        self.given[path].append(law.bounded(value))

    def _read(self, reading: PastSignal) -> Ball:
        at = self.now - reading.lag
        if reading.path in self.times:
            return self._shown(reading.path, at)
        level: Ball = self.level(at)[self.levels.index(reading.path)]
        return level

    def _shown(self, path: str, at: Fraction) -> Ball:
        """Returns a command as a sample sees it: what was decided in a past instant itself shows only after it."""
        if self.lands[path] or at == self.now:
            return self._acting(path, at)
        return self.given[path][bisect.bisect_left(self.times[path], at)]

    def _acting(self, path: str, at: Fraction) -> Ball:
        """Returns the command in effect just after a time."""
        return self.given[path][bisect.bisect_right(self.times[path], at - self.lands[path])]

    def command(self, path: str, at: Fraction) -> Ball:
        """Returns what was decided for a command at an instant, by the last one of several loops."""
        index = bisect.bisect_right(self.times[path], at)
        if not index or self.times[path][index - 1] != at:
            raise LapError(f"nothing was decided for {path} at {float(at):g} s")
        return self.given[path][index]

    def level(self, at: Fraction) -> Array:
        """Returns all levels at a time up to now."""
        if at <= START:
            return self.trace[0]
        index = bisect.bisect_right(self.marks, at) - 1
        x = self.trace[index]
        for begin, end in itertools.pairwise(self._knots(self.marks[index], at)):
            moved, once, _ = self.motion.over(end - begin)
            acting = np.array([self._acting(c.path, begin - c.lag) for c in self.channels], dtype=object)
            x = moved @ x + once @ (self.drive @ acting) if self.channels else moved @ x
        if self.marks[index] != at:
            self.marks.insert(index + 1, at)
            self.trace.insert(index + 1, x)
        return x

    def _knots(self, start: Fraction, end: Fraction) -> Iterator[Fraction]:
        """Yields the ends and the times between them at which a command begins to act."""
        knots = {start, end}
        for channel in self.channels:
            late, times = self.lands[channel.path] + channel.lag, self.times[channel.path]
            low, high = bisect.bisect_right(times, start - late), bisect.bisect_left(times, end - late)
            knots.update(time + late for time in times[low:high])
        yield from sorted(knots)


def _start(model: Model, path: str) -> Fraction:
    signal = model.states.get(path) or model.commands[path]
    low = signal.initial.low
    if low is None or not signal.initial.exact:
        raise LapError(f"where {path} starts is open")
    return low


def _flow(model: Model, gradients: Gradients, path: str) -> Gradient:
    flow = model.states[path].flow
    gradient = {} if flow is None else gradients.of(flow)
    if flow is None or any(r.window or (r.lag and r.path in model.states) for r in gradient):
        raise LapError(f"{path} steps, or flows by means or by levels of the past: its run is not followed")
    return gradient


def _law(model: Model, gradients: Gradients, loop: SampledLoop, point: Mapping[str, Fraction]) -> _Law:
    derivative = gradients.of_law(loop)
    if derivative is None or loop.phase is None or any(reading.window for reading in derivative[1]):
        raise LapError(f"the phase of {loop.name} is open, or it reads means: its run is not followed")
    source = next(each for each in model.loops if each.name == loop.name)
    limits = (source.bounds, model.commands[loop.signal].range)
    return _Law(loop, *derivative, limits, point[loop.signal])
