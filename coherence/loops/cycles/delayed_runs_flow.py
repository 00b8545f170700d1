"""Solves one affine flow z' = M z exactly: its state after a time, and when an output first leaves an interval.

z = (x, 1).  The flow is sampled on a grid fine against its fastest mode; between two grid points it is
its Taylor polynomial, which is exact to rounding there, so that every turning point and crossing in a
suspected step is found as a root of a polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coherence.loops.cycles.relay import Array

DEGREE = 20  # of the Taylor polynomial of one grid step
FINENESS = 0.25  # grid step times the modulus of the fastest mode
CHUNK = 64  # grid steps looked at together
FAR = 60  # doublings of a search without a time scale


class Flow:
    """x' = a x + b with outputs c x."""

    def __init__(self, a: Array, b: Array, c: Array) -> None:
        size = len(a)
        self.generator = np.zeros((size + 1, size + 1))
        self.generator[:size, :size], self.generator[:size, size] = a, b
        self.outputs = np.hstack([c, np.zeros((len(c), 1))])
        self.modes = np.linalg.eigvals(a)
        fastest = float(np.max(np.abs(self.modes)))
        self.polynomial = not np.any(np.linalg.matrix_power(a, size))
        self.step = math.inf if self.polynomial else FINENESS / fastest
        reach = 0.0 if self.polynomial else self.step
        self.weights = np.abs(self.outputs) @ (np.eye(size + 1) + reach * np.abs(self.generator))
        if not self.polynomial:
            self._sample()

    def _sample(self) -> None:
        from scipy.linalg import expm

        step_map = expm(self.generator * self.step)
        powers = [np.eye(len(step_map))]
        for _ in range(CHUNK):
            powers.append(step_map @ powers[-1])
        self.powers = np.array(powers)
        self.values = np.einsum("en,knm->ekm", self.outputs, self.powers)
        self.slopes = np.einsum("en,nl,klm->ekm", self.outputs, self.generator, self.powers)
        self.doublings = [self.powers[CHUNK]]

    def slope(self, z: Array) -> Array:
        """Returns z' at z."""
        return np.asarray(self.generator @ z)

    def after(self, z: Array, time: float) -> Array:
        """Returns z a time later (a little earlier also serves); columns of a matrix likewise."""
        if self.polynomial or time <= self.step:
            return self._taylor(z, time)
        steps = math.floor(time / self.step)
        return self._taylor(self._grid(steps) @ z, time - steps * self.step)

    def over(self, time: float) -> Array:
        """Returns the matrix that carries z over a time."""
        return self.after(np.eye(len(self.generator)), time)

    def _grid(self, steps: int) -> Array:
        chunks, rest = divmod(steps, CHUNK)
        power: Array = self.powers[rest]
        index = 0
        while chunks:
            if index == len(self.doublings):
                self.doublings.append(self.doublings[-1] @ self.doublings[-1])
            if chunks & 1:
                power = self.doublings[index] @ power
            chunks, index = chunks >> 1, index + 1
        return power

    def _taylor(self, z: Array, time: float) -> Array:
        total, term = z.copy(), z
        for k in range(1, DEGREE + 1):
            term = self.generator @ term * (time / k)
            total += term
        return total

    def local(self, z: Array, output: int) -> Array:
        """Returns the output as a polynomial in the time from z on, highest power first."""
        coefficients, term = [], z
        for k in range(DEGREE + 1):
            coefficients.append(float(self.outputs[output] @ term))
            term = self.generator @ term / (k + 1)
        return np.array(coefficients[::-1])

    def leaves(
        self, z: Array, output: int, interval: tuple[float, float], within: float, slack: float
    ) -> tuple[float, int] | None:
        """Returns when the output first leaves an interval, and whether upwards (+1) or downwards (-1).

        `slack`: by how much rounding may have put it outside already.
        """
        if interval == (-math.inf, math.inf):
            return None
        if self.polynomial:
            return first_exit(self.local(z, output), interval, within, slack, exact=True)
        start = 0.0
        while start < within:
            leaving = self._in_chunk(z, output, interval, within - start, slack)
            if leaving is not None:
                return start + leaving[0], leaving[1]
            z, start = self.powers[CHUNK] @ z, start + CHUNK * self.step
        return None

    def _in_chunk(
        self, z: Array, output: int, interval: tuple[float, float], within: float, slack: float
    ) -> tuple[float, int] | None:
        values, slopes = self.values[output] @ z, self.slopes[output] @ z
        outside = (values < interval[0]) | (values > interval[1])
        suspect = outside[1:] | outside[:-1] | (slopes[1:] * slopes[:-1] <= 0)
        for k in np.flatnonzero(suspect):
            begin = float(k) * self.step
            if begin >= within:
                return None
            piece = self.local(self.powers[k] @ z, output)
            span = min(self.step, within - begin)
            leaving = first_exit(piece, interval, span, slack, exact=False)
            if leaving is not None:
                return begin + leaving[0], leaving[1]
        return None

    def range(self, z: Array, output: int, time: float) -> tuple[float, float]:
        """Returns the smallest and largest value of the output over a time."""
        seen = [float(self.outputs[output] @ z), float(self.outputs[output] @ self.after(z, time))]
        if self.polynomial:
            piece = self.local(z, output)
            seen += [float(np.polyval(piece, s)) for s in turns(piece, time, exact=True)]
            return min(seen), max(seen)
        start = 0.0
        while start < time:
            slopes = self.slopes[output] @ z
            for k in np.flatnonzero(slopes[1:] * slopes[:-1] <= 0):
                piece = self.local(self.powers[k] @ z, output)
                span = min(self.step, time - start - float(k) * self.step)
                seen += [float(np.polyval(piece, s)) for s in turns(piece, span, exact=False)] if span > 0 else []
            z, start = self.powers[CHUNK] @ z, start + CHUNK * self.step
        return min(seen), max(seen)

    def area(self, z: Array, output: int, time: float) -> float:
        """Returns the integral of the output over a time."""
        total, start = 0.0, 0.0
        while start < time:
            span = min(self.step, time - start)
            total += float(np.polyval(np.polyint(self.local(z, output)), span))
            z, start = self._taylor(z, span), start + span
        return total


def first_exit(
    p: Array, interval: tuple[float, float], span: float, slack: float, *, exact: bool
) -> tuple[float, int] | None:
    """Returns the first s in [0, span] at which the polynomial is about to leave an interval, and in which direction.

    A start that lies outside by no more than `slack` counts as lying on the edge.
    """
    low, high = interval
    begin, place = float(p[-1]), 0.0
    if begin > high + slack or begin < low - slack:
        return 0.0, 1 if begin > high else -1
    for end in _monotone(p, span, exact=exact):
        at = float(np.polyval(p, end))
        if at > high or at < low:
            edge, direction = (high, 1) if at > high else (low, -1)
            return _root(p, edge, place, end, direction), direction
        place = end
    return None


def _monotone(p: Array, span: float, *, exact: bool) -> Iterator[float]:
    """Yields ends of the stretches on which the polynomial is monotone."""
    inner = turns(p, span, exact=exact)
    yield from inner
    if math.isfinite(span):
        yield span
        return
    end = max([1.0, *inner])
    for _ in range(FAR):
        end *= 2
        yield end


def _root(p: Array, edge: float, begin: float, end: float, direction: int) -> float:
    def beyond(s: float) -> float:
        return direction * (float(np.polyval(p, s)) - edge)

    if beyond(begin) >= 0:
        return begin
    from scipy.optimize import brentq

    return float(brentq(beyond, begin, end, xtol=1e-16 * (end - begin), rtol=8.9e-16, maxiter=300))


def turns(p: Array, span: float, *, exact: bool) -> list[float]:
    """Returns the turning points of a polynomial inside (0, span)."""
    rate = np.polyder(p)
    if exact:
        trimmed = np.trim_zeros(rate, "f")
        roots = np.roots(trimmed) if len(trimmed) > 1 else np.array([])
        real = [float(r.real) for r in roots if abs(r.imag) <= 1e-9 * (abs(r) + 1e-300)]
        return sorted(r for r in real if 0 < r < span)
    grid = np.linspace(0.0, span, 5)
    values = np.polyval(rate, grid)
    pairs = np.flatnonzero(values[1:] * values[:-1] < 0)
    if not len(pairs):
        return []
    from scipy.optimize import brentq

    return [float(brentq(lambda s: float(np.polyval(rate, s)), grid[k], grid[k + 1])) for k in pairs]
