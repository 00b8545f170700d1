"""Differentiates the exact executor over one lap: a second opinion on laps of loops whose past is shorter than a lap.

It shares no code with networks and their lifting.  Wrong where a flow reads a command older than a lap (what is
remembered of it has no name), and where a law reads `previous()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from coherence.loops.designs.kinks import stopped
from coherence.loops.designs.lap_matrices import Cut, Lap, LapError, Table
from coherence.loops.designs.signal_gradients import Gradients
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.affine import Affine, lift, plain, variable
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.orbits import hyperperiod


class _OpenedRun(Execution):
    """A run whose loops only hold their command while memory fills, and are then cut."""

    def __init__(self, model: Model, choices: Choices) -> None:
        super().__init__(model, choices)
        self.cuts: list[tuple[str, Fraction, Affine, Affine, Affine]] | None = None
        gradients = Gradients(model, choices.values)
        self.carried = {loop.name: gradients.own_command(loop) for loop in model.loops if loop.signal}

    def _write(self, loop: SampledLoop, value: Any, rule: str, seen: dict[str, Any]) -> list[Any]:
        held = self.commanded[loop.signal]
        if self.cuts is None:
            return super()._write(loop, held, rule, seen)
        own, landed = self.carried[loop.name], lift(self.values[loop.signal])
        before = (landed if loop.counts_landed else lift(held)) * own.counted + landed * own.named
        name = f"input {len(self.cuts)}"
        self.cuts.append((loop.name, self.time, lift(value), before, lift(held)))
        return super()._write(loop, variable(name, plain(value)), rule, seen)

    def renumber(self) -> None:
        """Orders the landings on their way by when they land: each has its own name, the same in every lap."""
        self.pending = sorted(self.pending, key=lambda p: p[0])


def executed_lap(model: Model, point: Mapping[str, Fraction]) -> Lap:
    """Returns the lap of a smooth model at a constant point.  Raises LapError."""
    run, lap = _OpenedRun(model, Choices(dict(point))), hyperperiod(model)
    landing = max((int(loop.lands / lap) + 1 for loop in model.loops), default=0)
    laps = 1 + int((run.horizon or Fraction(0)) / lap) + landing
    _advance(run, lap * (laps + 1), inclusive=False)
    names: list[str] = []
    still = stopped(model, dict(point))

    def mark(name: str, number: Any) -> Any:
        if name.rsplit(" ", 1)[-1] in still:
            return number
        names.append(name)
        return variable(name, plain(number))

    run.renumber()
    run.map_numbers(mark)
    run.cuts = []
    _advance(run, run.time + lap, inclusive=True)
    if run.warped:
        raise LapError("the time of an event moves with the start")
    run.renumber()
    end: Table = {}

    def read(name: str, number: Any) -> Any:
        end[name] = dict(lift(number).gradient)
        return number

    run.map_numbers(read)
    table = {name: end[name] for name in names if name in end}
    cuts = tuple(Cut(n, t, dict(w.gradient), dict(b.gradient), dict(h.gradient)) for n, t, w, b, h in run.cuts)
    return Lap(lap, table, cuts)


def _advance(run: Execution, until: Fraction, *, inclusive: bool) -> None:
    while (run.next_time() <= until) if inclusive else (run.next_time() < until):
        run.advance()
