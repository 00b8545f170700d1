"""Carries out one lap of a sampled network that bends: a positively homogeneous map with pieces that are linear.

    x[k+1] = E x + D w,    w[j] = |z[j]|,    z = C x + F w        (F strictly lower: bends come one after another)

Each combination of the signs of z has its own matrix.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
SAME = 1e-12  # relative difference below which two rows that were rounded are one


@dataclass(frozen=True)
class BentLap:
    """The lap of `length` seconds: E `end` (n, n), D `drive` (n, m), C `seen` (m, n) and F `through` (m, m)."""

    length: float
    end: Array
    drive: Array
    seen: Array
    through: Array

    @property
    def signs(self) -> Iterator[Array]:
        """Yields every combination of signs of what bends."""
        yield from (np.array(signs, dtype=float) for signs in itertools.product((1, -1), repeat=len(self.seen)))

    def compared(self, signs: Array) -> Array:
        """Returns the rows of z over x where z has these signs."""
        m = len(self.seen)
        return np.linalg.solve(np.eye(m) - self.through * signs, self.seen) if m else self.seen

    def matrix(self, signs: Array) -> Array:
        """Returns the lap where z has these signs."""
        return self.end + (self.drive * signs) @ self.compared(signs)

    def step(self, x: Array) -> tuple[Array, Array]:
        """Returns x (n, k) a lap later, and z."""
        z = self.seen @ x
        for j in range(1, len(z)):
            z[j] += self.through[j, :j] @ np.abs(z[:j])
        return self.end @ x + self.drive @ np.abs(z), z


def reduced(lap: BentLap) -> BentLap:
    """Returns the lap without what nothing reads or moves, and without bends that others show already."""
    return _folded(_pruned(lap))


def _pruned(lap: BentLap) -> BentLap:
    """Returns the lap without what nothing reads and what nothing moves."""
    reads = np.abs(lap.end) + np.abs(lap.drive) @ _reach(lap) > 0
    left = np.arange(len(reads))
    while len(left):
        within = reads[np.ix_(left, left)]
        matters = within.any(axis=0) & within.any(axis=1)
        if matters.all():
            break
        left = left[matters]
    return BentLap(lap.length, lap.end[np.ix_(left, left)], lap.drive[left], lap.seen[:, left], lap.through)


def _reach(lap: BentLap) -> Array:
    """Returns which of x each bend depends on, itself or by bends before it."""
    m = len(lap.seen)
    return np.linalg.inv(np.eye(m) - np.abs(lap.through)) @ np.abs(lap.seen) if m else lap.seen


def _folded(lap: BentLap) -> BentLap:
    """Returns the lap with |c t + d |t|| as p t + q |t|, where |t| is a bend already, and without bends of nothing."""
    j = 0
    while j < len(lap.seen):
        fold = _fold(lap, j)
        if fold is None:
            j += 1
        else:
            lap = _without(lap, j, *fold)
    return lap


def _fold(lap: BentLap, j: int) -> tuple[int, float, float] | None:
    """Returns (i, p, q) where the bend j is p times what bend i compares and q times bend i."""
    row = np.concatenate([lap.seen[j], lap.through[j, :j]])
    if not row.any():
        return 0, 0.0, 0.0
    for i in range(j):
        inner = np.concatenate([lap.seen[i], lap.through[i, :j]])
        rest = row.copy()
        d, rest[lap.seen.shape[1] + i] = rest[lap.seen.shape[1] + i], 0.0
        c = float(rest @ inner / (inner @ inner)) if inner.any() else 0.0
        if np.abs(rest - c * inner).max() <= SAME * np.abs(row).max():
            up, down = abs(c + d), abs(d - c)
            return i, (up - down) / 2, (up + down) / 2
    return None


def _without(lap: BentLap, j: int, i: int, p: float, q: float) -> BentLap:
    """Returns the lap with the bend j put in by what bend i compares and by bend i."""
    seen, through = lap.seen[i], lap.through[i]
    others = [k for k in range(len(lap.seen)) if k != j]
    unit = np.eye(len(lap.seen))[i]

    def put_in(by_x: Array, by_w: Array) -> tuple[Array, Array]:
        weight = by_w[:, j : j + 1]
        return by_x + weight * p * seen, (by_w + weight * (p * through + q * unit))[:, others]

    end, drive = put_in(lap.end, lap.drive)
    rows, within = put_in(lap.seen, lap.through)
    return BentLap(lap.length, end, drive, rows[others], within[others])
