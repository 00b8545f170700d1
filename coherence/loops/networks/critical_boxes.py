"""Proves that a verdict holds for all values in a box of uncertain gains, delays and coefficients.

If no root can lie on the imaginary axis for any values of the box, all of them have as many unstable roots as the
middle has.  That is proved by covering the axis with segments on which |M(c)^-1 (M(s, values) - M(c))| < 1, with a
bound on what the segment and the ranges can change together.

SOURCE: the zero exclusion principle; Barmish 1994, New Tools for Robustness of Linear Systems, chapter 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.loops.networks.components import Characteristic, Reals
from coherence.loops.networks.network import Block, Network
from coherence.loops.networks.winding import feedback_bound, inverted, split, step_error

EXCLUDED = 0.95  # |E| below which M has no zero: below 1, with room for rounding
NARROW = 1e-9  # relative width of a segment at which a box is given up
WIDEST = 60_000  # segments of one box


@dataclass(frozen=True)
class Range:
    """What may vary of a block: its `gain` (a factor), `delay` (s), or coefficient `index` of a polynomial.

    `what` is "gain", "delay", "numerator" or "denominator"; the index counts from the highest power.
    """

    block: str
    what: str
    low: float
    high: float
    index: int = 0

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2


def replaced(one: Range, at: float) -> Range:
    """Returns the range shrunk to one value."""
    return Range(one.block, one.what, at, at, one.index)


def at_middle(network: Network, box: Sequence[Range]) -> Network:
    """Returns the network with the middle of every range."""
    blocks = {block.name: block for block in network.blocks}
    for varied in box:
        blocks[varied.block] = _with(blocks[varied.block], varied, varied.middle)
    return Network(tuple(blocks.values()), network.couplings)


def _with(block: Block, varied: Range, number: float) -> Block:
    if varied.what == "delay":
        return replace(block, delay=number)
    if varied.what == "gain":
        return replace(block, numerator=tuple(number * c for c in block.numerator))
    polynomial = list(getattr(block, varied.what))
    polynomial[varied.index] = number
    changed = tuple(polynomial)
    if varied.what == "numerator":
        return replace(block, numerator=changed)
    return replace(block, denominator=changed)


def holds_throughout(network: Network, box: Sequence[Range]) -> bool:
    """Decides whether it is proved that no root lies on the axis for any values of the box, parts one by one."""
    felt = Network(network.blocks, tuple(coupling for coupling in network.couplings if coupling.gain))
    names = {one.block for one in box}
    middle = {part.names: part for part in at_middle(felt, box).components()}
    return all(
        _excluded(part, [r for r in box if r.block in part.index])
        for part in middle.values()
        if names & set(part.names)
    )


class _Spread:
    """How far the entries of M may be from those of the middle."""

    def __init__(self, char: Characteristic, box: Sequence[Range]) -> None:
        self.char = char
        blocks = char.network.blocks
        width = max(max(len(b.numerator), len(b.denominator)) for b in blocks)
        self.gain, self.delay = np.zeros(char.size), np.zeros(char.size)
        self.top, self.bottom = np.zeros((char.size, width)), np.zeros((char.size, width))  # ascending powers
        self.rows = np.array(sorted({char.network.index[varied.block] for varied in box}), dtype=int)
        for varied in box:
            row = char.network.index[varied.block]
            self._take(row, blocks[row], varied)

    def _take(self, row: int, block: Block, varied: Range) -> None:
        unit = abs(block.denominator[0])
        if varied.what == "delay":
            self.delay[row] += varied.half
        elif varied.what == "gain":
            self.gain[row] += varied.half / abs(varied.middle) if varied.middle else math.inf
        elif varied.what == "numerator":
            self.top[row, len(block.numerator) - 1 - varied.index] += varied.half / unit / self.char.units[row]
        else:
            self.bottom[row, len(block.denominator) - 1 - varied.index] += varied.half / unit

    def entries(self, centre: Reals, radius: Reals, highest: Reals) -> tuple[Reals, Reals]:
        """Returns bounds of the changes of d and g on segments of the imaginary axis."""
        far, near = np.abs(centre) + radius, np.maximum(np.abs(centre) - radius, 0.0)
        a = self.char.shifts(0.0)
        scale = np.where(self.char.present, 1 / np.hypot(a, near[:, None, None]), 1).prod(axis=2)
        powers = far[:, None] ** np.arange(self.top.shape[1])
        d = powers @ self.bottom.T * scale
        shaken = np.minimum(2.0, far[:, None] * self.delay)
        return d, (powers @ self.top.T * scale) * (1 + self.gain) + highest * (self.gain + shaken * (1 + self.gain))

    def beyond(self, radius: float) -> Reals:
        """Returns bounds of |g / d| for |s| >= radius, whatever the values; infinite if some d may vanish there."""
        bounds = np.zeros(self.char.size)
        for row, block in enumerate(self.char.network.blocks):
            lead, n = block.denominator[0], block.order
            top = np.abs(block.numerator[::-1]) / abs(lead) / self.char.units[row]
            top = np.pad(top, (0, self.top.shape[1] - len(top))) + self.top[row]
            bottom = np.abs(block.denominator[::-1]) / abs(lead)
            bottom = np.pad(bottom, (0, self.top.shape[1] - len(bottom))) + self.bottom[row]
            powers = radius ** (np.arange(len(top)) - float(n))
            least = 1 - float((bottom * powers)[:n].sum())
            if least <= 0:
                return np.full(self.char.size, np.inf)
            bounds[row] = (1 + self.gain[row]) * float((top * powers)[: n + 1].sum()) / least
        return bounds


def _excluded(part: Network, box: Sequence[Range]) -> bool:
    char = Characteristic(part)
    spread = _Spread(char, box)
    radius = _radius(char, spread)
    if not (math.isfinite(radius) and np.all(np.isfinite(spread.gain))):
        return False
    start = min(char.scale / 4, radius / 2)
    edges = np.concatenate([[0.0], np.geomspace(start, radius, max(4, math.ceil(math.log(radius / start) * 3)))])
    low, high, total = edges[:-1], edges[1:], 0
    while len(low):
        error, least = _errors(char, spread, low, high)
        total += len(low)
        bad = ~(error < EXCLUDED)
        low, high, error = low[bad], high[bad], error[bad]
        if total > WIDEST or np.any(least >= EXCLUDED) or np.any(high - low < NARROW * (high + char.scale)):
            return False
        low, high = split(low, high, np.clip(np.ceil(np.minimum(error, 4) / 0.9), 2, 4).astype(int))
    return True


def _errors(char: Characteristic, spread: _Spread, low: Reals, high: Reals) -> tuple[Reals, Reals]:
    """Returns what a segment and the ranges can do to M together, and what the ranges do at its centre alone.

    The ranges change few rows S, by (diag(dd) - diag(dg) K)_S, so det (I + E) is one of size |S|, whose entries are
    those of |M^-1|_SS dd + |K M^-1|_SS dg; a step e along the axis adds e / (1 - e) times the full norm.
    """
    centre, radius = (low + high) / 2, (high - low) / 2
    d, g = char.bounds(0.0, centre, radius)
    inverse, _ = inverted(char.matrix(d.value, g.value))
    columns = np.linalg.norm(inverse, axis=1)
    step = step_error(char, inverse, columns, d, g, radius)
    rows = spread.rows
    own, back = np.abs(inverse[:, rows][:, :, rows]), np.abs(char.gains[rows] @ inverse[:, :, rows])
    wide_d, wide_g = spread.entries(centre, radius, g.highest)
    with np.errstate(all="ignore"):
        changed = np.linalg.norm((wide_d + wide_g * char.row_norms)[:, rows], axis=1)
        full = changed * np.linalg.norm(columns[:, rows], axis=1)
        error = _frobenius(own, back, wide_d[:, rows], wide_g[:, rows]) + step / (1 - step) * full
        here_d, here_g = spread.entries(centre, np.zeros_like(radius), np.abs(g.value))
        least = _frobenius(own, back, here_d[:, rows], here_g[:, rows])
    error = np.where(step < EXCLUDED, error, np.maximum(step, 1.0))
    return np.nan_to_num(error, nan=np.inf), np.nan_to_num(least, nan=0.0)


def _frobenius(own: Reals, back: Reals, d: Reals, g: Reals) -> Reals:
    return np.asarray(np.linalg.norm(own * d[:, :, None] + back * g[:, :, None], axis=(1, 2)))


def _radius(char: Characteristic, spread: _Spread) -> float:
    radius, weights = 2.5 * max(char.largest_root, char.scale), np.eye(char.size)
    for _ in range(120):
        bound = spread.beyond(radius)
        if (
            np.all(np.isfinite(bound))
            and feedback_bound(bound[:, None] * np.abs(char.gains), weights, bound, char, 0.9) <= 0.9
        ):
            return radius
        radius *= 1.3
    return math.inf
