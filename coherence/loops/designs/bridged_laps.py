"""Opens the lap of a design's network at every decision, so that plants of any linear form have exact matrices.

The lap is lifted (`multirate.lifting`): holds, phases, fractional delays, windows and landings are exact, between
decisions the plant moves by matrix exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError
from coherence.loops.designs.design_network import READ_FOR_ONE, DesignNetwork, OwnShare, network_of
from coherence.loops.designs.equilibria import is_exact
from coherence.loops.designs.lap_matrices import ROUNDED, Cut, Lap, LapError, Row
from coherence.loops.multirate.lifting import LapLifting
from coherence.model.model import Model

Array = Any
HELPERS = ("scrape ", "bend ", *READ_FOR_ONE)  # how names of samplers begin that are no signal of the model
ROUNDED_POINT = 1e-10  # doubt at a point whose equations leave the residual of `equilibria.rests`


def opened(model: Model, point: Mapping[str, Fraction], check: Callable[[], object] = bool) -> Lap:
    """Returns the opened lap of a smooth model at a constant point.  `check` may raise to end it.

    Raises LapError, NotExactError, MissingValueError.
    """
    check()
    lap = bridged_lap(network_of(model, point))
    return lap if is_exact(model, point) else replace(lap, doubt=ROUNDED_POINT)


def bridged_lap(design: DesignNetwork) -> Lap:
    """Returns the opened lap of a network with samplers.  Raises LapError where it cannot be lifted."""
    try:
        lifting = OpenedLifting(design)
    except UsageError as error:
        raise LapError(str(error)) from None
    lifting.run()
    return lifting.lap()


class OpenedLifting(LapLifting):
    """A lap whose decisions are inputs: what their laws would have written is kept beside them."""

    def __init__(self, design: DesignNetwork) -> None:
        system = design.sampled
        bends = {name: OwnShare(name, Fraction(0), landed=False) for name in design.bends}
        self.decided: Mapping[str, OwnShare] = {**design.laws, **bends}
        self.landed, self.as_flows = design.landed, False
        self.inputs = sum(int(system.period / s.period) for s in system.samplers if self.is_cut(s.name))
        self.cuts: list[tuple[str, Fraction, Array, Array, Array]] = []
        super().__init__(system)

    def _decide(self, j: int, now: Fraction, read: Array) -> None:
        sampler = self.system.samplers[j]
        law = self.decided.get(sampler.name)
        if law is None:
            super()._decide(j, now, read)
            return
        held = self.rows[j][-1]
        seen = self._seen(j, now, now)
        counted = seen if law.landed else held
        own, carried, named = (
            weight if self.exact else float(weight) for weight in (law.own, law.carried.counted, law.carried.named)
        )
        self.times[j].append(now)
        self.rows[j].append(self.command(law.loop, now, read + own * counted, carried * counted + named * seen, held))

    def is_cut(self, name: str) -> bool:
        """Decides whether the decisions of a sampler are inputs."""
        return name in self.decided

    def command(self, loop: str, now: Fraction, law: Array, before: Array, held: Array) -> Array:
        """Returns what a decision commands: an input."""
        self.cuts.append((loop, now, law, before, held))
        return self.unit[self.size - self.inputs + len(self.cuts) - 1]

    def _read(self, j: int, now: Fraction) -> Array:
        self.as_flows = self.system.samplers[j].name in self.landed
        return super()._read(j, now)

    def _seen(self, k: int, at: Fraction, now: Fraction) -> Array:
        return self._landed(k, at) if self.as_flows else super()._seen(k, at, now)

    def lap(self) -> Lap:
        """Returns the lap over the names of its variables."""
        names = [*self._names(), *(f"input {k}" for k in range(self.inputs))]
        matrix = self.lifted().matrix
        end = {name: self._row(row, names) for name, row in zip(names, matrix, strict=False)}
        cuts = tuple(
            Cut(loop, now, self._row(law, names), self._row(before, names), self._row(held, names))
            for loop, now, law, before, held in self.cuts
        )
        return Lap(self.end, end, cuts, doubt=0.0 if self.exact else ROUNDED, helpers=self._helpers())

    def weight(self, number: Any) -> Any:
        """Returns a number of a row as it stands in the lap."""
        return Fraction(number)

    def _row(self, row: Array, names: list[str]) -> Row:
        return {name: self.weight(number) for name, number in zip(names, row, strict=True) if number}

    def _names(self) -> list[str]:
        """Returns the names of what is remembered: levels, what is shown next, and commands that still act."""
        flows = [f"level of {block.name}" for block in self.system.blocks if block.order]
        return [
            *flows,
            *map(_shown_next, self._remembering()),
            *(name for j in range(len(self.before)) for name in self._commands(j)),
        ]

    def _commands(self, j: int) -> list[str]:
        name = self.system.samplers[j].name
        return [f"command {k} of {name}" for k in range(self.before[j])]

    def _helpers(self) -> frozenset[str]:
        """Returns the names of what sensors hold: no signal of the model."""
        aside = [j for j, s in enumerate(self.system.samplers) if s.name.startswith(HELPERS)]
        shown = map(_shown_next, self._remembering())
        return frozenset((*shown, *(name for j in aside for name in self._commands(j))))

    def _remembering(self) -> list[str]:
        """Returns the names of samplers that show what they read a sample before."""
        return [sampler.name for sampler in self.system.samplers if len(sampler.denominator) > 1]


def _shown_next(sampler: str) -> str:
    return f"next of {sampler}"
