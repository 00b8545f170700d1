"""Finds the largest gain of a large closed loop by level sets.

No interval may exceed the best value found by more than the tolerance; where one may, its middle is looked at
and it is halved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.loops.margins.peaks_levels import Test, level, transfer
from coherence.loops.margins.peaks_response import ClosedLoopResponse
from coherence.loops.margins.peaks_tail import outset, tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]

FIRST, TESTS, ROUNDS = 16, 20_000, 60  # intervals to begin with, and tests and rounds before this way is given up


@dataclass(frozen=True)
class Top:
    """The best size found, the frequency where (nan: nowhere better than what was given), and a bound of all."""

    best: float
    where: float
    bound: float


def climbed(of: ClosedLoopResponse, tolerance: float, best: float) -> Top | None:
    """Returns the largest singular value over all frequencies, if above `best`;
    nothing where levels do not settle it.
    """
    test, where, settled, left = Test(of), math.nan, best, TESTS
    edge = outset(of)
    furthest, beyond = edge * 2.0**12, tail(of, edge)
    size = float(np.linalg.norm(beyond.limit, 2))
    if beyond.attained and size > best:
        best, where = size, math.inf
    half: Real = np.full(FIRST, edge / (2 * FIRST))
    middle: Real = half * (2 * np.arange(FIRST, dtype=float) + 1)
    for _ in range(ROUNDS):
        best, where, settled, still = _round(test, (middle, half), tolerance, (best, where, settled))
        left -= len(middle)
        middle, half = halved(middle[still], half[still])
        if size + beyond.distance > best * (1 + tolerance):
            if edge > furthest:
                return None
            middle, half, edge = np.append(middle, 1.5 * edge), np.append(half, edge / 2), 2 * edge
            beyond = tail(of, edge)
        elif not len(middle):
            return Top(best, where, max(best, settled, size + beyond.distance))
        if left < 0:
            return None
    return None


def halved(middle: Real, half: Real) -> tuple[Real, Real]:
    """Returns both halves of intervals."""
    half = half / 2
    return np.concatenate([middle - half, middle + half]), np.concatenate([half, half])


def _round(
    test: Test, intervals: tuple[Real, Real], tolerance: float, known: tuple[float, float, float]
) -> tuple[float, float, float, NDArray[np.bool_]]:
    """Returns better values from the middles, and the intervals that are not settled yet."""
    best, where, settled = known
    middle, half = intervals
    still = np.ones(len(middle), dtype=bool)
    at = level(test.of, middle, half, width=test.width)
    for k, omega in enumerate(middle):
        if best and test.below(at, k, best * (1 + tolerance)):
            settled, still[k] = max(settled, best * (1 + tolerance)), False
        elif not best or test.reached(at, k, best):
            size = _size(test, float(omega), best)
            if size > best:
                best, where = size, float(omega)
    return best, where, settled, still


def _size(test: Test, omega: float, best: float) -> float:
    """Returns the gain at a frequency: a quick value if that is above the best, else the exact one."""
    size = test.gain(omega)
    if size > best:
        return size
    response = transfer(test.of, omega)
    return 0.0 if response is None else float(np.linalg.norm(response, 2))
