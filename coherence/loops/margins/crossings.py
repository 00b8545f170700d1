"""Finds every frequency at which a real function of the closed loop is zero, by bounds and not on a grid.

For one point of a network the sensitivity S(jw) decides all: with L = 1/S - 1 the loop opened there,
|L| = 1 exactly where Re S = 1/2, and L is real where Im S = 0.  On an interval f keeps its sign where
|f(m)| > |f'(m)| h + bend h^2 / 2, and has at most one zero where |f'(m)| > bend h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from coherence.loops.margins.peaks_response import ClosedLoopResponse, Local, at, local

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]
    # the real function of S; the same function without its constant (applied to S')
    Part = tuple[Callable[[Complex], Real], Callable[[Complex], Real]]
    Skip = Callable[[Complex, Real], NDArray[np.bool_]]

INTERVALS = 400_000
NARROW = 1e-12  # of its frequency: no interval is split further
ROUNDING = 3e-15  # of S: an interval on which f stays below it counts as one touching


@dataclass(frozen=True)
class Crossings:
    """The zeros in rad/s, and the places where a zero could neither be shown nor excluded (a touching)."""

    zeros: tuple[float, ...]
    open: tuple[float, ...]
    complete: bool


UNIT: Part = (lambda s: np.asarray(s.real - 0.5), lambda s: np.asarray(s.real))  # |L| = 1
REAL: Part = (lambda s: np.asarray(s.imag), lambda s: np.asarray(s.imag))  # L real


def crossings(of: ClosedLoopResponse, part: Part, edge: float, skip: Skip) -> Crossings:
    """Returns all zeros of the part of S (one row, one column) in [0, edge], but where `skip(S(m), reach)` allows to
    leave out.

    `reach` bounds |S(w) - S(m)| over the interval.  `complete` is false when the work limit was met first.
    """
    function, linear = part
    middle, half = np.array([edge / 2]), np.array([edge / 2])
    zeros: list[float] = []
    touching: list[float] = []
    spent = 0
    while len(middle):
        spent += len(middle)
        if spent > INTERVALS:
            return Crossings(tuple(sorted(zeros)), tuple(sorted(touching)), complete=False)
        taylor = local(of, middle, half)
        value, slope, bend = taylor.value[:, 0, 0], taylor.slope[:, 0, 0], _bend(taylor)
        level, steep = function(value), linear(slope)
        reach = np.abs(slope) * half + bend * half**2 / 2
        alone = np.abs(steep) > bend * half
        flat = np.abs(level) + np.abs(steep) * half + bend * half**2 / 2 < ROUNDING
        touching += np.where(middle == half, 0.0, middle)[flat].tolist()
        settled = flat | (np.abs(level) > np.abs(steep) * half + bend * half**2 / 2) | skip(value, reach)
        for m, h in zip(middle[alone & ~settled], half[alone & ~settled], strict=True):
            zeros += _zero(of, function, m - h, m + h)
        rest = ~alone & ~settled
        tight = rest & (half <= np.maximum(NARROW * middle, 1e-30 * edge))
        touching += middle[tight].tolist()
        rest &= ~tight
        middle, half = middle[rest], half[rest] / 2
        middle, half = np.concatenate([middle - half, middle + half]), np.concatenate([half, half])
    return Crossings(_distinct(zeros, edge), _distinct(touching, edge), complete=True)


def _bend(found: Local) -> Real:
    return np.where(found.contraction < 1, found.bend, np.inf)


def _zero(of: ClosedLoopResponse, function: Callable[[Complex], Real], low: float, high: float) -> list[float]:
    """Returns the only zero in an interval where the function is monotone, if there is one."""

    def of_one(omega: float) -> float:
        return float(function(at(of, np.array([omega]))[:, 0, 0])[0])

    ends = of_one(low), of_one(high)
    if low == 0 and abs(ends[0]) < 1e-13:
        return [0.0]
    if ends[0] * ends[1] > 0:
        return []
    return [float(brentq(of_one, low, high, xtol=1e-15 * high, rtol=1e-14))]


def _distinct(places: list[float], edge: float) -> tuple[float, ...]:
    """Returns the places sorted, neighbours within rounding taken as one (a zero at the common end of two
    intervals).
    """
    distinct: list[float] = []
    for zero in sorted(places):
        if not distinct or zero - distinct[-1] > 4 * NARROW * max(zero, NARROW * edge):
            distinct.append(zero)
    return tuple(distinct)
