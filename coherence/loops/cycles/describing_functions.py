"""Describing functions: first-harmonic guesses of cycles of one element in a loop, never a verdict.

An input bias + A sin(w t) is answered by its own first harmonic alone.  The screen denies cycles that
integer replicas do have (gain margins between 4/pi and pi/2) and misses amplitudes by up to 19 %.

SOURCE: Gelb and Vander Velde, Multiple-Input Describing Functions (1968), ch. 2 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coherence.loops.cycles.relay import Array, Element, Pieces, Staircase, System

AMPLITUDES, FREQUENCIES = 160, 600
ANGLES = 4096
MOST = 6  # guesses, slowest first
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Guess:
    """A cycle as the first harmonic sees it: input bias + amplitude * sin(2 pi t / period)."""

    bias: float
    amplitude: float
    period: float


def describing_function(element: Element, amplitude: float, bias: float = 0.0) -> tuple[complex, float]:
    """Returns (first harmonic of the output over that of the input, mean output).

    Staircases: closed form.  Pieces: the rectangle rule over one turn, which a kink slows to 1e-7.
    """
    if isinstance(element, Staircase):
        return _of_staircase(element, amplitude, bias)
    angle = (np.arange(ANGLES) + 0.5) * (2 * math.pi / ANGLES)
    output = element.at(bias + amplitude * np.sin(angle))
    harmonic = 2 * np.mean(output * (np.sin(angle) + 1j * np.cos(angle)))
    return complex(harmonic / amplitude), float(np.mean(output))


def _of_staircase(element: Staircase, amplitude: float, bias: float) -> tuple[complex, float]:
    levels, up, down = (np.asarray(row) for row in (element.levels, element.up, element.down))
    passed = (bias + amplitude > up) & (bias - amplitude < down)
    always = int(np.sum((bias - amplitude >= down) & (bias + amplitude > up)))
    height = np.diff(levels)[passed]
    rise = np.clip((up[passed] - bias) / amplitude, -1, 1)
    fall = np.clip((down[passed] - bias) / amplitude, -1, 1)
    real = float(np.sum(height * (np.sqrt(1 - rise**2) + np.sqrt(1 - fall**2)))) / math.pi
    imaginary = float(np.sum(height * (fall - rise))) / math.pi
    on = (math.pi - np.arcsin(fall) - np.arcsin(rise)) / (2 * math.pi)
    return complex(real, imaginary) / amplitude, float(levels[always] + np.sum(height * on))


def response(system: System, frequency: Array) -> Complex:
    """Returns C (j w I - A)^-1 B exp(-j w delay) of a loop with one element, for many w > 0 in rad/s."""
    a, b, c, _ = system.matrices
    s = 1j * np.asarray(frequency)
    resolvent = np.linalg.solve(s[:, None, None] * np.eye(len(a)) - a, np.broadcast_to(b, (len(s), *b.shape)))
    delay = (system.rise[0] + system.fall[0]) / 2
    return np.asarray((c @ resolvent)[:, 0, 0] * np.exp(-s * delay))


def screen(system: System) -> tuple[Guess, ...]:
    """Returns first-harmonic guesses for a loop with one element that is odd or nearly so; () for several elements.

    Harmonic balance 1 = N(A) G(j w), looked for in the cells of a logarithmic grid of (A, w) where both
    parts of 1 - N G change sign, and polished.
    """
    if len(system.elements) != 1:
        return ()
    element = system.elements[0]
    frequency, amplitude = _frequencies(system), _amplitudes(element)
    middle = rest_bias(system)
    gains = np.array([describing_function(element, float(size), middle)[0] for size in amplitude])
    balance = 1 - gains[:, None] * response(system, frequency)[None, :]
    guesses: list[Guess] = []
    for i, k in sorted(_cells(balance), key=lambda cell: cell[1]):
        if len(guesses) == MOST:
            break
        guess = _polished(system, middle, float(amplitude[i]), float(frequency[k]))
        if guess is not None and not any(_same(guess, other) for other in guesses):
            guesses.append(guess)
    return tuple(guesses)


def rest_bias(system: System) -> float:
    """Returns the bias about which a swing is looked for: where the plant rests, or the middle of the thresholds."""
    a, _, c, drift = system.matrices
    element = system.elements[0]
    thresholds = element.knots if isinstance(element, Pieces) else (*element.up, *element.down)
    middle = float(np.mean(thresholds)) if thresholds else 0.0
    if not np.any(drift) or np.linalg.matrix_rank(a) < len(a):
        return middle
    return middle if math.isfinite(middle) else float((c @ np.linalg.solve(a, -drift))[0])


def _frequencies(system: System) -> Array:
    modes = np.abs(np.linalg.eigvals(system.matrices[0]))
    scales = [*modes[modes > 0], *(1 / d for d in (system.rise[0], system.fall[0]) if d > 0)] or [1.0]
    return np.geomspace(min(scales) / 50, max(scales) * 50, FREQUENCIES)


def _amplitudes(element: Element) -> Array:
    thresholds = element.knots if isinstance(element, Pieces) else (*element.up, *element.down)
    sizes = [abs(t) for t in thresholds if t]
    height = max(map(abs, element.levels), default=1.0) if isinstance(element, Staircase) else 1.0
    smallest = min(sizes, default=height * 1e-3)
    return np.geomspace(smallest * 0.1, max([*sizes, height]) * 100, AMPLITUDES)


def _cells(balance: Complex) -> Iterator[tuple[int, int]]:
    def changes(part: Array) -> NDArray[np.bool_]:
        corners = np.stack([part[:-1, :-1], part[1:, :-1], part[:-1, 1:], part[1:, 1:]])
        return np.asarray((corners.min(axis=0) <= 0) & (corners.max(axis=0) >= 0))

    near = np.abs(balance[:-1, :-1]) < 2
    for i, k in np.argwhere(changes(balance.real) & changes(balance.imag) & near):
        yield int(i), int(k)


def _polished(system: System, bias: float, amplitude: float, frequency: float) -> Guess | None:
    from scipy.optimize import root

    element = system.elements[0]
    around = np.log([amplitude, frequency])

    def residual(anywhere: Array) -> list[float]:
        logs = np.clip(anywhere, around - 3, around + 3)
        size, w = math.exp(logs[0]), np.exp(logs[1:])
        left = 1 - describing_function(element, size, bias)[0] * response(system, w)[0]
        return [left.real, left.imag]

    solved = root(residual, around, tol=1e-12)
    near = np.all(np.abs(solved.x - around) < 0.3)
    if not near or max(map(abs, residual(solved.x))) > 1e-8:
        return None
    return Guess(bias, math.exp(solved.x[0]), 2 * math.pi / math.exp(solved.x[1]))


def _same(one: Guess, other: Guess) -> bool:
    return math.isclose(one.amplitude, other.amplitude, rel_tol=1e-5) and math.isclose(
        one.period, other.period, rel_tol=1e-5
    )
