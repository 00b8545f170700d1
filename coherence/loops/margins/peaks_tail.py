"""Bounds a closed loop at all high frequencies at once: its limit, and the largest distance from it.

Beyond some frequency the blocks differ from their undelayed feedthrough by little; where what remains contracts,
Neumann's series bounds the closed loop's distance from its limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.bisection import halved, whole_mean
from coherence.base.errors import UsageError
from coherence.loops.margins.peaks_response import ClosedLoopResponse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]

FAR = 1e18  # rad/s that stand for the limit of high frequency
LARGE, STEPS = 40, 12  # size from which spectral radii are bounded by as many products with a vector


@dataclass(frozen=True)
class Tail:
    """All frequencies from some W on: T - shift I differs from `limit` by no more than `distance`.

    `contraction` bounds the spectral radius of the feedback that remains (blocks without their undelayed
    feedthrough); where it is >= 1 nothing is known.  `attained`: T does tend to the limit.
    """

    limit: Complex
    distance: float
    contraction: float
    attained: bool


def tail(of: ClosedLoopResponse, start: float) -> Tail:
    """Returns what holds for every frequency >= start, and in the right half plane for every |s| >= start.

    Entry by entry |S - S(oo)| <= ((I - M)^-1 - I) |S(oo)| for any M >= |S(oo) (G - D) K| of spectral radius < 1.
    Raises UsageError where an undelayed algebraic loop has no solution (I - D K singular).
    """
    direct = np.where(of.delays == 0, _direct(of), 0.0)
    closed = closing(of, direct)
    limit = (closed if of.sensitivity else closed * direct)[np.ix_(of.rows, of.columns)].astype(complex)
    if of.shift:
        limit = limit - of.shift * np.eye(len(of.rows))
    contraction, distance = _remaining(of, start, direct, closed)
    attained = _remaining(of, FAR, direct, closed)[1] <= 1e-9 * (1 + float(np.abs(limit).max()))
    return Tail(limit, distance, contraction, attained)


def _remaining(of: ClosedLoopResponse, start: float, direct: Real, closed: Real) -> tuple[float, float]:
    """Returns the spectral radius of M from `start` on, and the bound of the distance from the limit."""
    rest = _beyond(of, start, direct)
    if not np.isfinite(rest).all():
        return math.inf, math.inf
    through = np.abs(closed) @ (rest[:, None] * np.abs(of.gains))
    sums = through.sum(axis=1)  # the radius of a non-negative matrix lies between its least and largest row sum
    if sums.min() >= 1:
        return float(sums.min()), math.inf
    radius = float(sums.max()) if sums.max() < 1e-6 else _radius(through)
    if not radius < 1 - 1e-9:
        return radius, math.inf
    grown = np.linalg.inv(np.eye(of.size) - through)
    away = through @ grown @ np.abs(closed)
    if not of.sensitivity:
        away = away * np.abs(direct) + (np.abs(closed) + away) * rest
    return radius, float(np.linalg.norm(away[np.ix_(of.rows, of.columns)], 2))


def largest_factor(of: ClosedLoopResponse, start: float, row: int, most: float) -> float:
    """Returns the factors on the gain of one block from 1 on to this one (at most `most`) that let what remains
    contract.

    From `start` on no loop of the scaled network can then be on its edge, whatever the phases of the delays.
    """

    def contracts(factor: float) -> bool:
        scale = np.ones(of.size)
        scale[row] = factor
        direct = np.where(of.delays == 0, _direct(of), 0.0) * scale
        rest = _beyond(of, start, direct / scale) * scale
        try:
            return _contraction(of, rest, closing(of, direct)) < 1
        except UsageError:
            return False

    low, step = 1.0, 1.02 if of.size <= LARGE else 1.25
    while low < most and contracts(min(low * step, most)):
        low = min(low * step, most)
    if low >= most:
        return most
    return halved(contracts, low, low * step, near=lambda low, high: high - low <= 1e-9 * low)[0]


def _contraction(of: ClosedLoopResponse, rest: Real, closed: Real) -> float:
    if not np.isfinite(rest).all():
        return math.inf
    return _radius(np.abs(closed) @ (rest[:, None] * np.abs(of.gains)))


def _radius(matrix: Real) -> float:
    """Returns the spectral radius of a non-negative matrix; of a large one an upper bound where that is below 1.

    SOURCE: Collatz and Wielandt: min (Mx)_i / x_i <= radius <= max (Mx)_i / x_i for every x > 0.
    """
    if len(matrix) > LARGE:
        x = np.ones(len(matrix))
        for _ in range(STEPS):
            x = matrix @ x
            x = x / x.max() + 1e-9
        ratios = (matrix @ x) / x
        if ratios.max() < 1 - 1e-9 or ratios.min() >= 1:
            return float(ratios.max() if ratios.max() < 1 else ratios.min())
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def outset(of: ClosedLoopResponse) -> float:
    """Returns a frequency beyond which the remaining feedback contracts, or a large one where it never does."""
    enough = max(0.5, (1 + tail(of, FAR).contraction) / 2)
    edge = first_edge(lambda start: tail(of, start).contraction < enough) or FAR
    delays = of.delays[of.delays > 0]
    return edge if tail(of, edge).attained else max(edge, 16 * math.pi / float(delays.min()))


def first_edge(holds: Callable[[float], bool]) -> float | None:
    """Returns the first of 1e-9, 2e-9, 4e-9, ... rad/s at which a property holds that holds ever after;
    none up to 1e18.
    """
    low, high = -1, 90  # powers of two; the bounds of a tail fall with its start, so halving finds the first
    if not holds(1e-9 * 2.0**high):
        return None
    return 1e-9 * 2.0 ** halved(lambda power: holds(1e-9 * 2.0**power), high, low, middle=whole_mean)[0]


def closing(of: ClosedLoopResponse, direct: Real) -> Real:
    """Returns (I - D K)^-1 of the undelayed feedthrough D."""
    if not direct.any():
        return np.eye(of.size)
    matrix = np.eye(of.size) - direct[:, None] * of.gains
    if not np.isfinite(matrix).all() or np.linalg.cond(matrix) > 1e12:
        raise UsageError("an algebraic loop without delay has no solution: give one of its blocks a lag or a delay")
    return np.asarray(np.linalg.inv(matrix))


def _direct(of: ClosedLoopResponse) -> Real:
    """Returns G at infinite frequency without delays."""
    degree, top = _leading(of)
    rows = np.arange(of.size)
    return np.asarray(top[rows, degree] / of.denominators[rows, degree])


def _leading(of: ClosedLoopResponse) -> tuple[NDArray[np.intp], Real]:
    """Returns the degrees of the denominators, and the numerators padded to the denominators' length."""
    width = of.denominators.shape[1]
    top = np.zeros((of.size, width))
    shared = min(width, of.numerators.shape[1])
    top[:, :shared] = of.numerators[:, :shared]
    return width - 1 - (of.denominators[:, ::-1] != 0).argmax(axis=1), top


def _beyond(of: ClosedLoopResponse, start: float, direct: Real) -> Real:
    """Returns bounds of |G_i(s) - direct_i| for |s| >= start, Re s >= 0."""
    degree, top = _leading(of)
    rows, order = np.arange(of.size), np.arange(of.denominators.shape[1])
    top = top - direct[:, None] * of.denominators
    top[rows[direct != 0], degree[direct != 0]] = 0.0
    powers = np.where(order <= degree[:, None], start ** np.minimum(order - degree[:, None], 0.0), 0.0)
    sizes = np.abs(of.denominators) * powers
    least = 2 * np.abs(of.denominators[rows, degree]) - sizes.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(least > 0, (np.abs(top) * powers).sum(axis=1) / least, np.inf)
