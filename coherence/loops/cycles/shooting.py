"""Exact cycles of switching loops: Newton's method on the word of events, and Floquet multipliers.

Unknown are the state at the beginning of the period and the length of every segment; the equations say
that each crossing meets its threshold, each arrival comes one delay after its crossing (also over several
periods), and the period closes.  For a relay this is Tsypkin's condition; it needs no symmetry, and no
inverse of I - exp(A T), so that integrators are welcome.

SOURCE: Tsypkin, Relay Control Systems (1984), ch. 5; Astrom, Oscillations in systems with relay feedback
(1995), theorem 3 (the Jacobian of the return map); Aizerman and Gantmacher (1958) (jumps of deviations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coherence.loops.cycles.delayed_runs import Levels, Pending, Run, RunEvent, Segment, Start, flow_of
from coherence.loops.cycles.delayed_runs_flow import Flow
from coherence.loops.cycles.relay import Array, System

ROUNDS = 40
CLOSED = 1e-11  # relative residual of an accepted solution
SHORTEST = 1e-6  # of the guess: a shorter period is none, since a run of no time closes from every state
SAME = 1e-6  # of the period: largest difference of events in the confirming run


@dataclass(frozen=True)
class ShootingStep:
    """One segment of a word: what is held, and the event at its end.

    An arrival names its crossing by its position among the crossings of the word and the number of
    periods ago.
    """

    held: Levels
    event: RunEvent
    crossing: int = -1
    periods: int = 0


@dataclass(frozen=True)
class ShootingWord:
    """The events of one period, with the levels seen at its beginning."""

    seen: Levels
    steps: tuple[ShootingStep, ...]


@dataclass(frozen=True)
class Solution:
    """A periodic run: its word, the state at its beginning, and the length of each segment."""

    word: ShootingWord
    z: Array
    durations: tuple[float, ...]

    @property
    def period(self) -> float:
        return sum(self.durations)


def word_of(segments: Sequence[Segment]) -> ShootingWord:
    """Returns the word of segments that begin just after a crossing and end with one."""
    crossings = [s.number for s in segments if s.event.source is None]
    first, count = crossings[0], len(crossings)
    steps = []
    for segment in segments:
        source = segment.event.source
        if source is None:
            steps.append(ShootingStep(segment.held, segment.event))
        else:
            periods, crossing = divmod(source - first, count)
            steps.append(ShootingStep(segment.held, segment.event, crossing, -periods))
    return ShootingWord(segments[0].seen, tuple(steps))


def solve(system: System, word: ShootingWord, z: Array, durations: Sequence[float]) -> Solution | None:
    """Solves by Newton's method from a guess; None without convergence, where a segment would have negative length,
    or where the period shrinks to nothing.
    """
    size, count = system.size, len(word.steps)
    unknown = np.concatenate([z[:size], durations])
    scale = np.concatenate([np.full(size, 1.0), np.full(count, 1.0)])
    residual, jacobian = _equations(system, word, unknown)
    for _ in range(ROUNDS):
        norm = float(np.max(np.abs(residual)))
        change = np.linalg.lstsq(jacobian * scale, -residual, rcond=1e-13)[0] * scale
        share = _share(unknown[size:], change[size:])
        for _ in range(8):
            moved = unknown + share * change
            residual, jacobian = _equations(system, word, moved)
            if np.all(np.isfinite(residual)) and np.max(np.abs(residual)) < max(norm, 1e-13):
                break
            share /= 2
        else:
            break
        unknown = moved
        if np.max(np.abs(change)) <= 1e-13 * (1 + np.max(np.abs(unknown))):
            break
    period = float(np.sum(unknown[size:]))
    size_of = 1 + float(np.max(np.abs(unknown)))
    good = np.max(np.abs(residual)) <= CLOSED * size_of and np.min(unknown[size:]) >= -1e-9 * period
    if not good or period <= SHORTEST * sum(durations):
        return None
    return Solution(word, np.append(unknown[:size], 1.0), tuple(float(t) for t in unknown[size:]))


def _share(durations: Array, change: Array) -> float:
    """Returns how much of a Newton step keeps the durations from turning over."""
    falling = change < -1e-12 * np.sum(durations)
    return float(min(1.0, np.min(-0.9 * (durations[falling] + 1e-12) / change[falling], initial=1.0)))


def _equations(system: System, word: ShootingWord, unknown: Array) -> tuple[Array, Array]:
    """Returns the residuals (one per segment, then the closing of the period) and their derivatives."""
    size, count = system.size, len(word.steps)
    z = np.append(unknown[:size], 1.0)
    durations = unknown[size:]
    total, ends = float(np.sum(durations)), np.cumsum(durations)
    crossings = [k for k, step in enumerate(word.steps) if step.event.source is None]
    residual, rows = np.zeros(count + size), np.zeros((count + size, size + count))
    reach = np.hstack([np.eye(size), np.zeros((size, count))])  # d z / d unknown
    for k, step in enumerate(word.steps):
        flow = flow_of(system, step.held)
        over = flow.over(float(durations[k]))
        z = over @ z
        reach = over[:size, :size] @ reach
        reach[:, size + k] += flow.slope(z)[:size]
        if step.event.source is None:
            output = flow.outputs[step.event.element, :size]
            residual[k], rows[k] = output @ z[:size] - step.event.threshold, output @ reach
        else:
            cause = crossings[step.crossing]
            residual[k] = ends[k] - ends[cause] + step.periods * total - _delay(system, word, step)
            rows[k, size : size + k + 1] += 1.0
            rows[k, size : size + cause + 1] -= 1.0
            rows[k, size:] += step.periods
    residual[count:], rows[count:] = z[:size] - unknown[:size], reach
    rows[count:, :size] -= np.eye(size)
    return residual, rows


def _delay(system: System, word: ShootingWord, step: ShootingStep) -> float:
    cause = [s for s in word.steps if s.event.source is None][step.crossing]
    return delay_of(system, word, cause)


def delay_of(system: System, word: ShootingWord, cause: ShootingStep) -> float:
    """Returns seconds from a crossing to its effect: upwards and downwards may differ."""
    seen = list(word.seen)
    for step in word.steps:
        if step is cause:
            break
        if step.event.source is None:
            seen[step.event.element] = step.event.level
    element = cause.event.element
    return (system.rise if cause.event.level > seen[element] else system.fall)[element]


def start_of(system: System, solution: Solution) -> Start:
    """Returns the beginning of a period, with the commands that are on their way."""
    word, ends = solution.word, np.cumsum(solution.durations)
    crossings = [k for k, step in enumerate(word.steps) if step.event.source is None]
    pending = []
    for step in word.steps:
        periods = step.periods
        while step.event.source is not None and periods > 0:
            cause = word.steps[crossings[step.crossing]]
            time = float(ends[crossings[step.crossing]]) - periods * solution.period + delay_of(system, word, cause)
            pending.append(
                Pending(time, step.event.element, step.event.level, step.crossing - periods * len(crossings))
            )
            periods -= 1
    return Start(solution.z, word.seen, word.steps[0].held, tuple(pending))


def confirmed(system: System, solution: Solution) -> bool:
    """Decides whether an event-accurate run from the solution takes the same events at the same times for one
    period.
    """
    expected = [
        (time, step.event.element, step.event.level)
        for time, step in zip(np.cumsum(solution.durations), solution.word.steps, strict=True)
        if step.event.source is None
    ]
    slack = SAME * solution.period
    seen = []
    run = Run(system, start_of(system, solution), sizes=np.array([max(map(abs, r)) for r in ranges(system, solution)]))
    for segment in run:
        if segment.event.source is None:
            seen.append((segment.start + segment.duration, segment.event.element, segment.event.level))
        if len(seen) == len(expected) or run.time > solution.period + 2 * slack:
            break
    return len(seen) == len(expected) and all(
        abs(float(a[0]) - b[0]) <= slack and a[1:] == b[1:] for a, b in zip(sorted(expected), sorted(seen), strict=True)
    )


def ranges(system: System, solution: Solution) -> tuple[tuple[float, float], ...]:
    """Returns the lowest and highest input of each element over the period."""
    bounds = [[np.inf, -np.inf] for _ in system.elements]
    z = solution.z
    for step, duration in zip(solution.word.steps, solution.durations, strict=True):
        flow = flow_of(system, step.held)
        for index, extent in enumerate(bounds):
            low, high = flow.range(z, index, max(duration, 0.0))
            extent[0], extent[1] = min(extent[0], low), max(extent[1], high)
        z = flow.after(z, max(duration, 0.0))
    return tuple((low, high) for low, high in bounds)


def multipliers(system: System, solution: Solution) -> Array:
    """Returns the moduli of the Floquet multipliers, largest first, without the trivial one of a shift in time.

    The deviation is (of the state at a fixed time, of the times of the crossings still to take effect).
    """
    size, word = system.size, solution.word
    pending = _pending_at_start(word)
    keys = list(pending)
    width = size + len(keys)
    state = np.hstack([np.eye(size), np.zeros((size, len(keys)))])
    shifts: dict[tuple[int, int], Array] = {key: np.eye(width)[size + i] for i, key in enumerate(keys)}
    z, position = solution.z, 0
    for k, (step, duration) in enumerate(zip(word.steps, solution.durations, strict=True)):
        flow = flow_of(system, step.held)
        over = flow.over(max(duration, 0.0))
        z, state = over @ z, over[:size, :size] @ state
        after = flow_of(system, word.steps[(k + 1) % len(word.steps)].held)
        if step.event.source is None:
            shift = _shift(flow, step.event.element, z, state)
            shifts[position, 0] = shift
            position += 1
            jumps = step.event.acts
        else:
            shift, jumps = shifts[step.crossing, step.periods], True
        if jumps:
            state = state + np.outer((flow.slope(z) - after.slope(z))[:size], shift)
    end = np.vstack([state, *(shifts[crossing, periods - 1][None, :] for crossing, periods in keys)])
    return _without_shift(np.asarray(np.linalg.eigvals(end), dtype=complex))


def _shift(flow: Flow, element: int, z: Array, state: Array) -> Array:
    """Returns how much later a crossing comes, as a row over the deviations."""
    output = flow.outputs[element]
    rate = float(output @ flow.slope(z))
    return np.asarray(-(output[:-1] @ state) / rate) if rate else np.full(state.shape[1], np.inf)


def _pending_at_start(word: ShootingWord) -> list[tuple[int, int]]:
    arrivals = [(s.crossing, s.periods) for s in word.steps if s.event.source is not None]
    return sorted({(crossing, back) for crossing, periods in arrivals for back in range(1, periods + 1)})


def _without_shift(values: npt.NDArray[np.complex128]) -> Array:
    if not np.all(np.isfinite(values)):
        return np.array([np.inf])
    trivial = int(np.argmin(np.abs(values - 1)))
    return np.asarray(np.sort(np.abs(np.delete(values, trivial)))[::-1])
