"""Computes how the decisions of a lap answer a signal that is driven from outside.

    x[k+1] = A x + B d,   y = C x + D d

d is the level of the driven signal during a lap, decided one lap before it lands: so every reading, late ones
included, sees it as it sees any command.  y is the last decision of a lap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.reads import with_changes
from coherence.language.expressions.tree import Name
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.lap_matrices import Row, Table, by_state
from coherence.model.model import EVERYTHING, Model, SampledLoop
from coherence.simulate.execute.orbits import hyperperiod


@dataclass(frozen=True)
class DrivenLap:
    """Rows over the names of x and of d (`driver`): x at the end, and the last decision by command."""

    length: Fraction  # s
    driver: str
    end: Table
    decisions: Mapping[str, Row]


def driven_lap(
    model: Model, point: Mapping[str, Fraction], entry: str, check: Callable[[], object] = bool
) -> DrivenLap:
    """Returns the closed lap of a smooth model at a constant point, with `entry` driven: a command that no loop writes.

    `check` may raise to end it.  Raises LapError, NotExactError, MissingValueError.
    """
    driver = _driver(model, entry)
    lap = opened(replace(model, loops=(driver, *model.loops)), point, check)
    signal_of = {loop.name: loop.signal for loop in model.loops}
    inputs: Table = {}
    decisions: dict[str, Row] = {}
    for number, cut in enumerate(lap.cuts):
        row = {driver.name: Fraction(1)} if cut.loop == driver.name else by_state(cut.law, inputs)
        inputs[f"input {number}"] = row
        if cut.loop in signal_of:
            decisions[signal_of[cut.loop]] = row
    end = {name: by_state(row, inputs) for name, row in lap.end.items()}
    return DrivenLap(lap.length, driver.name, end, decisions)


def _driver(model: Model, entry: str) -> SampledLoop:
    """Returns a loop that writes the driven signal once in a lap."""
    lap = hyperperiod(model)
    return with_changes(
        model.loops[0],
        name=f"driver of {entry}",
        signal=entry,
        law="set",
        to=Name(entry),
        by=None,
        measured=None,
        setpoint=None,
        ready=None,
        period=lap,
        phase=Fraction(0),
        lands=lap,
        bounds=EVERYTHING,
    )
