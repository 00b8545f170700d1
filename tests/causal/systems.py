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


def steady_slopes(effect: Floats, *causes: Floats, depth: int = 2) -> Floats:
    """The coefficients beside a trend and errors that remember `depth` steps, by a general minimiser.

    What the engine finds by solving sums of products, found here by searching coefficients and memories at once.
    """
    from scipy.optimize import least_squares

    length, width = len(effect) - depth, len(causes)
    beside = np.column_stack([np.ones(length), np.linspace(-1, 1, length)])
    held = np.linalg.pinv(beside)
    stacked = np.array([
        [part - beside @ (held @ part) for part in (signal[depth - back :][:length] for back in range(depth + 1))]
        for signal in (effect, *causes)
    ])  # fmt: skip

    def left(numbers: Floats) -> Floats:
        filtered = np.einsum("b,sbt->st", np.concatenate([[1.0], -numbers[width:]]), stacked)
        return np.asarray(filtered[0] - numbers[:width] @ filtered[1:], np.float64)

    found = least_squares(left, np.zeros(width + depth), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return np.asarray(found.x[:width], np.float64)
