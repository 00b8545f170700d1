"""Small systems with known coefficients: what an estimate must find is what was put in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import CausalGraph, Influence


def wandering(rng: np.random.Generator, length: int, memory: float, size: float = 1.0) -> Floats:
    """x(t) = memory x(t - 1) + chance: a signal, or an error, that remembers its past."""
    chance = rng.standard_normal(length + 100) * size
    made = np.zeros(length + 100)
    for time in range(1, length + 100):
        made[time] = memory * made[time - 1] + chance[time]
    return made[100:]


def table(**signals: Floats) -> Series:
    """Signals by name, one sample a second."""
    return Series(tuple(signals), np.column_stack(list(signals.values())), 1.0)


def late(cause: str, effect: str, steps: int = 1, sign: int = 0) -> Influence:
    """An influence after a whole number of steps of one second."""
    return Influence(cause, effect, Fraction(steps), Fraction(steps), sign)


def graph(*influences: Influence, nodes: tuple[str, ...] = ()) -> CausalGraph:
    """A graph of these influences."""
    named = [name for one in influences for name in (one.cause, one.effect)]
    return CausalGraph(tuple(dict.fromkeys([*nodes, *named])), influences)
