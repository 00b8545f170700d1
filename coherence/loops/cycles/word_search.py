"""Searches from runs to exact cycles: the words that events repeat are solved, confirmed, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from coherence.loops.cycles.cycle_search_result import Cycle, same
from coherence.loops.cycles.delayed_runs import Run, Segment, Start, flow_of
from coherence.loops.cycles.describing_functions import Guess
from coherence.loops.cycles.relay import System
from coherence.loops.cycles.shooting import Solution, confirmed, multipliers, ranges, solve, word_of
from coherence.loops.cycles.starts import line_of, sinusoidal_start

LONGEST = 96  # crossings of the longest word that is looked for
REACHED = 1e-4  # of the swing: a run this close to a cycle that attracts has come to it


def follow(
    system: System, start: Start, cycles: list[tuple[Cycle, Solution]], switches: int
) -> tuple[str, Cycle | None]:
    """Runs from a start to its end, adding cycles on the way; says how it ended, and on which cycle."""
    run, segments, due = Run(system, start), list[Segment](), 12
    for segment in run:
        segments.append(segment)
        if run.number >= due:
            due = int(due * 1.5)
            cycle = _come_to(system, segments, cycles)
            if cycle is not None:
                return "cycle", cycle
        if run.number >= switches:
            return "undecided", None
    return run.ended, None


def _come_to(system: System, segments: Sequence[Segment], cycles: list[tuple[Cycle, Solution]]) -> Cycle | None:
    """Returns the cycle that attracts and that the end of the run is close to; Newton's method tries its last words."""
    for lap in itertools.islice(_laps(segments), 3):
        word = word_of(lap)
        known = [pair for pair in cycles if pair[1].word == word]
        if known:
            near = (c for c, s in known if c.multiplier < 1 + 1e-9 and _distance(system, lap, s) < REACHED)
            return next(near, None)
        solution = solve(system, word, lap[0].z, [s.duration for s in lap])
        if solution is None:
            continue
        cycle = _add_cycle(system, solution, cycles)
        if cycle is not None:
            near_by = cycle.multiplier < 1 + 1e-9 and _distance(system, lap, solution) < REACHED
            return cycle if near_by else None
    return None


def _laps(segments: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """Yields the last laps of the run whose events have come twice in the same order, shortest first.

    A lap ends with its highest crossing, so that the same cycle gives the same word.
    """
    ends = [k for k, s in enumerate(segments) if s.event.source is None]
    for count in range(1, min(LONGEST, (len(ends) - 1) // 3) + 1):
        last = max(range(len(ends) - count, len(ends)), key=lambda k: (*_height(segments[ends[k]]), k))
        first, middle, end = (ends[last - back] + 1 for back in (2 * count, count, 0))
        lap, before = segments[middle:end], segments[first:middle]
        if len(lap) == len(before) and all(map(_alike, lap, before)):
            yield lap


def _height(segment: Segment) -> tuple[int, int]:
    return segment.event.element, segment.event.level


def _alike(one: Segment, other: Segment) -> bool:
    kinds = (one.event.element, one.event.level, one.event.source is None, one.held, one.seen)
    return kinds == (other.event.element, other.event.level, other.event.source is None, other.held, other.seen)


def _distance(system: System, lap: Sequence[Segment], solution: Solution) -> float:
    """Returns how far a lap is from the solution of its word, relative to the size of its swing."""
    sizes, z = [np.abs(solution.z[:-1])], solution.z
    for step, duration in zip(solution.word.steps, solution.durations, strict=True):
        z = flow_of(system, step.held).after(z, max(duration, 0.0))
        sizes.append(np.abs(z[:-1]))
    state = np.max(np.abs(lap[0].z - solution.z)) / float(np.max(sizes))
    times = np.max(np.abs(np.array([s.duration for s in lap]) - solution.durations)) / solution.period
    return float(max(state, times))


def _add_cycle(system: System, solution: Solution, cycles: list[tuple[Cycle, Solution]]) -> Cycle | None:
    """Returns the cycle of a solution if it is true, added unless it is known; the shortest lap is kept."""
    cycle = cycle_of(system, solution)
    known = next((k for k, (other, _) in enumerate(cycles) if same(other, cycle)), None)
    if known is not None and cycles[known][0].period <= cycle.period * (1 + 1e-6):
        return cycles[known][0]
    if cycle.swing <= 1e-9 * max(map(abs, (*cycle.lowest, *cycle.highest))) or not confirmed(system, solution):
        return None
    if known is not None:
        cycles.pop(known)
    cycles.append((cycle, solution))
    return cycle


def cycle_of(system: System, solution: Solution) -> Cycle:
    """Returns what an exact solution says: period, ranges, duty, multiplier."""
    values = multipliers(system, solution)
    seen = ranges(system, solution)
    return Cycle(
        period=solution.period,
        lowest=tuple(low for low, _ in seen),
        highest=tuple(high for _, high in seen),
        duty=tuple(_duty(system, solution, index) for index in range(len(seen))),
        multiplier=float(values[0]) if len(values) else 0.0,
        switches=sum(1 for step in solution.word.steps if step.event.source is None),
    )


def _duty(system: System, solution: Solution, index: int) -> float:
    """Returns the mean of an output between its extremes."""
    element, z = system.elements[index], solution.z
    seen: list[float] = []
    total = 0.0
    for step, duration in zip(solution.word.steps, solution.durations, strict=True):
        flow, length = flow_of(system, step.held), max(duration, 0.0)
        slope, level = line_of(element, step.held[index])
        seen += [slope * y + level for y in flow.range(z, index, length)]
        total += (slope * flow.area(z, index, length) if slope else 0.0) + level * length
        z = flow.after(z, length)
    span = max(seen) - min(seen)
    return (total / solution.period - min(seen)) / span if span else 0.0


def near(system: System, guess: Guess, cycles: list[tuple[Cycle, Solution]]) -> None:
    """Solves the word of the swing that a guess describes."""
    run, segments = Run(system, sinusoidal_start(system, guess)), list[Segment]()
    for segment in run:
        segments.append(segment)
        if run.time > 2.2 * guess.period or len(segments) > 400:
            break
    ends = [k for k, s in enumerate(segments) if s.event.source is None]
    for end in range(len(ends)):
        count = _switches_between(segments, ends, end, guess.period)
        if count:
            lap = segments[ends[end - count] + 1 : ends[end] + 1]
            solution = solve(system, word_of(lap), lap[0].z, [s.duration for s in lap])
            if solution is not None and _add_cycle(system, solution, cycles) is not None:
                return


def _switches_between(segments: Sequence[Segment], ends: Sequence[int], end: int, period: float) -> int:
    """Returns how many crossings ago the event at `end` came before, about one period earlier; 0 if it did not."""
    last = segments[ends[end]]
    for back in range(1, end + 1):
        before = segments[ends[end - back]]
        ago = last.start + last.duration - before.start - before.duration
        if 0.6 * period < ago < 1.5 * period and before.event == last.event:
            return back
    return 0
