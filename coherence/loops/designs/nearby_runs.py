"""Runs a smooth model from beside an operating point: what becomes of a small deviation, without any derivative.

The linear engine differentiates a lap and counts roots.  The run is its second opinion: the same laws in floats,
executed from two opposite deviations.  Both speak of the laws alone, so that rounding, tolerances, windows and bounds,
which the linear verdict leaves out, are left out here too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.feedback_groups import Deadline
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution, MissingValueError
from coherence.simulate.execute.hybrid import Integrated, floated
from coherence.simulate.execute.orbits import hyperperiod

SIZES = (Fraction(1, 10**4), Fraction(1, 10**7))  # of a deviation, relative: a curved law is straight in the smaller
SIDES = (1, -1)
CLEAR = 10.0  # times: a deviation that is so much larger, or smaller, than at first has grown, or died out
LEFT, GROWN = 1e-3, 1e4  # what the dominant mode makes of a deviation in the laps that are run
MOST_INSTANTS = 3_000
OF_A_FLOW = 10  # so many instants an instant counts as where flows are integrated up to it
NOT_CARRIED = (NotExactError, MissingValueError, ArithmeticError, ValueError)


@dataclass
class RunAllowance:
    """How many instants may still be run: a count, so that the same input gives the same answer."""

    left: float = math.inf

    def take(self, instants: int) -> bool:
        """Returns whether so many may be run, and counts them."""
        if instants > self.left:
            return False
        self.left -= instants
        return True


@dataclass(frozen=True)
class Deviation:
    """The largest relative deviation from an operating point at first, and in the end of a run of `laps` laps.

    `start`: the values that were moved; `seconds`: how long the run takes.
    """

    first: float
    last: float
    start: Mapping[str, Fraction]
    laps: int
    seconds: Fraction

    @property
    def dies_out(self) -> bool:
        return self.last * CLEAR <= self.first

    @property
    def grows(self) -> bool:
        return self.last >= self.first * CLEAR


def deviations(
    smooth: Model, point: Mapping[str, Fraction], paths: Collection[str], growth: float, deadline: Deadline,
    *, size: Fraction, allowed: RunAllowance,
) -> tuple[Deviation, ...] | None:  # fmt: skip
    """Returns what two opposite deviations of the states and commands in `paths` come to.

    `growth`: the factor of the dominant mode per lap, from which follows how many laps are run.  None where these are
    too many, or more than are allowed, or where a run cannot be carried out.
    """
    moved = [path for path in (*smooth.states, *smooth.commands) if path in paths]
    try:
        memory = (Execution(smooth, Choices(dict(point))).horizon or Fraction(0)) + max(x.lands for x in smooth.loops)
        laps = _laps(smooth, memory, growth)
        if laps is None or not moved or not allowed.take(len(SIDES) * _work(smooth, laps)):
            return None
        starts = [_beside(smooth, point, moved, side * size) for side in SIDES]
        return tuple(_deviation(floated(smooth), point, start, laps, memory, deadline) for start in starts)
    except NOT_CARRIED:
        return None


def _laps(model: Model, memory: Fraction, growth: float) -> int | None:
    """Returns the laps in which a mode of this growth shows; None where that takes more than MOST_INSTANTS."""
    if growth == 1:
        return None
    lap = hyperperiod(model)
    change = LEFT if growth < 1 else GROWN
    shown = math.log(change) / math.log(growth) if growth else 0.0
    laps = 4 + math.ceil(shown + 4 * memory / lap)
    return laps if _instants(model, laps) <= MOST_INSTANTS else None


def _instants(model: Model, laps: int) -> int:
    periods = [*(loop.period for loop in model.loops), *(s.step for s in model.states.values() if s.step)]
    return math.ceil(laps * sum(hyperperiod(model) / period for period in periods))


def _work(model: Model, laps: int) -> int:
    flows = any(state.flow is not None for state in model.states.values())
    return _instants(model, laps) * (OF_A_FLOW if flows else 1)


def _deviation(
    model: Model, point: Mapping[str, Fraction], start: Mapping[str, Fraction], laps: int, memory: Fraction,
    deadline: Deadline,
) -> Deviation:  # fmt: skip
    """Runs from a start; the end is as long as anything is remembered, so that a deviation passes through it."""
    until = hyperperiod(model) * laps
    late, last = until - memory - 2 * hyperperiod(model), 0.0
    run = Execution(model, Choices({**point, **start}), Integrated(until))
    while (run.time < until or not run.count) and run.next_time() <= until:
        deadline.check()
        instant = run.advance()
        if instant.time >= late:
            last = max(last, _apart(point, instant.after, start))
    return Deviation(_apart(point, start, start), last, start, laps, until)


def _beside(model: Model, point: Mapping[str, Fraction], moved: Sequence[str], size: Fraction) -> dict[str, Fraction]:
    """Returns each value moved by another part of itself, a state inside its range."""
    values = {
        path: point[path] + size * Fraction(7 - number % 5, 7) * (-1) ** (number // 2) * (abs(point[path]) or 1)
        for number, path in enumerate(moved)
    }
    return {path: model.states[path].range.clip(v) if path in model.states else v for path, v in values.items()}


def _apart(point: Mapping[str, Fraction], values: Mapping[str, Any], moved: Iterable[str]) -> float:
    """Returns the largest relative distance of a signal from the point."""
    return max(abs(float(values[path]) - float(point[path])) / (abs(float(point[path])) or 1.0) for path in moved)
