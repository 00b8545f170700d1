"""Runs a model at many parameter points at once: arrays of floats, one entry per point, in place of numbers.

Instants are common to all points where nothing flows, so one run serves all and branches become masks.
Where something flows, each point has events of its own: a common clock would stop every point at every
other's events, so such models run point by point in the hybrid executor.  A comparison that rounding may
have decided marks its point as doubtful; doubtful points are run again, exactly.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.model.model import EVERYTHING, Interval, Model, SampledLoop, State
from coherence.simulate.batched.laws import Memories, Sample
from coherence.simulate.batched.view import TIE, LanesView, Lowered
from coherence.simulate.execute import hybrid
from coherence.simulate.execute.exact import Choices, Execution, Instant, execute, step_of
from coherence.simulate.execute.lookback import durations
from coherence.simulate.execute.motion import Steady

Array = Any  # numpy array: one entry per point


@dataclass(frozen=True)
class BatchedRun:
    """Values after each time: series[path][i, j] at times[i] for point j; `again`: points that were run exactly."""

    times: tuple[Fraction, ...]
    series: Mapping[str, Array]
    again: tuple[int, ...]


def execute_many(
    model: Model, points: Mapping[str, Sequence[Any]], *, until: Fraction, choices: Choices | None = None
) -> BatchedRun:
    """Returns the runs of all points, up to a time (inclusive): `points` gives each path one value per point.

    States, commands and modes of loops are kept.  Raises NotExactError, MissingValueError.
    """
    shared = choices or Choices()
    flowing = any(state.flow is not None for state in model.states.values())
    if flowing or durations(model) & points.keys():
        return _one_by_one(model, points, shared, until)
    run = Lanes(model, points, shared)
    times: list[Fraction] = []
    columns: dict[str, list[Array]] = {path: [] for path in (*model.states, *model.commands, *run.modes)}
    while run.next_time() <= until:
        instant = run.advance()
        times.append(instant.time)
        for path, levels in columns.items():
            levels.append(instant.after[path])
    return _refereed(model, points, shared, run, times, columns)


def _refereed(
    model: Model, points: Mapping[str, Any], shared: Choices, run: Lanes, times: list[Fraction], columns: dict[str, Any]
) -> BatchedRun:
    import numpy as np

    series = {path: np.array(levels).reshape(len(times), run.size) for path, levels in columns.items()}
    again = tuple(int(j) for j in np.flatnonzero(run.doubtful))
    for j in again:
        instants = execute(model, point(points, shared, j), until=times[-1])
        seen = [instants[i] for i in standing([instant.time for instant in instants], times)]
        for path, levels in series.items():
            levels[:, j] = [float(instant.after[path]) for instant in seen]
    return BatchedRun(tuple(times), series, again)


def standing(own: Sequence[Fraction], times: Sequence[Fraction]) -> list[int]:
    """At each of the times, the number of the last own one: a point has fewer instants, where only others land."""
    return [bisect.bisect_right(own, time) - 1 for time in times]


def point(points: Mapping[str, Sequence[Any]], shared: Choices, index: int) -> Choices:
    """Returns the choices of one point, exactly."""
    own = {path: Fraction(levels[index]) for path, levels in points.items()}
    return Choices({**shared.values, **own}, shared.phases, shared.order, shared.schedule)


def _one_by_one(model: Model, points: Mapping[str, Sequence[Any]], shared: Choices, until: Fraction) -> BatchedRun:
    import numpy as np

    size = len(next(iter(points.values())))
    grid = [loop.period for loop in model.loops] + [s.step for s in model.states.values() if s.step]
    step = min(grid, default=until / 100)
    times = tuple(step * k for k in range(math.floor(until / step) + 1))
    names = (*model.states, *model.commands, *(loop.name for loop in model.loops))
    series = {path: np.empty((len(times), size)) for path in names}
    for j in range(size):
        trajectory = hybrid.execute(model, point(points, shared, j), until=until)
        for i, time in enumerate(times):
            values = trajectory.at(time)
            for path in names:
                series[path][i, j] = values[path]
    return BatchedRun(times, series, ())


class _Arrays(Steady):
    """Numbers are arrays; nothing flows."""

    exact = False

    def __init__(self, size: int) -> None:
        self.size = size

    def number(self, number: Any) -> Any:
        import numpy as np

        return np.broadcast_to(np.asarray(number, float), (self.size,))


class Lanes(Execution):
    """A run of many points; `doubtful` where rounding may have decided a branch."""

    def __init__(self, model: Model, points: Mapping[str, Sequence[Any]], shared: Choices) -> None:
        import numpy as np

        own = {path: np.array([float(level) for level in levels]) for path, levels in points.items()}
        self.size = len(next(iter(own.values())))
        self.doubtful = np.zeros(self.size, bool)
        self.lowered: dict[int, Lowered] = {}
        choices = Choices({**shared.values, **own}, shared.phases, shared.order, shared.schedule)
        super().__init__(model, choices, _Arrays(self.size))
        self.memories = {loop.name: Memories(self.size) for loop in model.loops}
        self.masks: dict[str, Array] = {name: np.zeros(self.size, bool) for name in self.modes}
        self.modes = self.masks
        self.origin = self.seen = self.base()

    def advance(self, due: Fraction | None = None) -> Instant:
        """Go to the next instant and through its four phases."""
        import numpy as np

        with np.errstate(all="ignore"):
            return super().advance(due)

    def near(self, left: Array, right: Array, size: Array | None = None) -> None:
        """Mark the points at which rounding may decide a comparison; `size`: what the rounding is relative to."""
        import numpy as np

        size = np.abs(left) + np.abs(right) if size is None else size
        self.doubtful |= (np.abs(left - right) <= TIE * size) & (size > 0)

    def _deliver(self) -> None:
        import numpy as np

        landed = list(itertools.takewhile(lambda entry: entry[0] <= self.time, self.pending))
        for _, path, level in landed:
            self.values[path] = np.where(np.isnan(level), self.values[path], level)
        del self.pending[: len(landed)]
        super()._deliver()

    def _decide(self, sampled: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
        seen = dict(sampled)
        masks = dict(self.masks)
        for loop in self.deciding():
            view, none = LanesView(self, self.time, seen, loop.name), self.motion.number(0)
            commanded, landed = self.commanded.get(loop.signal, none), self.values.get(loop.signal, none)
            memory = self.memories[loop.name]
            sample = Sample(loop, self.time, view.read, self.near, memory, commanded, landed)
            decision = sample.decide(masks[loop.name])
            masks[loop.name] = seen[loop.name] = decision.mode
            if loop.signal:
                self._land(loop, decision.writes, decision.value, seen)
        self.modes = self.masks = masks
        return [], [], []

    def _land(self, loop: SampledLoop, writes: Array, level: Array, seen: dict[str, Any]) -> None:
        import numpy as np

        command, memory = self.model.commands[loop.signal], self.memories[loop.name]
        level, before = _within(level, command.range), self.commanded[loop.signal]
        self.commanded[loop.signal] = np.where(writes, level, before)
        memory.changed = np.where(writes & (level != before), float(self.time), memory.changed)
        if loop.lands and writes.any():
            self.land_later(loop, np.where(writes, level, np.nan))
        elif not loop.lands:
            self.values[loop.signal] = seen[loop.signal] = np.where(writes, level, self.values[loop.signal])

    def _step(self) -> list[Any]:
        view = LanesView(self, self.time, self.base())
        fresh = {}
        for path, state in self.model.states.items():
            if state.next is not None and state.step and self.beats.acts(step_of(path)):
                fresh[path] = self.motion.number(_within(self._followed(view, state), state.range))
        self.values.update(fresh)
        return []

    def _followed(self, view: LanesView, state: State) -> Array:
        """The next value; in doubt where it is not a number, or nearly zero or nearly at an end of its range."""
        import numpy as np

        assert state.next is not None
        level = view.read(state.next)
        self.doubtful |= ~np.isfinite(level)
        for edge in {Fraction(0), state.range.low, state.range.high} - {None}:
            gap = np.abs(level - float(edge or 0))
            self.doubtful |= (gap > 0) & (gap <= TIE * view.size(state.next))
        return level


def _within(level: Array, limits: Interval) -> Array:
    import numpy as np

    if limits == EVERYTHING:
        return level
    low = -np.inf if limits.low is None else float(limits.low)
    return np.clip(level, low, np.inf if limits.high is None else float(limits.high))
