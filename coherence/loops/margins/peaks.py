"""Largest amplification over all frequencies, to a stated tolerance: Ms, Mt and the H-infinity norm.

A grid of frequencies misses a narrow resonance.  Here every interval of frequencies is bounded through
the derivatives of the closed loop (`peaks_response`) and split until none can exceed the best value found
by more than the tolerance; the frequencies beyond the last interval are bounded together.

    |T(w)| <= max(|T(m) + h T'(m)|, |T(m) - h T'(m)|) + bend h^2 / 2   for |w - m| <= h

SOURCE: definitions of Ms, Mt and the H-infinity norm: Skogestad and Postlethwaite, Multivariable Feedback
Control, 2nd ed., 2.4.3 and 4.10; the maximum of a convex function of w - m stands at an end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.loops.margins.peaks_climb import Top, climbed, halved
from coherence.loops.margins.peaks_levels import serves
from coherence.loops.margins.peaks_response import ClosedLoopResponse, Local, local, response, separate
from coherence.loops.margins.peaks_tail import outset, tail
from coherence.loops.networks.stability import Judge, Stability, stability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherence.loops.networks.network import Network

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]
    # sizes at the middles (any less below the best so far), and bounds of the size over the intervals
    Bound = Callable[[Local, Real, float], tuple[Real, Real]]

INTERVALS, ENTRIES = (
    20_000,
    80_000_000,
)  # intervals (or matrix entries) after which the tolerance is taken ten times wider
ROUNDS = 400


@dataclass(frozen=True)
class Peak:
    """A largest gain: reached at `frequency` (rad/s; infinity: in the limit), and nowhere above `bound`.

    `output` and `input` are the blocks that take the largest part in it, `pair_gain` the gain between the
    two at that frequency.  `reached`: the bound is within the tolerance that was asked for.
    """

    value: float
    bound: float
    frequency: float
    output: str
    input: str
    pair_gain: float
    reached: bool

    @property
    def period(self) -> float:
        """Returns seconds of one oscillation at the peak."""
        return 2 * math.pi / self.frequency if self.frequency else math.inf


@dataclass(frozen=True)
class Amplification:
    """A peak of a stable closed loop; of one that is not stable there is none, and `stability` says why."""

    stability: Stability
    peak: Peak | None


def amplification(
    network: Network,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    tolerance: float = 1e-8,
    judge: Judge = stability,
) -> Amplification:
    """Returns the H-infinity norm from what enters at the inputs of some blocks to the outputs of some blocks."""
    return _judged(network, response(network, outputs=outputs, inputs=inputs), tolerance, judge)


def sensitivity_peak(
    network: Network, *, at: Sequence[str] | None = None, tolerance: float = 1e-8, judge: Judge = stability
) -> Amplification:
    """Returns Ms: the norm of S = (I - G K)^-1 at the outputs of some blocks (1 / Ms: distance of L from -1)."""
    return _judged(network, response(network, outputs=at, inputs=at, sensitivity=True), tolerance, judge)


def _judged(network: Network, of: ClosedLoopResponse, tolerance: float, judge: Judge) -> Amplification:
    found = judge(network)
    return Amplification(found, largest(of, tolerance=tolerance) if found.verdict == "stable" else None)


def spectral(taylor: Local, half: Real, best: float) -> tuple[Real, Real]:
    """Returns the largest singular values at the middles (or less, where below `best`) and bounds of them over the
    intervals.
    """
    ahead, behind = taylor.value + _wide(half) * taylor.slope, taylor.value - _wide(half) * taylor.slope
    above = np.where(taylor.contraction < 1, taylor.bend * half**2 / 2, np.inf)
    size = np.nan_to_num(np.linalg.norm(taylor.value, axis=1).max(axis=1), nan=0.0, posinf=0.0)  # of a column: no more
    near = _cheap(taylor.value) > max(best, float(size.max()))
    size[near] = _norm(taylor.value[near])
    best = max(best, float(size.max()))
    bounds = np.maximum(_cheap(ahead), _cheap(behind)) + above
    close = np.isfinite(bounds) & (bounds > best)  # the others are settled by the cheaper bound
    bounds[close] = np.maximum(_norm(ahead[close]), _norm(behind[close])) + above[close]
    return size, np.where(np.isnan(bounds), np.inf, bounds)


def _cheap(matrices: Complex) -> Real:
    """Returns sqrt(|M|_1 |M|_inf): an upper bound of the largest singular value, equal to it for one entry."""
    sizes = np.abs(matrices)
    return np.asarray(np.sqrt(sizes.sum(axis=1).max(axis=1) * sizes.sum(axis=2).max(axis=1)))


def _wide(half: Real) -> Real:
    return np.asarray(half[:, None, None])


def _norm(matrices: Complex) -> Real:
    if matrices.shape[1:] == (1, 1):
        return np.asarray(np.abs(matrices[:, 0, 0]))
    finite = np.isfinite(matrices).all(axis=(1, 2))
    norms = np.full(len(matrices), np.inf)
    if finite.any():
        norms[finite] = np.linalg.norm(matrices[finite], 2, axis=(1, 2))
    return norms


def largest(of: ClosedLoopResponse, *, tolerance: float = 1e-8, bound: Bound = spectral) -> Peak:
    """Returns the largest singular value (or another size, given its bound) of a response over all frequencies >= 0.

    Says nothing about stability: ask that first.
    """
    parts = separate(of) if bound is spectral else [of]
    top, holder = Top(0.0, math.nan, 0.0), of
    for part in parts:
        part_top = climbed(part, tolerance, top.best) if bound is spectral and serves(part, tolerance) else None
        part_top = part_top or _searched(part, tolerance, bound, top.best)
        holder = part if part_top.best > top.best else holder
        top = Top(
            part_top.best, part_top.where if part_top.best > top.best else top.where, max(part_top.bound, top.bound)
        )
    return _peak(holder, top, tolerance, exact=bound is spectral)


def _searched(of: ClosedLoopResponse, tolerance: float, bound: Bound, best: float) -> Top:
    """Returns the largest size above `best` with its bound, from bounds of all intervals."""
    where, settled, wide = math.nan, best, tolerance
    edge = last = outset(of)
    furthest = last * (1e15 if tail(of, last).attained else 64.0)  # with delayed feedthrough there is no limit to reach
    middle, half, bounds = np.array([0.0, edge / 2]), np.array([0.0, edge / 2]), np.zeros(0)
    left = budget = min(INTERVALS, max(ENTRIES // of.size**2, 1000))
    end = math.inf
    for _ in range(ROUNDS):
        sizes, bounds = bound(local(of, middle, half), half, best)
        left -= len(middle)
        if left < 0:
            left, wide = budget, 10 * wide
        if sizes.max() > best:
            best, where = float(sizes.max()), float(middle[sizes.argmax()])
        end, limit = _end(of, edge, bound)
        if limit > best:
            best, where = limit, math.inf
        still = ~(bounds <= best * (1 + wide))
        settled = max(settled, float(bounds[~still].max(initial=0.0)))
        grow = end > best * (1 + wide) and edge <= furthest
        middle, half, bounds = *halved(middle[still], half[still]), bounds[still]
        if grow:
            middle, half, edge = np.append(middle, 1.5 * edge), np.append(half, edge / 2), 2 * edge
        if not len(middle):
            break
    return Top(best, where, max(best, settled, end, float(bounds.max(initial=0.0))))


def _end(of: ClosedLoopResponse, edge: float, bound: Bound) -> tuple[float, float]:
    """Returns (bound of the size beyond the edge, the size in the limit if there is one)."""
    beyond = tail(of, edge)
    still = Local(beyond.limit[None], 0 * beyond.limit[None], np.zeros(1), np.zeros(1))
    size = float(bound(still, np.zeros(1), 0.0)[0][0])
    return size + beyond.distance, size if beyond.attained else 0.0


def _peak(of: ClosedLoopResponse, top: Top, tolerance: float, *, exact: bool) -> Peak:
    where = 0.0 if math.isnan(top.where) else top.where
    if not top.bound:  # nothing leads from the inputs to the outputs
        matrix = np.zeros((len(of.rows), len(of.columns)), dtype=complex)
    elif math.isfinite(where):
        matrix = local(of, np.array([where]), np.zeros(1)).value[0]
    else:
        matrix = tail(of, 1.0).limit
    left, sizes, right = np.linalg.svd(matrix)
    best = max(top.best, float(sizes[0])) if exact else top.best
    bound = max(top.bound, best) if best <= top.bound * (1 + 1e-9) else math.inf  # more than rounding: no bound at all
    row, column = int(np.abs(left[:, 0]).argmax()), int(np.abs(right[0]).argmax())
    names = of.names[of.rows[row]], of.names[of.columns[column]]
    pair = float(abs(matrix[row, column]))
    return Peak(best, bound, where, *names, pair, bound <= best * (1 + tolerance))
