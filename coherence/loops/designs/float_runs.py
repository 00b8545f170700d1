"""Runs a model in floats from its own start, and measures whether it keeps swinging or comes to rest.

Where flows have no constant rates no run is exact, so that none recurs.  What is measured is the swing of each signal
in the middle and in the last third of a run of many periods.  Alone it proves nothing; beside roots that say the
same it is a second opinion of another kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from coherence.loops.cycles.measured_periods import measured_period
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.hybrid import Integrated, floated

PERIODS, LEAST_PERIODS = 15, 12
POINTS = 32  # per period at which the run is read
MOST_GROWTH = 10.0  # powers of e: a longer run of what grows says no more
KEPT = 0.95  # of the swing of the middle third, in the last one: it goes on
WIDER = 2.0  # times that swing: it grows
DIES = 0.7  # of it: it dies out
STILL = 1e-7  # relative: a smaller swing is none
TURNS = 3  # changes of direction in a third


@dataclass(frozen=True)
class FloatRun:
    """`verdict`: swings, rests or undecided; (lowest, highest) of each signal that turns in the last third.

    `last`: where each signal ends; `whole`: its lowest and highest value from the start on; `period` (s): of what
    turns, measured in the last two thirds, None where that does not repeat itself; `grows`: one of them swings ever
    wider.
    """

    verdict: str
    ranges: Mapping[str, tuple[float, float]]
    seconds: float
    last: Mapping[str, float]
    whole: Mapping[str, tuple[float, float]]
    period: float | None = None
    grows: bool = False


def float_run(
    model: Model, choices: Choices, paths: Sequence[str], *, period: float, rate: float, check: Callable[[], object]
) -> FloatRun:
    """Returns what a run from these choices does; `period` (s) and `rate` (1/s) are those of its dominant mode.

    `check` may raise to end it.  Raises NotExactError, MissingValueError.
    """
    third = Fraction(period * _periods(period, rate) / 3).limit_denominator(10**6)
    step = third / int(POINTS * _periods(period, rate) / 3)
    rows = _rows(model, choices, paths, 3 * third, step, check)
    each = len(rows[0]) // 3
    swings = {path: _swings(row[each:], each) for path, row in zip(paths, rows, strict=True)}
    last = {path: row[-1] for path, row in zip(paths, rows, strict=True)}
    on = {path: ends for path, (ends, before, turns) in swings.items() if _goes_on(ends, before, turns)}
    rests = all(_rests(ends, before) for ends, before, _ in swings.values())
    whole = {path: (min(row), max(row)) for path, row in zip(paths, rows, strict=True)}
    lasting = [path for path, (ends, before, _) in swings.items() if not _rests(ends, before)]
    own = measured_period([row[each:] for path, row in zip(paths, rows, strict=True) if path in lasting], float(step))
    grows = any(ends[1] - ends[0] >= WIDER * before for path, (ends, before, _) in swings.items() if path in on)
    verdict = "swings" if on else "rests" if rests else "undecided"
    return FloatRun(verdict, on, float(3 * third), last, whole, own, grows)


def _periods(period: float, rate: float) -> float:
    grown = MOST_GROWTH / (rate * period) if rate > 0 else math.inf
    return min(PERIODS, max(LEAST_PERIODS, grown))


def _rows(
    model: Model, choices: Choices, paths: Sequence[str], until: Fraction, step: Fraction, check: Callable[[], object]
) -> list[list[float]]:
    """Returns each signal at equal distances."""
    run = Execution(floated(model), choices, Integrated(until))
    rows: list[list[float]] = [[] for _ in paths]
    time = Fraction(0)
    while run.time < until or not run.count:
        check()
        following = run.next_time()
        while time < min(following, until) and run.count:
            moved = {**run.values, **run.motion.move(run, time)} if run.flowing else run.values
            for row, path in zip(rows, paths, strict=True):
                row.append(float(moved[path]))
            time += step
        if following > until:
            break
        run.advance(following)
    return rows


def _swings(row: Sequence[float], each: int) -> tuple[tuple[float, float], float, int]:
    """Returns the ends in the last third, the swing in the one before, and how often the last one turns."""
    before, late = row[:each], row[each:]
    steps = [b - a for a, b in pairwise(late) if a != b]
    turns = sum(1 for a, b in pairwise(steps) if a * b < 0)
    return (min(late), max(late)), max(before) - min(before), turns


def _goes_on(ends: tuple[float, float], before: float, turns: int) -> bool:
    swing = ends[1] - ends[0]
    return turns >= TURNS and swing >= KEPT * before and swing > STILL * (1 + max(map(abs, ends)))


def _rests(ends: tuple[float, float], before: float) -> bool:
    swing = ends[1] - ends[0]
    return swing <= max(DIES * before, STILL * (1 + max(map(abs, ends))))
