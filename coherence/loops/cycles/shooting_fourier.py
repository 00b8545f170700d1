"""Exact cycles of smooth (or kinked) delay equations: Fourier collocation, and Floquet multipliers.

On equally spaced points of one period, differentiation and delay are matrices; Newton's method finds the
values at the points and the period together.  Errors fall faster than any power of the number of points
where the cycle is smooth, and as its third power where its second derivative jumps.

SOURCE: Trefethen, Spectral Methods in MATLAB (2000), ch. 3 and 6; Engelborghs et al., Collocation methods
for the computation of periodic solutions of delay differential equations (2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coherence.loops.cycles.delayed_runs_smooth import Rate, Smooth
from coherence.loops.cycles.relay import Array

ROUNDS = 12
POINTS = (65, 129, 257, 513)
ACCURATE = 1e-8  # relative change of period and range from one resolution to the next
NODES = 20


@dataclass(frozen=True)
class HarmonicLoop:
    """A periodic run: values (size, points) at equal distances over one period.

    `error`: how much period and range changed, relatively, when the number of points was last doubled.
    """

    values: Array
    period: float
    error: float

    def at(self, times: Array) -> Array:
        """Returns the values at any times, by trigonometric interpolation."""
        return shifted(self.values, np.asarray(times) / self.period)

    def range(self) -> tuple[Array, Array]:
        """Returns the lowest and highest value of each component, to the accuracy of the interpolation."""
        count = self.values.shape[1]
        fine = np.fft.irfft(np.fft.rfft(self.values, axis=1), 16 * count, axis=1) * 16
        return -_peak(-fine), _peak(fine)


def _peak(fine: Array) -> Array:
    """Returns the height of the parabola through the highest point and its neighbours."""
    top = np.argmax(fine, axis=1)
    rows = np.arange(len(fine))
    left, middle, right = (fine[rows, (top + k) % fine.shape[1]] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    safe = np.where(bend < 0, bend, -1.0)
    return np.asarray(np.where(bend < 0, middle - (right - left) ** 2 / (8 * safe), middle))


def shifted(values: Array, places: Array) -> Array:
    """Returns the trigonometric interpolant of (size, points) at places in periods: (size, len(places))."""
    count = values.shape[1]
    order = np.fft.fftfreq(count, 1 / count)
    waves = np.exp(2j * math.pi * np.outer(order, places))
    return np.asarray(np.real(np.fft.fft(values, axis=1) @ waves) / count)


def polished(system: Smooth, values: Array, period: float) -> HarmonicLoop | None:
    """Returns the cycle near a guess, with ever more points until it no longer changes; None without convergence."""
    before: HarmonicLoop | None = None
    for count in POINTS:
        guess = before.values if before else values
        start = shifted(guess, np.arange(count) / count)
        solved = _newton(system, start, before.period if before else period)
        if solved is None:
            if before is None and count < POINTS[1]:
                continue
            if before is None:
                return None
            return before if before.error < 1e-4 else None
        loop = HarmonicLoop(solved[0], solved[1], 1.0)
        if before is not None:
            loop = HarmonicLoop(loop.values, loop.period, _change(before, loop))
            if loop.error < ACCURATE:
                return loop
        before = loop
    return before


def _change(one: HarmonicLoop, other: HarmonicLoop) -> float:
    (low, high), (low2, high2) = one.range(), other.range()
    swing = float(np.max(high2 - low2)) or 1.0
    moved = max(float(np.max(np.abs(low - low2))), float(np.max(np.abs(high - high2)))) / swing
    return max(moved, abs(one.period / other.period - 1))


def _matrices(count: int, delay: float) -> tuple[Array, Array]:
    """Returns differentiation and delay, with the period as the unit of time; for an odd number of points."""
    order = np.fft.fftfreq(count, 1 / count)
    to = np.fft.fft(np.eye(count), axis=0)
    rate = np.real(np.fft.ifft(2j * math.pi * order[:, None] * to, axis=0))
    lag = np.real(np.fft.ifft(np.exp(-2j * math.pi * order * delay)[:, None] * to, axis=0))
    return rate, lag


def _newton(system: Smooth, values: Array, period: float) -> tuple[Array, float] | None:
    size, count = values.shape
    fixed = _matrices(count, 0.0)[0]
    reference = values @ fixed.T
    start = values
    for _ in range(ROUNDS):
        rate, lag = _matrices(count, system.delay / period)
        past = values @ lag.T
        slope = values @ rate.T
        residual = slope / period - system.rate(values, past)
        now, then = jacobians(system.rate, values, past)
        matrix = np.zeros((size * count + 1, size * count + 1))
        blocks = matrix[:-1, :-1].reshape(size, count, size, count)
        for i in range(size):
            blocks[i, :, i, :] += rate / period
            for j in range(size):
                blocks[i, :, j, :] -= np.diag(now[i, j]) + then[i, j][:, None] * lag
        moved = (values @ lag.T) @ rate.T * (system.delay / period**2)
        by_period = -slope / period**2 - np.einsum("ijk,jk->ik", then, moved)
        matrix[:-1, -1], matrix[-1, :-1] = by_period.ravel(), reference.ravel()
        right = np.append(residual.ravel(), np.sum(reference * (values - start)))
        if not np.all(np.isfinite(matrix)) or not np.all(np.isfinite(right)):
            return None
        change = -np.linalg.lstsq(matrix, right, rcond=None)[0] if count < 40 else _solved(matrix, -right)
        if change is None:
            return None
        share = min(1.0, 0.2 * period / (abs(change[-1]) + 1e-300))
        values, period = values + share * change[:-1].reshape(size, count), period + share * float(change[-1])
        if np.max(np.abs(change)) < 1e-10 * (1 + np.max(np.abs(values))):
            return (values, period) if period > 0 else None
    return None


def _solved(matrix: Array, right: Array) -> Array | None:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=float)
    except np.linalg.LinAlgError:
        return None


def jacobians(rate: Rate, values: Array, past: Array) -> tuple[Array, Array]:
    """Returns derivatives of f by x and by the delayed x at many points: shapes (size, size, points)."""
    size = len(values)

    def by(which: int, j: int) -> Array:
        both = [values, past]
        step = 1e-6 * (1 + np.max(np.abs(both[which][j])))
        sides = []
        for sign in (1, -1):
            moved = both[which].copy()
            moved[j] += sign * step
            sides.append(rate(*(moved if k == which else both[k] for k in (0, 1))))
        return np.asarray((sides[0] - sides[1]) / (2 * step))

    now, then = (np.stack([by(which, j) for j in range(size)], axis=1) for which in (0, 1))
    return now, then


def multipliers(system: Smooth, loop: HarmonicLoop) -> Array:
    """Returns the moduli of the Floquet multipliers, largest first, without the trivial one of a shift in time.

    The variational equation is solved by Chebyshev collocation over stretches of one delay (without delay:
    of an eighth of a period); a deviation is its values at the nodes of the last stretch.
    """
    size = system.size
    stretch = system.delay or loop.period / 8
    nodes = NODES + 12 * math.ceil(stretch / loop.period)
    points, derive = chebyshev(nodes)
    places, derive = (points + 1) / 2 * stretch, derive * (2 / stretch)
    width = size * (nodes + 1)
    parts = [np.eye(width)]  # the history [-stretch, 0], then each stretch, as matrices on the history
    for k in range(math.ceil(loop.period / stretch - 1e-9)):
        parts.append(_carried(system, loop, k * stretch + places, derive) @ parts[-1])
    end = np.zeros((nodes + 1, size, width))
    for j, time in enumerate(loop.period - stretch + places):
        k = min(max(math.floor(time / stretch + 1e-12), -1), len(parts) - 2)
        weights = barycentric(points, 2 * (time - k * stretch) / stretch - 1)
        end[j] = np.tensordot(weights, parts[k + 1].reshape(nodes + 1, size, width), axes=1)
    values = np.linalg.eigvals(end.reshape(width, width))
    return np.asarray(np.sort(np.abs(np.delete(values, int(np.argmin(np.abs(values - 1))))))[::-1])


def _carried(system: Smooth, loop: HarmonicLoop, times: Array, derive: Array) -> Array:
    """Returns the matrix from a deviation at the nodes of one stretch to those of the next."""
    size, count = system.size, len(times)
    values = loop.at(times)
    past = loop.at(times - system.delay)
    now, then = jacobians(system.rate, values, past)
    if not system.delay:
        now, then = now + then, np.zeros_like(then)
    left = np.zeros((count, size, count, size))
    right = np.zeros((count, size, count, size))
    for i in range(size):
        left[:, i, :, i] += derive
        for j in range(size):
            left[range(count), i, range(count), j] -= now[i, j]
            right[range(count), i, range(count), j] += then[i, j]
    left[0], right[0] = 0.0, 0.0
    for i in range(size):
        left[0, i, 0, i] = right[0, i, -1, i] = 1.0
    width = size * count
    return np.asarray(np.linalg.solve(left.reshape(width, width), right.reshape(width, width)))


def chebyshev(count: int) -> tuple[Array, Array]:
    """Returns (points from -1 to 1, differentiation matrix) of degree `count`."""
    points = -np.cos(math.pi * np.arange(count + 1) / count)
    weight = np.ones(count + 1)
    weight[[0, -1]] = 2
    weight *= (-1.0) ** np.arange(count + 1)
    matrix = np.outer(weight, 1 / weight) / (points[:, None] - points[None, :] + np.eye(count + 1))
    return points, matrix - np.diag(matrix.sum(axis=1))


def barycentric(points: Array, place: float) -> Array:
    """Returns weights of the values at Chebyshev points in their interpolant at a place."""
    apart = place - points
    if np.min(np.abs(apart)) < 1e-14:
        return np.asarray((np.abs(apart) == np.min(np.abs(apart))).astype(float))
    weight = (-1.0) ** np.arange(len(points))
    weight[[0, -1]] /= 2
    terms = weight / apart
    return np.asarray(terms / terms.sum())
