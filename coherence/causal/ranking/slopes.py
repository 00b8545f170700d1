"""Estimates slopes of each signal on its causes, within bounds, and splits an excess over the unexplained parts.

    x_i(t) = sum over (j, l) of a[i, j, l] x_j(t - l) + e_i(t)

x is the excess over a reference.  That of one signal T, weighted by u, splits exactly:

    sum_t u(t) x_T(t) = sum_i sum_t lambda_i(t) e_i(t),
    lambda(t) = (I - A_0)'^-1 (u(t) 1_T + sum_l A_l' lambda(t + l))

whatever the slopes are; they only decide who gets what.  SOURCE: adjoint of the linear recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coherence.causal.data.series import Floats

Cause: TypeAlias = tuple[int, int]  # which signal, how many steps before
SWEEPS, SETTLED = 200, 1e-5  # slopes decide who gets what; the sum is exact for any
RIDGE = 1e-9  # of the largest diagonal element: two columns that are the same share their slope


@dataclass(frozen=True)
class Slopes:
    """For each signal: its causes and one slope for each of them."""

    causes: tuple[tuple[Cause, ...], ...]
    slopes: tuple[Floats, ...]

    def matrices(self) -> Floats:
        """A[l, i, j]: the slope of signal i on signal j, l steps before."""
        deepest = max((lag for causes in self.causes for _, lag in causes), default=0)
        matrices = np.zeros((deepest + 1, len(self.causes), len(self.causes)))
        for effect, (causes, slopes) in enumerate(zip(self.causes, self.slopes, strict=True)):
            for (cause, lag), slope in zip(causes, slopes.tolist(), strict=True):
                matrices[lag, effect, cause] += slope
        return matrices


def moments(excess: Floats, causes: Sequence[Cause], effect: int) -> tuple[Floats, Floats]:
    """(X'X, X'y) of the excess of an effect on that of its causes; before the first row there was none."""
    columns = np.zeros((len(excess), len(causes)))
    for number, (cause, lag) in enumerate(causes):
        columns[lag:, number] = excess[: len(excess) - lag, cause]
    return columns.T @ columns, columns.T @ excess[:, effect]


def least(gram: Floats, right: Floats, bounds: tuple[float, float], start: Floats | None = None) -> Floats:
    """argmin a' G a / 2 - r' a within bounds: solved, then by coordinate descent if a bound is met.

    A column that never varies gets the slope 0 (or the bound nearest to it).
    """
    if not len(right):
        return np.zeros(0)
    sizes = np.diagonal(gram) + RIDGE * float(np.diagonal(gram).max())
    if not sizes.any():
        return np.clip(np.zeros(len(right)), *bounds)
    steady = gram + np.diag(np.where(np.diagonal(gram) > 0, sizes - np.diagonal(gram), 1.0))
    free = np.linalg.solve(steady, right)
    if (free >= bounds[0]).all() and (free <= bounds[1]).all():
        return np.asarray(free, np.float64)
    return _descent(steady, right, bounds, np.clip(free if start is None else start, *bounds))


def _descent(gram: Floats, right: Floats, bounds: tuple[float, float], start: Floats) -> Floats:
    slopes, sizes = start.copy(), np.diagonal(gram)
    slack = gram @ slopes - right
    for _ in range(SWEEPS):
        moved = 0.0
        for number in range(len(slopes)):
            new = min(max(slopes[number] - slack[number] / sizes[number], bounds[0]), bounds[1])
            step = new - slopes[number]
            if step:
                slack += gram[:, number] * step
                slopes[number] = new
                moved = max(moved, abs(step))
        if moved < SETTLED:
            break
    return slopes


def own(excess: Floats, slopes: Floats) -> Floats:
    """e: what the causes of each signal do not explain; shape of `excess`."""
    rest = excess - excess @ slopes[0].T
    for lag in range(1, min(len(slopes), len(excess))):
        rest[lag:] -= excess[:-lag] @ slopes[lag].T
    return np.asarray(rest, np.float64)


def split(excess: Floats, slopes: Floats, target: int, weights: Floats) -> Floats:
    """(signals,): what each signal's own part adds to sum_t weights(t) x_target(t); they sum to it exactly."""
    length, size = excess.shape
    inverse = np.linalg.inv(np.eye(size) - slopes[0]).T
    pulls = np.outer(weights, inverse[:, target])
    if len(slopes) == 1:
        return np.asarray((pulls * own(excess, slopes)).sum(axis=0), np.float64)
    for time in range(length - 1, -1, -1):
        pull = np.zeros(size)
        pull[target] = weights[time]
        for lag in range(1, min(len(slopes), length - time)):
            pull += slopes[lag].T @ pulls[time + lag]
        pulls[time] = inverse @ pull
    return np.asarray((pulls * own(excess, slopes)).sum(axis=0), np.float64)
