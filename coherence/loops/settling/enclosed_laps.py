"""Encloses one lap of a design with lags in balls, and follows its run so, bounds of commands included.

Values are deviations from an operating point, so that bounds and starts are too.  Where no decision meets its bounds
the lap is one linear map; a bound makes of a difference of decisions a part of it, from none to all, and a difference
of absolute values is one of what they are of, times a factor from -1 to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.loops.designs.bridged_laps import OpenedLifting
from coherence.loops.designs.design_network import DesignNetwork
from coherence.loops.designs.lap_matrices import Table, by_state, pruned
from coherence.loops.multirate.balls import Ball, in_balls

Array = Any
Row = dict[str, Ball]


@dataclass(frozen=True)
class EnclosedLap:
    """A lap over `names`: one matrix of balls for each choice of decisions that go on, the first with all of them.

    `remembered`: of each name the signal, and when it had that value, s from the start of the lap; `decisions`: (loop,
    its row over the names) where all go on; `forgets`: laps after which all that is not in the names is at its point.
    """

    names: tuple[str, ...]
    remembered: tuple[tuple[str, Fraction], ...]
    length: Fraction
    matrices: tuple[list[list[Ball]], ...]
    decisions: tuple[tuple[str, list[Ball]], ...]
    forgets: int


class _EnclosedLifting(OpenedLifting):
    enclosed = True

    def __init__(self, design: DesignNetwork) -> None:
        super().__init__(design)
        b, p, q = map(in_balls, (self.plant.b, self.plant.p, self.plant.q))
        self.plant = replace(self.plant, b=b, p=p, q=q)

    def weight(self, number: Any) -> Any:
        return number

    def remembered(self) -> dict[str, tuple[str, Fraction]]:
        """Returns the signal behind each name, and when it is remembered from."""
        ahead = zip(self.system.blocks, self.plant.ahead, strict=True)
        levels = {f"level of {block.name}": (block.name, -self.lag - late) for block, late in ahead}
        commands = {
            name: (sampler.name, at)
            for j, sampler in enumerate(self.system.samplers)
            for name, at in zip(self._commands(j), self._before(j), strict=True)
        }
        return levels | commands


def enclosed_lap(design: DesignNetwork, bounded: Sequence[str]) -> EnclosedLap:
    """Returns the lap with every combination of decisions of the `bounded` loops that change nothing, and of signs of
    what bends.

    Raises LapError, UsageError.
    """
    lifting = _EnclosedLifting(design)
    remembered = lifting.remembered()
    lifting.run()
    lap = lifting.lap()
    free = [k for k, cut in enumerate(lap.cuts) if cut.loop in bounded]
    bent = {k: (bend_and_reader(cut.loop), cut.time) for k, cut in enumerate(lap.cuts) if cut.loop in design.bends}
    apart = list(dict.fromkeys(bent.values()))
    closed = [
        _closed(lap, still, {k: signs[apart.index(bend)] for k, bend in bent.items()})
        for r in range(len(free) + 1)
        for still in itertools.combinations(free, r)
        for signs in itertools.product((1, -1), repeat=len(apart))
    ]
    ends = [end for end, _ in closed]
    together = {name: {inner: 1 for end in ends for inner in end[name]} for name in lap.end}
    names = tuple(pruned(together, [row for _, row in closed[0][1]], ()))  # type: ignore[arg-type]
    matrices = tuple([_row(end[name], names) for name in names] for end in ends)
    decisions = tuple((loop, _row(row, names)) for loop, row in closed[0][1])
    from_where = tuple(remembered.get(name, (name, Fraction(0))) for name in names)
    return EnclosedLap(names, from_where, lap.length, matrices, decisions, len(together) - len(names))


def bend_and_reader(sampler: str) -> tuple[str, str]:
    """Returns what a sampler of a bend shows, and for whose decision: all that show it for that one agree."""
    return sampler.split(" of ", 1)[0], sampler.rsplit(" of ", 1)[-1]


def _closed(lap: Any, still: Sequence[int], signs: Mapping[int, int]) -> tuple[Table, list[tuple[str, Any]]]:
    """Returns the end of the lap and its decisions; `signs`: of what each bend compares."""
    inputs: Table = {}
    for k, cut in enumerate(lap.cuts):
        row = {} if k in still else by_state(cut.law, inputs)
        inputs[f"input {k}"] = {name: -weight for name, weight in row.items()} if signs.get(k) == -1 else row
    decisions = [(cut.loop, inputs[f"input {k}"]) for k, cut in enumerate(lap.cuts) if k not in signs]
    return {name: by_state(row, inputs) for name, row in lap.end.items()}, decisions


def _row(row: Mapping[str, Any], names: Sequence[str]) -> list[Ball]:
    """Returns a row over the names; what is left out of them, a chain at most, is zero once it is forgotten."""
    return [Ball.of(row.get(name, 0)) for name in names]
