"""Draws predicted limit cycles in the plane of two signals, or of one signal and its rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.predicted_cycles import CycleReading, starts
from coherence.model.crossings import at_crossings
from coherence.model.model import Model, unit_of
from coherence.reporting.pictures.figure import Line, Panel
from coherence.simulate.execute import hybrid
from coherence.simulate.execute.exact import Choices, MissingValueError

POINTS = 300  # of a period
LEFT, LEAST, LONGEST = 1e-3, 8, 60  # of a deviation before the period that is drawn; periods before it
MOST = 4


def cycle_panels(model: Model, cycles: Sequence[CycleReading]) -> Iterator[Panel]:
    """Yields the cycles that the executor confirms, each from one of its runs."""
    drawn = [cycle for cycle in cycles if cycle.verdict == "cycle" and cycle.confirmed and cycle.period]
    followed = at_crossings(model)  # what switches without a period switches at its crossing
    for cycle in drawn[:MOST]:
        try:
            yield from _panel(followed, cycle)
        except (NotExactError, MissingValueError):
            continue


def _panel(model: Model, cycle: CycleReading) -> Iterator[Panel]:
    moving = [path for path, low, high in cycle.ranges if high > low][:2]
    if not moving:
        return
    period = Fraction(cycle.period or 0).limit_denominator(10**9)
    before = _settling(cycle.multiplier)
    run = hybrid.execute(model, Choices(starts(model, {})[0]), until=(before + 1) * period, most=4_000)
    times = [period * before + period * k / POINTS for k in range(POINTS)]
    rows = [run.at(time) for time in times]
    xs = [float(row[moving[0]]) for row in rows]
    if len(moving) == 2:
        ys, label = [float(row[moving[1]]) for row in rows], _axis(model, moving[1])
    else:
        step = float(period) / POINTS
        ys = [(xs[(k + 1) % POINTS] - xs[k - 1]) / (2 * step) for k in range(POINTS)]
        label = f"rate of {moving[0]}, {_unit(model, moving[0])}/s"
    places = tuple(zip(xs, ys, strict=True))
    yield Panel(f"limit cycle of {cycle.loop}: {float(period):.5g} s", _axis(model, moving[0]), label,
                (Line("one period", (*places, places[0])),))  # fmt: skip


def _settling(multiplier: float | None) -> int:
    """Returns periods after which little of a deviation is left."""
    if multiplier is None or multiplier >= 1:
        return LEAST
    return min(max(LEAST, math.ceil(math.log(LEFT) / math.log(max(multiplier, 1e-9)))), LONGEST)


def _axis(model: Model, path: str) -> str:
    return f"{path}, {_unit(model, path)}"


def _unit(model: Model, path: str) -> str:
    """Returns the unit of a signal, or that it is a number."""
    unit = unit_of(model, path)
    return str(unit) if unit.powers else "number"
