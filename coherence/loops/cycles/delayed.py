"""Finds cycles of a linear plant under sloped elements that look back: saturations, dead bands, tolerances.

Event-accurate runs from many starts, until a passage through the middle repeats an earlier one.  What closes in too
slowly for that is solved by Fourier collocation (`cycles_smooth`) where there is one delay and no hysteresis.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coherence.base.bisection import halved
from coherence.loops.cycles.cycle_search_result import Cycle, CycleSearchResult, describe_ends, same
from coherence.loops.cycles.delayed_runs import Start
from coherence.loops.cycles.delayed_runs_sloped import SlopedRun
from coherence.loops.cycles.delayed_runs_smooth import Rate
from coherence.loops.cycles.describing_functions import screen
from coherence.loops.cycles.relay import Array, Element, Pieces, System
from coherence.loops.cycles.smooth import smooth_cycles
from coherence.loops.cycles.starts import default_starts

FINE = 4000  # samples of a lap that is measured
REPEATS, LEFT = 1e-7, 1e-5  # of the swing: distance of laps that are one, of a lap from where its laps lead
LAPS = 8  # passages after which a cycle may close
CHUNK, CHUNKS = 40.0, 12  # time scales of a stretch, stretches of a run
MOST_STEPS = 4_000
SHRINKS, EVENLY = 0.7, 1.02  # over three stretches, from ratio to ratio: a swing that shrinks so comes to rest


def limit_cycles_delayed(system: System, starts: Sequence[Start] = ()) -> CycleSearchResult:
    """Searches as `limit_cycles` does; undecided for a sloped element that acts later one way than the other."""
    for element, up, down in zip(system.elements, system.rise, system.fall, strict=True):
        if isinstance(element, Pieces) and up != down:
            return _undecided(f"a sloped element with different delays upwards ({up:g} s) and downwards ({down:g} s)")
    answer = _followed(system, starts or default_starts(system)[::2])
    many = len({d for d in (*system.rise, *system.fall) if d > 0}) > 1
    if many or answer.verdict != "undecided" or not all(map(_without_memory, system.elements)):
        return answer
    return _collocated(system, starts or default_starts(system))


def _collocated(system: System, begins: Sequence[Start]) -> CycleSearchResult:
    starts = [start.z[:-1].tolist() for start in begins]
    delay = max(system.rise)
    answer = smooth_cycles(
        _rate(system), system.size, delay=delay, starts=starts, scale=_slowest(system), outputs=system.matrices[2]
    )
    return replace(answer, guesses=screen(system))


def _slowest(system: System) -> float:
    fastest = float(np.max(np.abs(np.linalg.eigvals(system.matrices[0]))))
    return 4 / fastest if fastest else 0.0


def _undecided(what: str) -> CycleSearchResult:
    return CycleSearchResult((), {"undecided": 1}, f"undecided: {what} has no exact method here", ())


def _without_memory(element: Element) -> bool:
    return isinstance(element, Pieces) or element.up == element.down


def _rate(system: System) -> Rate:
    a, b, c, drift = system.matrices
    late = np.array([max(pair) > 0 for pair in zip(system.rise, system.fall, strict=True)])
    pieces = [_as_pieces(element) for element in system.elements]

    def rate(x: Array, past: Array) -> Array:
        column = (-1,) + (1,) * (x.ndim - 1)
        inputs = np.where(late.reshape(column), c @ past, c @ x)
        outputs = np.stack([piece.at(y) for piece, y in zip(pieces, inputs, strict=True)])
        return np.asarray(a @ x + b @ outputs + drift.reshape(column))

    return rate


def _as_pieces(element: Element) -> Pieces:
    if isinstance(element, Pieces):
        return element
    return Pieces(element.up, (0.0,) * len(element.levels), element.levels)


def _followed(system: System, starts: Sequence[Start]) -> CycleSearchResult:
    """Runs from the starts, each to its end."""
    met: list[Cycle] = []
    ends = Counter(follow_sloped(SlopedRun(system, start), met) for start in starts)
    cycles = tuple(sorted(met, key=lambda cycle: cycle.period))
    return CycleSearchResult(cycles, dict(ends), describe_ends(cycles, ends), screen(system))


def follow_sloped(run: SlopedRun, cycles: list[Cycle]) -> str:
    """Runs to the end, adding the cycle that is come to: "cycle", "rest", "away", "sliding" or "undecided"."""
    stretch, steps = CHUNK * max([*run.system.rise, *run.system.fall, _slowest(run.system) / 4]), 0
    swings: list[float] = []
    for chunk in range(1, CHUNKS + 1):
        while run.time < chunk * stretch and not run.ended:
            run.advance()
            steps += 1
            if steps > MOST_STEPS:
                return "undecided"
        if run.ended:
            return run.ended
        end = _judged(run, stretch, cycles, swings)
        if end:
            return end
    return "undecided"


def _judged(run: SlopedRun, stretch: float, cycles: list[Cycle], swings: list[float]) -> str:
    """Returns how the run ends, if the last stretch tells."""
    times = np.linspace(run.time - stretch, run.time, FINE)
    outputs = run.system.matrices[2] @ run.sampled(times)
    swings.append(float(np.max(np.ptp(outputs, axis=1))))
    if swings[-1] <= 1e-9 * (1 + float(np.max(np.abs(outputs)))):
        return "rest"
    cycle = lap_of(run, times, outputs)
    if cycle is not None:
        if not any(same(cycle, other) or _near(cycle, other) for other in cycles):
            cycles.append(cycle)
        return "cycle"
    ratios = [b / a for a, b in itertools.pairwise(swings[-4:])]
    evenly = len(ratios) == 3 and all(b <= EVENLY * a for a, b in itertools.pairwise(ratios))
    return "rest" if evenly and swings[-1] < SHRINKS * swings[-4] else ""


def _near(one: Cycle, other: Cycle) -> bool:
    laps = max(one.period, other.period) / min(one.period, other.period)
    numbers = zip((*one.lowest, *one.highest), (*other.lowest, *other.highest), strict=True)
    return abs(laps - round(laps)) <= 1e-4 * laps and all(abs(a - b) <= 1e-4 * one.swing for a, b in numbers)


def lap_of(run: SlopedRun, times: Array, outputs: Array) -> Cycle | None:
    """Returns the cycle on whose lap the run is, if its last passages repeat; `multiplier`:
    how much nearer each lap comes.
    """
    index = int(np.argmax(np.ptp(outputs, axis=1)))
    row = run.system.matrices[2][index]
    middle = (outputs[index].max() + outputs[index].min()) / 2
    above = outputs[index] >= middle
    ups = np.flatnonzero(~above[:-1] & above[1:])
    passed = [_passage(run, row, middle, float(times[k]), float(times[k + 1])) for k in ups]
    swing = float(np.ptp(outputs[index]))
    states = [_remembered(run, time) for time in passed]
    for laps in range(1, min(LAPS, (len(passed) - 1) // 2) + 1):
        apart, before = (float(np.max(np.abs(states[-k] - states[-k - laps]))) for k in (1, 1 + laps))
        multiplier = (apart / before) if before > REPEATS * swing else 0.0
        if apart <= REPEATS * swing or (multiplier < 1 and apart <= (1 - multiplier) * LEFT * swing):
            return _measured(run, passed[-1 - laps], passed[-1], min(multiplier, 0.999))
    return None


def _passage(run: SlopedRun, row: Array, level: float, low: float, high: float) -> float:
    """Returns the time at which an output passes a level upwards, by bisection."""
    return sum(halved(lambda time: float(row @ run.at(time)) >= level, high, low, steps=60)) / 2


def _remembered(run: SlopedRun, time: float) -> Array:
    """Returns the outputs now, and at five places over the longest delay back: what decides the future."""
    longest = max([*run.system.rise, *run.system.fall])
    return np.concatenate([run.system.matrices[2] @ run.at(time - longest * k / 5) for k in range(6)])


def _measured(run: SlopedRun, begin: float, end: float, multiplier: float) -> Cycle:
    """Returns a lap as a cycle, sampled finely and at its kinks."""
    times = np.linspace(begin, end, FINE + 1)
    kinks = np.array([t for t in run.starts if begin < t < end])
    seen = run.system.matrices[2] @ run.sampled(np.union1d(times, kinks))
    low, high = seen.min(axis=1), seen.max(axis=1)
    return Cycle(
        period=end - begin,
        lowest=tuple(map(float, low)),
        highest=tuple(map(float, high)),
        duty=tuple(_duty(run, times - delay, k) for k, delay in enumerate(run.system.rise)),
        multiplier=multiplier,
        switches=0,
        method="event-accurate run",
    )


def _duty(run: SlopedRun, times: Array, index: int) -> float:
    """Returns the mean of an output between its extremes; the level of a staircase follows from its passages."""
    element = run.system.elements[index]
    inputs = run.system.matrices[2][index] @ run.sampled(np.maximum(times, 0.0))
    if isinstance(element, Pieces):
        outputs = element.at(inputs)
    else:
        outputs = np.array(element.levels)[_levels(element, np.tile(inputs[:-1], 2))[len(inputs) - 1 :]]
    span = float(np.ptp(outputs))
    return float((outputs[:-1].mean() if isinstance(element, Pieces) else outputs.mean()) - outputs.min()) / (
        span or math.inf
    )


def _levels(element: Element, inputs: Array) -> list[int]:
    level, levels = element.level(float(inputs[0])), []
    for y in inputs:
        low, high = element.bounds(level)
        while not low <= y <= high:
            level += 1 if y > high else -1
            low, high = element.bounds(level)
        levels.append(level)
    return levels
