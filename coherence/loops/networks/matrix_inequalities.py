"""Solves linear matrix inequalities: numbers y with sum of y[a] C[a] negative definite for each of several C.

A barrier method; what it returns is checked by the eigenvalues of every inequality, with room for rounding.
SOURCE: Boyd and Vandenberghe, Convex Optimization (2004), 11.6 (a first phase by Newton's method on a barrier).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
MARGIN = 1e-8  # of the largest coefficient: an eigenvalue below minus this is negative whatever was rounded
ROUNDS, STEPS, FASTER = 9, 10, 8.0


@dataclass(frozen=True)
class Inequality:
    """sum of y[a] C[a] < 0 over the numbers `of` (indices), for several C of one shape at once.

    `coefficients`: symmetric, (how many, len(of), n, n).
    """

    of: Array
    coefficients: Array

    def at(self, y: Array) -> Array:
        """Returns the sums, (how many, n, n)."""
        return np.einsum("a,kaij->kij", y[self.of], self.coefficients)

    def margin(self, y: Array) -> float:
        """Returns the largest eigenvalue."""
        return float(np.linalg.eigvalsh(self.at(y)).max())


def solved(inequalities: Sequence[Inequality], positive: Array, check: Callable[[], object] = bool) -> Array | None:
    """Returns numbers in (-1, 1) that satisfy all inequalities; `positive`: which of the numbers must be (a mask).

    None where none were found.  `check` may raise to end it.
    """
    scale = max(float(np.abs(each.coefficients).max()) for each in inequalities)
    y = np.where(positive, 0.5, 0.0)
    t = max(each.margin(y) for each in inequalities) + scale
    sharp = 1 / scale
    for _ in range(ROUNDS):
        for _ in range(STEPS):
            check()
            step = _newton(inequalities, positive, y, t, sharp)
            if step is None:
                return None
            y, t, small = _moved(inequalities, positive, y, t, sharp, step)
            if t < -2 * MARGIN * scale and max(each.margin(y) for each in inequalities) < -MARGIN * scale:
                return y
            if small:
                break
        sharp *= FASTER
    return None


def _barrier(inequalities: Sequence[Inequality], positive: Array, y: Array, t: float, sharp: float) -> float:
    low = np.where(positive, y, 1 + y)
    if not ((y < 1).all() and (low > 0).all()):
        return np.inf
    total = sharp * t - float(np.log(1 - y).sum() + np.log(low).sum())
    for each in inequalities:
        try:
            root = np.linalg.cholesky(t * np.eye(each.coefficients.shape[-1]) - each.at(y))
        except np.linalg.LinAlgError:
            return np.inf
        total -= 2 * float(np.log(np.diagonal(root, axis1=1, axis2=2)).sum())
    return total


def _newton(
    inequalities: Sequence[Inequality], positive: Array, y: Array, t: float, sharp: float
) -> tuple[Array, float] | None:
    """Returns Newton's step for (y, t), and the square of its length in the barrier's own norm."""
    count = len(y)
    low = np.where(positive, y, 1 + y)
    gradient = np.append(1 / (1 - y) - 1 / low, sharp)
    curvature = np.zeros((count + 1, count + 1))
    curvature[range(count), range(count)] = 1 / (1 - y) ** 2 + 1 / low**2
    for each in inequalities:
        inverse = np.linalg.inv(t * np.eye(each.coefficients.shape[-1]) - each.at(y))[:, None]
        moved = np.concatenate([inverse @ each.coefficients, -inverse], axis=1).swapaxes(0, 1)
        index = np.append(each.of, count)
        gradient[index] += np.trace(moved, axis1=2, axis2=3).sum(axis=1)
        turned = moved.swapaxes(2, 3).reshape(len(moved), -1)
        curvature[np.ix_(index, index)] += moved.reshape(len(moved), -1) @ turned.T
    try:
        step = np.linalg.solve(curvature, -gradient)
    except np.linalg.LinAlgError:
        return None
    return step, float(-gradient @ step)


def _moved(
    inequalities: Sequence[Inequality], positive: Array, y: Array, t: float, sharp: float, step: tuple[Array, float]
) -> tuple[Array, float, bool]:
    """Returns (y, t) after a damped step, and whether it was small."""
    direction, length = step
    before, part = _barrier(inequalities, positive, y, t, sharp), 1.0
    while part > 1e-10:
        there, level = y + part * direction[:-1], t + part * direction[-1]
        if _barrier(inequalities, positive, there, level, sharp) <= before - 0.1 * part * length:
            return there, level, length < 1e-2
        part /= 2
    return y, t, True
