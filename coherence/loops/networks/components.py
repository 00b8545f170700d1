"""The characteristic function of one strongly connected part of a network, with bounds that prove things.

With blocks n_i(s) / d_i(s) exp(-s tau_i), d_i monic, and coupling gains K, the closed loop's roots are those of
the entire function det P(s), P = diag(d_i) - diag(n_i exp(-s tau_i)) K.  Rows divided by products of (s + a) that
vanish nowhere right of the contour give F = det M(s) with M bounded; d and g below are the scaled rows' entries.

Bounds hold on a vertical segment of the plane.  A factor is alpha + c / (s + a), so its derivatives are bounded by
|c| / |s + a|^2 and 2 |c| / |s + a|^3; products are bounded by Leibniz's rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coherence.loops.networks.network import Block, Network
from coherence.loops.networks.scaling import state_units

Reals = NDArray[np.floating[Any]]
Complexes = NDArray[np.complexfloating[Any, Any]]
ROUNDING = 1e-14  # of the entries of M, relative to their terms


class Bounds:
    """A row quantity on segments: value and derivative at the centre; bounds of |f|, |f'|, |f''| on the segment.

    `doubt` bounds how far the value is from that of the polynomial as stated: its computed roots are rounded.
    """

    __slots__ = ("doubt", "first", "highest", "second", "slope", "value")

    def __init__(self, value: Complexes, slope: Complexes, highest: Reals, first: Reals, second: Reals) -> None:
        self.value, self.slope = value, slope
        self.highest, self.first, self.second = highest, first, second
        self.doubt: Reals = np.zeros(value.shape)

    def __mul__(self, other: Bounds) -> Bounds:
        return Bounds(
            self.value * other.value,
            self.slope * other.value + self.value * other.slope,
            self.highest * other.highest,
            self.first * other.highest + self.highest * other.first,
            self.second * other.highest + 2 * self.first * other.first + self.highest * other.second,
        )

    def scaled(self, factor: Any) -> Bounds:
        """Returns the bounds times a factor for each row."""
        size = np.abs(factor)
        return Bounds(
            self.value * factor, self.slope * factor, self.highest * size, self.first * size, self.second * size
        )


class Characteristic:
    """P(s) and M(s) of a network of continuous blocks, for many s at once.  `scale`: a typical frequency, rad/s."""

    def __init__(self, network: Network) -> None:
        self.network = network
        blocks = network.blocks
        self.size = len(blocks)
        self.delays: Reals = np.array([block.delay for block in blocks], dtype=float)
        self.gains: Reals = np.zeros((self.size, self.size))
        index = network.index
        for coupling in network.couplings:
            self.gains[index[coupling.target], index[coupling.source]] += coupling.gain
        # y_i = G_i u_i and u = K y, so row i of P is d_i e_i - n_i exp(-s tau_i) K_i
        self.leads: Reals = np.array([block.numerator[0] / block.denominator[0] for block in blocks])
        self.poles = [np.roots(block.denominator).astype(complex) for block in blocks]
        self.zeros = [np.roots(block.numerator).astype(complex) for block in blocks]
        self.scale = _scale(self.poles, blocks)
        self._doubt_d = [root_doubt(b.denominator, poles) for b, poles in zip(blocks, self.poles, strict=True)]
        self._doubt_g = [root_doubt(b.numerator, zeros) for b, zeros in zip(blocks, self.zeros, strict=True)]
        self._fill()
        self._balance()

    def _fill(self) -> None:
        """Fills the factors of all rows into rectangular arrays: (alpha s + beta) / (s + a), absent ones are 1."""
        width = max((len(poles) for poles in self.poles), default=0)
        shape = (self.size, width)
        self.present: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
        self.roots: Complexes = np.zeros(shape, dtype=complex)
        self.tops: Complexes = np.zeros(shape, dtype=complex)
        self.alphas: Reals = np.zeros(shape)
        for row, (poles, zeros) in enumerate(zip(self.poles, self.zeros, strict=True)):
            self.present[row, : len(poles)] = True
            order = np.argsort(np.abs(poles))
            self.roots[row, : len(poles)] = poles[order]
            self.tops[row, : len(poles)] = 1
            self.tops[row, : len(zeros)] = -zeros[np.argsort(np.abs(zeros))]
            self.alphas[row, : len(zeros)] = 1

    def _balance(self) -> None:
        """Chooses units of the outputs so that gains back and forth are alike: roots stay, bounds get sharper."""
        self.units: Reals = np.ones(self.size)
        if self.size == 1 or not self.gains.any():
            return
        s = 1j * self.scale * np.array([0.3, 1.0, 10.0])
        d, g = self.entries(0.0, s)
        weight = np.abs(g / d).max(axis=0)[:, None] * np.abs(self.gains)
        self.units = state_units(weight)
        self.leads, self.gains = self.leads / self.units, self.gains * self.units

    @cached_property
    def through_now(self) -> Reals:
        """Returns the feedthrough of the blocks without delay."""
        return np.array([b.feedthrough if b.delay == 0 else 0.0 for b in self.network.blocks]) / self.units

    @cached_property
    def through_late(self) -> Reals:
        """Returns the feedthrough of the blocks with delay."""
        return np.array([b.feedthrough if b.delay > 0 else 0.0 for b in self.network.blocks]) / self.units

    @cached_property
    def coupling_norm(self) -> float:
        return float(np.linalg.norm(self.gains, 2)) if self.size else 0.0

    @cached_property
    def row_norms(self) -> Reals:
        return np.asarray(np.linalg.norm(self.gains, axis=1))

    @cached_property
    def largest_root(self) -> float:
        """Returns the largest modulus of a pole or zero of a block."""
        every = np.concatenate([*self.poles, *self.zeros, np.zeros(1)])
        return float(np.max(np.abs(every)))

    def shifts(self, sigma: float) -> Reals:
        """Returns the a of each factor: none of (s + a) vanishes for Re s >= sigma."""
        return np.asarray(np.maximum(np.maximum(np.abs(self.roots), self.scale), 2 * abs(sigma)))

    def bounds(self, sigma: float, centre: Reals, radius: Reals) -> tuple[Bounds, Bounds]:
        """Returns d and g (without delay: with it) of all rows on the segments sigma + j [centre - radius, centre +
        radius].
        """
        s = sigma + 1j * centre
        a = self.shifts(sigma)
        below = np.maximum(np.abs(centre) - radius, 0.0)
        shape = (len(centre), self.size)
        d, g = _unit_bounds(shape), _delay(self.delays, s, sigma)
        for k in range(a.shape[1]):
            w = 1 / (s[:, None] + a[:, k])
            near = 1 / np.hypot(sigma + a[:, k], below[:, None])
            keep = self.present[:, k]
            ones = np.ones(self.size)
            d = d * _factor(s, radius, w, near, (ones, -self.roots[:, k], a[:, k]), keep)
            g = g * _factor(s, radius, w, near, (self.alphas[:, k], self.tops[:, k], a[:, k]), keep)
        top = g.scaled(self.leads)
        d.doubt, top.doubt = self._doubts(s, sigma)
        return d, top

    def _doubts(self, s: Complexes, sigma: float) -> tuple[Reals, Reals]:
        """Returns how far the products of computed roots may be from d and g as stated, in the scaling of `bounds`."""
        a, size = self.shifts(sigma), np.abs(s)
        d, g = np.zeros((len(s), self.size)), np.zeros((len(s), self.size))
        for row, (pole, zero) in enumerate(zip(self._doubt_d, self._doubt_g, strict=True)):
            if len(pole) < 2:
                continue
            unit = pole[0]
            shifts = (a[row, self.present[row]] / unit)[None, :]
            scale = np.abs(s[:, None] / unit + shifts).prod(axis=1)
            d[:, row] = np.polyval(pole[1:], size / unit) / scale
            if len(zero) > 1:
                factor = abs(self.leads[row]) * np.exp(-sigma * self.delays[row])
                power = math.log(zero[0]) * (len(zero) - 2) - math.log(unit) * (len(pole) - 2)
                g[:, row] = np.polyval(zero[1:], size / zero[0]) / scale * factor * math.exp(min(power, 700.0))
        return d, g

    def entries(self, sigma: float, s: Complexes) -> tuple[Complexes, Complexes]:
        """Returns d and g at points whose real part is sigma, of the same scaling as `bounds`."""
        a = self.shifts(sigma)
        point = s[:, None, None]
        w = 1 / (point + a)
        d = np.where(self.present, (point - self.roots) * w, 1).prod(axis=2)
        g = np.where(self.present, (self.alphas * point + self.tops) * w, 1).prod(axis=2)
        return d, g * self.leads * np.exp(-s[:, None] * self.delays)

    def matrix(self, d: Complexes, g: Complexes) -> Complexes:
        """Returns diag(d) - diag(g) K."""
        entries = -g[:, :, None] * self.gains
        rows = np.arange(self.size)
        entries[:, rows, rows] += d
        return np.asarray(entries)

    def pencil(self, s: Complexes) -> tuple[Complexes, Complexes]:
        """Returns P(s) and P'(s) at any points, each row of both divided by one positive number."""
        d, slope, g, steep = self._plain(s)
        size = np.abs(d) + np.abs(g) + 1e-300
        p, q = self.matrix(d / size, g / size), self.matrix(slope / size, steep / size)
        return p, q

    def _plain(self, s: Complexes) -> tuple[Complexes, Complexes, Complexes, Complexes]:
        point = s[:, None]
        d = np.ones((len(s), self.size), dtype=complex)
        with np.errstate(over="ignore", invalid="ignore"):
            g = np.exp(-point * self.delays) * self.leads
        slope, steep = np.zeros_like(d), -self.delays * g
        for k in range(self.roots.shape[1]):
            keep = self.present[:, k]
            size = np.maximum(np.maximum(np.abs(point), np.abs(self.roots[:, k])), self.scale)
            pole, unit = np.where(keep, (point - self.roots[:, k]) / size, 1), np.where(keep, 1 / size, 0)
            zero = np.where(keep, (self.alphas[:, k] * point + self.tops[:, k]) / size, 1)
            d, slope = d * pole, slope * pole + d * unit
            g, steep = g * zero, steep * zero + g * self.alphas[:, k] * unit
        return d, slope, g, steep

    def transfer_bound(self, sigma: float, radius: float) -> tuple[Reals, Reals]:
        """Returns bounds of |n_i / d_i exp(-s tau_i)| for |s| >= radius, Re s >= sigma; and X = (I - D0 K)^-1.

        D0 is the feedthrough of blocks without delay, which is taken out of their bound.  `radius` must be
        larger than every pole.  Raises ZeroDivisionError for an algebraic loop without solution.
        """
        through = self.through_now
        closing = np.eye(self.size) - through[:, None] * self.gains
        if through.any() and np.linalg.cond(closing) > 1 / (1e3 * np.finfo(float).eps):
            raise ZeroDivisionError
        bound = np.array([self._beyond(row, sigma, radius, through[row]) for row in range(self.size)])
        return bound, np.asarray(np.linalg.inv(closing)) if through.any() else np.eye(self.size)

    def _beyond(self, row: int, sigma: float, radius: float, through: float) -> float:
        poles, lead, zeros = self.poles[row], self.leads[row], self.zeros[row]
        if through:
            block = self.network.blocks[row]
            rest = np.polysub(block.numerator, np.multiply(block.feedthrough, block.denominator))[1:]
            rest = np.trim_zeros(rest, "f")
            if not len(rest):
                return 0.0
            lead, zeros = rest[0] / block.denominator[0] / self.units[row], np.roots(rest)
        if lead == 0:
            return 0.0
        log = math.log(abs(lead)) + (len(zeros) - len(poles)) * math.log(radius)
        log += float(np.log1p(np.abs(zeros) / radius).sum() - np.log1p(-np.abs(poles) / radius).sum())
        return math.exp(min(log - min(sigma, 0.0) * self.delays[row], 700.0))


def root_doubt(polynomial: Sequence[float], roots: Complexes) -> Reals:
    """Returns a unit u and coefficients e (highest power first) with |p(s) / lead - product (s - root)| <= u^n e(|s|
    / u).

    What the computed roots give back is compared with the polynomial as stated; the rounding of that comparison is
    part of it.  A product of one factor is exact enough: its bound is zero, and the result is empty.
    """
    unit = float(np.max(np.abs(roots), initial=0.0))
    if len(roots) < 2 or unit == 0 or not math.isfinite(unit):
        return np.zeros(0)
    n = len(roots)
    stated = np.array(polynomial, dtype=float) / polynomial[0] / unit ** np.arange(n + 1.0)
    again, terms = np.poly(roots / unit), np.poly(-np.abs(roots) / unit)
    return np.concatenate([[unit], np.abs(stated - again) + 2 * n * np.finfo(float).eps * np.abs(terms)])


def _scale(poles: Sequence[Complexes], blocks: Sequence[Block]) -> float:
    """Returns the slowest time scale of the part that is not infinite, as a frequency; not absurdly slow."""
    sizes = [float(abs(p)) for row in poles for p in row if abs(p) > 0]
    sizes += [1 / block.delay for block in blocks if block.delay > 0]
    if sizes:
        return max(min(sizes), 1e-9 * max(sizes))
    gains = [abs(b.numerator[-1] / b.denominator[0]) ** (1 / max(b.order, 1)) for b in blocks if b.numerator[-1]]
    return min(gains, default=1.0)


def _unit_bounds(shape: tuple[int, int]) -> Bounds:
    zero = np.zeros(shape)
    return Bounds(np.ones(shape, dtype=complex), zero + 0j, np.ones(shape), zero, zero)


def _delay(delays: Reals, s: Complexes, sigma: float) -> Bounds:
    """Returns exp(-s tau) and its derivatives by s."""
    size = np.broadcast_to(np.exp(-sigma * delays), (len(s), len(delays)))
    wave = np.exp(-s[:, None] * delays)
    return Bounds(wave, -delays * wave, size, delays * size, delays**2 * size)


def _factor(
    s: Complexes,
    radius: Reals,
    w: Complexes,
    near: Reals,
    terms: tuple[Reals, Complexes, Reals],
    keep: NDArray[np.bool_],
) -> Bounds:
    """Returns (alpha s + beta) / (s + a) where kept, else 1."""
    alpha, beta, a = terms
    c = np.where(keep, beta - alpha * a, 0)
    size = np.abs(c)
    value = np.where(keep, (alpha * s[:, None] + beta) * w, 1)
    first = size * near**2
    return Bounds(value, -c * w**2, np.abs(value) + radius[:, None] * first, first, 2 * size * near**3)
