"""Computes margins of one loop of a design at an operating point, from its opened lap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.base.bisection import halved
from coherence.loops.analysis.delay_margins import DelayMargin, landing_margin, reading_margin
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.kinks import Branch
from coherence.loops.designs.lap_matrices import Closed, Lap, by_own_command, closed
from coherence.loops.designs.lap_roots import Array, LapResponse, floats, is_stable, sensitivity, spectral_radius
from coherence.loops.margins.network_margins import Disk
from coherence.loops.margins.sampled_margins import MOST_GAIN, CirclePeak, MarginEdge, SampledMargins, sampled_margins
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.model.model import SampledLoop

FACTORS = 140  # tried up to MOST_GAIN and down to its inverse
TINY = 1e-9


@dataclass(frozen=True)
class LoopFigures:
    """One loop at one operating point, opened between its decision and everything that follows from it.

    Factors in `gain_low` .. `gain_high` around the design's 1 on its gain leave the group stable; an unstable group has
    the stable factors below 1, if any (else both are None).  `certified`: exact counts on both sides of each end.
    `margins`: of a stable group of no more states than are bounded.  `landing` and `reading`: how much later its
    command may land, and what it reads may be; `note` says what stands in the way.  `carries`: the factors are on what
    the law changes of the command that it carries on, else on all of the command.
    """

    loop: str
    gain_low: float | None
    gain_high: float | None
    certified: bool
    response: LapResponse | None = None
    margins: SampledMargins | None = None
    landing: DelayMargin | None = None
    reading: DelayMargin | None = None
    note: str = ""
    carries: bool = False


def figures(
    laps: Sequence[Lap], parts: Sequence[Branch], point: dict[str, Fraction], loop: SampledLoop,
    paths: Collection[str], deadline: Deadline,
) -> LoopFigures:  # fmt: skip
    """Returns the margins of one loop: all branches must be stable for a factor or a delay to count as safe."""
    name = loop.name
    laps = by_own_command(laps, paths, name)
    carries = any(cut.before for lap in laps for cut in lap.cuts if cut.loop == name)
    cut = [closed(lap, paths, left_open=[name]) for lap in laps]
    if not all(branch.opened for branch in cut):
        return LoopFigures(name, None, None, False, note="decides nothing here")
    if not all(is_stable(closed(lap, paths)) for lap in laps):
        low, high, certified = gains(laps, cut, name, paths, stable_now=False)
        return LoopFigures(name, low, high, certified, note="no delay margin: not stable", carries=carries)
    margins = _joined([sampled_margins(opened_lap(c, lap)) for c, lap in zip(cut, laps, strict=True)])
    if margins is None:
        low, high, certified = gains(laps, cut, name, paths, stable_now=True)
    else:
        low, high = margins.low.at or 0.0, margins.high.at or math.inf
        certified = all(e.certified and _counted(laps, name, paths, e) for e in (margins.low, margins.high))
    responses = [sensitivity(c, lap, name) for c, lap in zip(cut, laps, strict=True)]
    worst = max((r for r in responses if r), key=lambda response: response.peak, default=None)
    landing = landing_margin(parts, point, loop, paths, deadline.share(0.5).check)
    reading = reading_margin(parts, point, loop, paths, deadline.check)
    return LoopFigures(name, low, high, certified, worst, margins, landing, reading, carries=carries)


def opened_lap(cut: Closed, lap: Lap) -> OpenedLap:
    """Returns an opened lap in floats."""
    size, count = len(cut.names), len(cut.opened)
    a, b, c, d = floats(cut.a, size), floats(cut.b, count), floats(cut.c, size), floats(cut.d, count)
    return OpenedLap(a, b, c, d, lap.length)


def _joined(branches: Sequence[SampledMargins | None]) -> SampledMargins | None:
    """Returns the least margins of several branches; None where one of them has none."""
    known = [margins for margins in branches if margins is not None]
    if len(known) < len(branches):
        return None

    def nearest(edges: Sequence[MarginEdge]) -> MarginEdge:
        return min(edges, key=lambda edge: abs(math.log(edge.proved)) if edge.proved > 0 else 0.0)

    def highest(peaks: Sequence[CirclePeak]) -> CirclePeak:
        return max(peaks, key=lambda peak: peak.bound)

    disks: list[Disk] = [margins.disk for margins in known]
    return SampledMargins(
        nearest([m.low for m in known]), nearest([m.high for m in known]),
        min((m.phase for m in known), key=lambda edge: edge.proved),
        highest([m.sensitivity for m in known]), highest([m.complementary for m in known]),
        min(disks, key=lambda disk: disk.size),
    )  # fmt: skip


def _counted(laps: Sequence[Lap], name: str, paths: Collection[str], edge: MarginEdge) -> bool:
    """Decides whether counts of the roots say stable where the proof ends and not stable beyond the edge."""

    def stable(factor: float) -> bool:
        return all(is_stable(closed(lap, paths, gains={name: Fraction(factor)})) for lap in laps)

    return stable(edge.proved) and (edge.beyond is None or not stable(edge.beyond))


def gains(
    laps: Sequence[Lap], cut: Sequence[Closed], name: str, paths: Collection[str], *, stable_now: bool
) -> tuple[float | None, float | None, bool]:
    """Returns (lowest, highest safe factor, certified)."""
    families = [family(branch) for branch in cut]

    def grows(factor: float) -> bool:
        return max(spectral_radius(of(factor)) for of in families) >= 1 - 1e-12

    ups, downs = np.geomspace(1, MOST_GAIN, FACTORS), np.geomspace(1, 1 / MOST_GAIN, FACTORS)
    if stable_now:
        high, low = _edge(grows, ups), _edge(grows, downs)
        return low or 0.0, math.inf if high is None else high, _certified(laps, name, paths, [high, low])
    first = next((k for k, factor in enumerate(downs) if not grows(factor)), None)
    if first is None:
        return None, None, False
    high = _bisected(lambda factor: not grows(factor), downs[max(first - 1, 0)], downs[first])
    low = _edge(grows, downs[first:])
    return low or 0.0, high, _certified(laps, name, paths, [high])


def family(cut: Closed) -> Callable[[float], Array]:
    """Returns the closed lap in floats as a function of the factor."""
    size, count = len(cut.names), len(cut.opened)
    a, b = floats(cut.a, size), floats(cut.b, count)
    c, d = floats(cut.c, size), floats(cut.d, count)

    def of(factor: float) -> Array:
        return np.asarray(a + b @ np.linalg.solve(np.eye(count) - factor * d, factor * c))

    return of


def _edge(grows: Callable[[float], bool], factors: Sequence[float] | Array) -> float | None:
    """Returns the first factor at which a mode grows, in the direction of the list."""
    for safe, unsafe in itertools.pairwise(factors):
        if grows(unsafe):
            return _bisected(grows, float(safe), float(unsafe))
    return None


def _bisected(reached: Callable[[float], bool], before: float, after: float) -> float:
    return sum(halved(reached, after, before, steps=60)) / 2


def _certified(laps: Sequence[Lap], name: str, paths: Collection[str], edges: Sequence[float | None]) -> bool:
    """Decides whether exact counts say stable on one side and not stable on the other side of each edge."""
    for edge in edges:
        if edge is None:
            continue
        sides = [
            all(
                is_stable(closed(lap, paths, gains={name: Fraction(edge * side).limit_denominator(10**12)}))
                for lap in laps
            )
            for side in (1 - 100 * TINY, 1 + 100 * TINY)
        ]
        if sides[0] == sides[1]:
            return False
    return True
