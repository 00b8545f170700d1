"""Closes a sampled system of one rate with python-control alone: its hold, its delays as shifts, its feedback.

It is a second reading of the rules of `multirate.sampled_system` and shares no code with the lifting.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.interchange.python_control import python_control, state_space
from coherence.loops.multirate.sampled_system import Multirate, Sampler, exactly
from coherence.loops.networks.network import Block, Network


def closed_single_rate(system: Multirate) -> tuple[Any, float]:
    """Returns the closed loop as a discrete StateSpace, and its step (s).

    Raises UsageError where python-control has nothing for it: several rates or phases, windows, delays of a part of a
    step, delays inside the continuous part.
    """
    step = _step(system)
    control, dt = python_control(), float(step)
    plant, rows, columns = _plant(system, dt)
    laws = [_law(control, sampler, dt) for sampler in system.samplers]
    shifts = _Shifts(system, step, rows, columns)
    parts = [plant, *laws] if plant is not None else laws
    whole = parts[0] if len(parts) == 1 else control.append(*parts)
    return _closed(control, whole, shifts.entries(), dt), dt


def _step(system: Multirate) -> Fraction:
    periods = {exactly(sampler.period) for sampler in system.samplers}
    phases = {exactly(sampler.phase) for sampler in system.samplers}
    if len(periods) > 1 or len(phases) > 1:
        raise UsageError("it has nothing for several rates or phases")
    if any(sampler.window for sampler in system.samplers):
        raise UsageError("it has nothing for means over a window")
    step = periods.pop()
    late = [exactly(s.lands) for s in system.samplers] + [exactly(b.delay) for b in system.blocks]
    if any(delay % step for delay in late):
        raise UsageError("it has nothing for a delay of a part of a step")
    return step


def _plant(system: Multirate, dt: float) -> tuple[Any, list[str], list[str]]:
    """Returns the continuous blocks behind a hold, without their delays, and the names of its outputs and inputs."""
    names = [block.name for block in system.blocks]
    inner = tuple(c for c in system.couplings if c.source in names and c.target in names)
    late = {block.name for block in system.blocks if block.delay and not _is_shift(block, system)}
    if any(c.source in late for c in inner):
        raise UsageError("it has nothing for delays inside the continuous part")
    if not names:
        return None, [], []
    still = Network(tuple(replace(block, delay=0.0) for block in system.blocks), inner)
    return python_control().sample_system(state_space(still), dt), names, names


def _is_shift(block: Block, system: Multirate) -> bool:
    """Decides whether a block is a gain that only samplers feed: its delay may stand before it."""
    blocks = {each.name for each in system.blocks}
    return not block.order and not any(c.target == block.name and c.source in blocks for c in system.couplings)


def _law(control: Any, sampler: Sampler, dt: float) -> Any:
    numerator, denominator = ([float(x) for x in row] for row in (sampler.numerator, sampler.denominator))
    return control.ss(control.tf(numerator, denominator, dt))


class _Shifts:
    """Who reads whom, and how many steps late: (target, source, gain, steps) over plant inputs and samplers."""

    def __init__(self, system: Multirate, step: Fraction, rows: list[str], columns: list[str]) -> None:
        self.system, self.step = system, step
        self.blocks = {block.name: block for block in system.blocks}
        self.samplers = {sampler.name: sampler for sampler in system.samplers}
        self.row = {name: k for k, name in enumerate([*rows, *self.samplers])}
        self.column = {name: k for k, name in enumerate([*columns, *self.samplers])}
        self.jumping = set(self.samplers)  # what changes in the instant of a command, seen through gains
        while further := {c.target for c in system.couplings if c.source in self.jumping and self._jumps(c.target)}:
            self.jumping |= further

    def _jumps(self, name: str) -> bool:
        return name in self.blocks and name not in self.jumping and bool(self.blocks[name].feedthrough)

    def entries(self) -> list[tuple[int, int, float, int]]:
        couplings = [c for c in self.system.couplings if c.source in self.samplers or c.target in self.samplers]
        return [(self.column[c.target], self.row[c.source], float(c.gain), self._late(c.source, c.target))
                for c in couplings]  # fmt: skip

    def _late(self, source: str, target: str) -> int:
        if source in self.blocks:
            return self._output(self.blocks[source])
        sampler = self.samplers[source]
        landing = int(exactly(sampler.lands) / self.step)
        if target in self.blocks:
            block = self.blocks[target]
            return landing + (self._steps(block) if _is_shift(block, self.system) else 0)
        if landing:
            return landing
        return 0 if sampler.rank < self.samplers[target].rank else 1

    def _steps(self, block: Block) -> int:
        return int(exactly(block.delay) / self.step)

    def _output(self, block: Block) -> int:
        """Returns the delay of what a sampler reads of a block.  Raises UsageError: a step that is read as it comes."""
        if block.name in self.jumping:
            raise UsageError("it has nothing for a step that is read in the instant in which it comes")
        return self._steps(block)


def _closed(control: Any, whole: Any, entries: list[tuple[int, int, float, int]], dt: float) -> Any:
    """Returns the feedback of all outputs to all inputs through their shifts."""
    longest = max((steps for *_, steps in entries), default=0)
    outputs, inputs = whole.noutputs, whole.ninputs
    gains = [np.zeros((inputs, outputs)) for _ in range(longest + 1)]
    for target, source, gain, steps in entries:
        gains[steps][target, source] += gain
    line = np.eye(outputs * longest, k=-outputs)
    first = np.eye(outputs * longest, outputs)
    later = np.hstack(gains[1:]) if longest else np.zeros((inputs, 0))
    back = control.ss(line, first, later, gains[0], dt) if longest else control.ss([], [], [], gains[0], dt)
    return control.feedback(whole, back, sign=1)
