"""Limit cycles of smooth or kinked laws x'(t) = f(x(t), x(t - delay)): oscillators, logistic growth, saturations.

Runs from many starts propose cycles, Fourier collocation solves them, an accurate run over one period
confirms them, Floquet multipliers say whether they attract.

    >>> answer = smooth_cycles(lambda n, past: 1.8 * n * (1 - past), 1, delay=1.0, starts=[[0.5]])
    >>> round(answer.attracting[0].period, 4)
    4.1835
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherence.loops.cycles.cycle_search_result import Cycle, CycleSearchResult, describe_ends
from coherence.loops.cycles.delayed_runs_smooth import HUGE, Rate, Smooth, accurate, many
from coherence.loops.cycles.relay import Array
from coherence.loops.cycles.shooting_fourier import HarmonicLoop, multipliers, polished

STEPS_PER_DELAY = 48
LAPS = 60  # delays (or, without delay, time scales) that the proposing runs last
CONFIRMED = 1e-5  # of the swing: distance from closing after one period of an accurate run
STEADY, REPEATS = 1e-3, 1e-6  # of the swing: change of a swing, distance of laps, that count as none
FINE = 4000  # samples of a lap that is measured
COARSE = 5e-4  # largest error of a cycle that is reported


def smooth_cycles(
    rate: Rate,
    size: int,
    *,
    delay: float = 0.0,
    starts: Sequence[Sequence[float]] = (),
    scale: float = 0.0,
    outputs: Array | None = None,
) -> CycleSearchResult:
    """Returns cycles of x'(t) = rate(x(t), x(t - delay)); `rate` gets arrays (size, many) and works column by column.

    `starts`: constant histories (default: a spread about 0).  `scale`: seconds in which x changes much
    (default: the delay, or estimated at the starts).  `outputs`: matrix C of the outputs C x whose ranges and
    duties are reported (default: x itself).
    """
    system = Smooth(rate, size, delay)
    begins = np.array(starts, dtype=float).T if len(starts) else _spread(size)
    step, steps = _steps(system, begins, scale)
    runs = many(system, begins, step=step, steps=steps)
    search = _Search(system, step, np.eye(size) if outputs is None else outputs, [])
    ends = Counter(search.end(runs[:, :, k]) for k in range(begins.shape[1]))
    cycles = tuple(sorted((c for c, _ in search.cycles), key=lambda c: (not c.attracts, c.period)))
    return CycleSearchResult(cycles, dict(ends), describe_ends(cycles, ends), ())


def _spread(size: int) -> Array:
    rng = np.random.default_rng(11)
    return np.asarray(np.geomspace(0.01, 10, 8) * rng.choice([-1.0, 1.0], (size, 8)) * rng.uniform(0.5, 1, (size, 8)))


def _steps(system: Smooth, begins: Array, scale: float) -> tuple[float, int]:
    if system.delay:
        fine = STEPS_PER_DELAY * max(1, math.ceil(system.delay / scale)) if scale else STEPS_PER_DELAY
        slow = max(1.0, scale / system.delay) if scale else 1.0
        return system.delay / fine, int(LAPS * fine * slow)
    natural = scale or _natural(system, begins)
    return natural / 40, 40 * 12 * LAPS


def _natural(system: Smooth, begins: Array) -> float:
    """Returns the time in which the fastest start would move by its own size."""
    speed = np.max(np.abs(system.rate(begins, begins)), axis=0)
    return float(1 / np.median(speed / (1e-9 + np.max(np.abs(begins), axis=0))))


@dataclass(frozen=True)
class _Search:
    """What the runs of one system share: cycles found, with the ranges of their states."""

    system: Smooth
    step: float
    outputs: Array
    cycles: list[tuple[Cycle, Array]]

    def end(self, run: Array) -> str:
        """Returns what a run does in the end; a new cycle is added to those found."""
        if not np.all(np.isfinite(run)) or np.max(np.abs(run)) >= HUGE / 2:
            return "away"
        count = len(run)
        late, later = run[count // 2 : 3 * count // 4], run[3 * count // 4 :]
        swing, before = (float(np.max(np.ptp(part, axis=0))) for part in (later, late))
        if swing <= 1e-7 * (1 + float(np.max(np.abs(later)))):
            return "rest"
        lap = last_lap(later, self.step)
        steady = abs(swing - before) <= STEADY * swing
        if lap is not None and self._cycle(lap, later, steady=steady):
            return "cycle"
        return "rest" if swing < 0.9 * before else "away" if swing > 1.5 * before else "undecided"

    def _cycle(self, lap: tuple[Array, float], later: Array, *, steady: bool) -> bool:
        """Decides whether a lap leads to a cycle, known or new."""
        seen = np.array([lap[0].min(axis=1), lap[0].max(axis=1)])
        if any(self._known(lap[1], seen, cycle, bounds, 2e-3) for cycle, bounds in self.cycles):
            return True
        loop = polished(self.system, *lap)
        if loop is None or loop.error > COARSE or not self._near(loop, seen) or not closes(self.system, loop):
            return steady and self._add(measured(self.system, later, self.step, self.outputs))
        return self._add((cycle_of(self.system, loop, self.outputs), np.array(loop.range())))

    def _near(self, loop: HarmonicLoop, seen: Array) -> bool:
        low, high = loop.range()
        swing = float(np.max(seen[1] - seen[0]))
        return 0.1 * swing < float(np.max(high - low)) < 10 * swing

    def _add(self, candidate: tuple[Cycle, Array] | None) -> bool:
        if candidate is None:
            return False
        if not any(
            self._known(candidate[0].period, candidate[1], cycle, bounds, 2e-4) for cycle, bounds in self.cycles
        ):
            self.cycles.append(candidate)
        return True

    def _known(self, period: float, seen: Array, cycle: Cycle, bounds: Array, slack: float) -> bool:
        laps = round(max(period, cycle.period) / min(period, cycle.period))
        periods = abs(max(period, cycle.period) / laps / min(period, cycle.period) - 1) <= slack
        return (
            cycle.attracts and periods and bool(np.max(np.abs(seen - bounds)) <= 5 * slack * np.max(np.ptp(bounds, 0)))
        )


def measured(system: Smooth, later: Array, step: float, outputs: Array) -> tuple[Cycle, Array] | None:
    """Reads a cycle off an accurate run from the end of another, for laws that jump; None if it does not repeat.

    `multiplier`: by how much the distance between laps shrinks, at least 0.
    """
    count = len(later)
    grid = (np.arange(count) - count + 1) * step

    def history(time: float) -> Array:
        return np.array([np.interp(time, grid, later[:, i]) for i in range(system.size)])

    lap = last_lap(later, step)
    if lap is None:
        return None
    until = 10 * lap[1]
    pieces = accurate(system, history, until)
    times, parts = [], []
    for begin, end, curve in pieces:
        times.append(np.linspace(begin, end, 2 + math.ceil(FINE * (end - begin) / lap[1]))[:-1])
        parts.append(np.array([curve(float(t)) for t in times[-1]]))
    run = np.concatenate(parts)
    return _read(run, np.concatenate(times), outputs)


def _read(run: Array, times: Array, outputs: Array) -> tuple[Cycle, Array] | None:
    """Returns the cycle of a finely sampled run that repeats."""
    component = int(np.argmax(np.ptp(run, axis=0)))
    y = run[:, component] - (run[:, component].max() + run[:, component].min()) / 2
    ups = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    share = y[ups] / (y[ups] - y[ups + 1])
    states = run[ups] + share[:, None] * (run[ups + 1] - run[ups])
    passed = times[ups] + share * (times[ups + 1] - times[ups])
    swing = float(np.max(np.ptp(run, axis=0)))
    for laps in range(1, 5):
        if len(ups) < 2 * laps + 1:
            return None
        apart, before = (float(np.max(np.abs(states[k] - states[k - laps]))) for k in (-1, -1 - laps))
        if apart <= REPEATS * swing:
            last = run[ups[-1 - laps] : ups[-1] + 1]
            seen = last @ outputs.T
            low, high = seen.min(axis=0), seen.max(axis=0)
            duty = (seen.mean(axis=0) - low) / np.where(high > low, high - low, 1.0)
            multiplier = min(apart / before, 0.999) if before > 1e-7 * swing else 0.0
            cycle = Cycle(
                period=float(passed[-1] - passed[-1 - laps]),
                lowest=tuple(map(float, low)),
                highest=tuple(map(float, high)),
                duty=tuple(map(float, duty)),
                multiplier=multiplier,
                switches=0,
                method="accurate run",
            )
            return cycle, np.array([last.min(axis=0), last.max(axis=0)])
    return None


def last_lap(run: Array, step: float) -> tuple[Array, float] | None:
    """Returns (values over the last period, period) between upward passages through the mean; the period is the
    smallest number of passages after which the run comes closest to itself.
    """
    component = int(np.argmax(np.ptp(run, axis=0)))
    y = run[:, component] - (run[:, component].max() + run[:, component].min()) / 2
    ups = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if len(ups) < 3:
        return None
    times = ups + y[ups] / (y[ups] - y[ups + 1])
    states = np.array([run[k] + (t - k) * (run[k + 1] - run[k]) for k, t in zip(ups, times, strict=True)])
    apart = [float(np.max(np.abs(states[-1] - states[-1 - p]))) for p in range(1, min(9, len(ups)))]
    laps = 1 + next(p for p, d in enumerate(apart) if d <= 2 * min(apart) + 1e-3 * float(np.max(np.ptp(run, axis=0))))
    places = np.linspace(times[-1 - laps], times[-1], 257)[:-1]
    values = np.array([np.interp(places, np.arange(len(run)), run[:, i]) for i in range(run.shape[1])])
    return values, float(times[-1] - times[-1 - laps]) * step


def closes(system: Smooth, loop: HarmonicLoop) -> bool:
    """Decides whether an accurate run over one period comes back to where it began."""

    def history(time: float) -> Array:
        return np.asarray(loop.at(np.array([time]))[:, 0])

    pieces = accurate(system, history, loop.period)
    low, high = loop.range()
    apart = np.max(np.abs(pieces[-1][2](loop.period) - history(0.0)))
    return bool(apart <= max(CONFIRMED, 50 * loop.error) * np.max(high - low))


def cycle_of(system: Smooth, loop: HarmonicLoop, outputs: Array) -> Cycle:
    """Returns what a solved loop says.  `duty`: mean of each output between its extremes."""
    values = multipliers(system, loop)
    seen = HarmonicLoop(outputs @ loop.values, loop.period, loop.error)
    low, high = seen.range()
    span = np.where(high > low, high - low, 1.0)
    return Cycle(
        period=loop.period,
        lowest=tuple(map(float, low)),
        highest=tuple(map(float, high)),
        duty=tuple(map(float, (seen.values.mean(axis=1) - low) / span)),
        multiplier=float(values[0]) if len(values) else 0.0,
        switches=0,
        method="collocation",
    )
