"""Computes the multiloop disk margin: how much all loops may change at the same time, each in its own way.

Margins of one loop at a time miss interaction: a plant can have unlimited gain margins in each loop and
be destabilised by a change of 10 % in two.  The multiloop margin is 1 / max over w of mu(S + (skew - 1)/2 I)
over the sensitivity at all chosen points together; mu is bounded above by scaling, and the maximum over
frequency by the same proven intervals as every peak, so that the margin given is safe.

SOURCE: Seiler, Packard and Gahinet, An introduction to disk margins, IEEE Control Systems Magazine 40 (2020), 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.loops.margins.interaction import structured
from coherence.loops.margins.network_margins import Disk, disk_of
from coherence.loops.margins.peaks import Peak, largest, spectral
from coherence.loops.margins.peaks_response import Local, response
from coherence.loops.networks.stability import Judge, Stability, stability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherence.loops.networks.network import Network

    Real = NDArray[np.float64]

MOST_SEARCHED = 400  # each takes some milliseconds


@dataclass(frozen=True)
class Multiloop:
    """The disk that every chosen loop may use at once; none where the closed loop is not stable.

    `peak.value` is the largest bound of mu at a frequency, `peak.bound` holds for all frequencies.
    """

    stability: Stability
    disk: Disk | None
    peak: Peak | None


def multiloop_disk(
    network: Network,
    points: Sequence[str] | None = None,
    *,
    skew: float = 0.0,
    tolerance: float = 1e-6,
    judge: Judge = stability,
) -> Multiloop:
    """Returns the disk margin at the outputs of several blocks together (of all, where none are named)."""
    names = list(network.names if points is None else points)
    of = response(network, outputs=names, inputs=names, sensitivity=True, shift=(1 - skew) / 2)
    verdict = judge(network)
    if verdict.verdict != "stable":
        return Multiloop(verdict, None, None)
    peak = largest(of, tolerance=tolerance, bound=_Scalings(len(names)))
    return Multiloop(verdict, disk_of(1 / peak.bound, peak.frequency, skew), peak)


class _Scalings:
    """Bounds of mu over intervals; a scaling of one frequency is tried at its neighbours first.

    After MOST_SEARCHED searches for a new scaling those of the last ones serve: the bound holds, and may be wider.
    """

    def __init__(self, size: int) -> None:
        self.scalings: list[Real] = [np.ones(size)]
        self.left = MOST_SEARCHED

    def __call__(self, taylor: Local, half: Real, best: float) -> tuple[Real, Real]:
        lower, bounds = spectral(taylor, half, best)  # D = I
        sizes = np.where(bounds <= best, np.minimum(lower, best), 0.0)
        for k in np.argsort(-bounds):
            if bounds[k] <= best:
                continue
            sizes[k], bounds[k], scaling = self._bound_at(taylor, half, int(k), best)
            self.scalings = [scaling, *self.scalings][:6]
            best = max(best, float(sizes[k]))
        return sizes, bounds

    def _bound_at(self, taylor: Local, half: Real, k: int, best: float) -> tuple[float, float, Real]:
        for scaling in self.scalings:
            size, bound = _under(taylor, half, k, scaling)
            if bound <= best:
                return min(size, best), bound, scaling
        if self.left <= 0:
            tried = ((*_under(taylor, half, k, scaling), scaling) for scaling in self.scalings)
            return min(tried, key=lambda candidate: candidate[0])
        self.left -= 1
        scaled = structured(taylor.value[k], start=self.scalings[0])
        size, bound = _under(taylor, half, k, scaled.scaling)
        return size, bound, scaled.scaling


def _under(taylor: Local, half: Real, k: int, scaling: Real) -> tuple[float, float]:
    """Returns |D T D^-1| at the middle of an interval and its bound over the interval."""
    ratio = scaling[:, None] / scaling

    def norm(matrix: NDArray[np.complex128]) -> float:
        return float(np.linalg.norm(ratio * matrix, 2)) if np.isfinite(matrix).all() else float("inf")

    size = norm(taylor.value[k])
    if not taylor.contraction[k] < 1:
        return (size if np.isfinite(size) else 0.0), float("inf")
    ends = max(norm(taylor.value[k] + sign * half[k] * taylor.slope[k]) for sign in (1, -1))
    return size, ends + float(taylor.bend[k] * half[k] ** 2 / 2 * ratio.max())
