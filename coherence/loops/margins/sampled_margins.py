"""Computes margins of a loop with sampled decisions from its opened lap, each with what was proved of it.

A lap opened at the n decisions of one loop is x+ = A x + B v, w = C x + D v.  With
L(z) = D + C (z I - A)^-1 B it is closed by v = k w, and k = 1 is the loop as it stands (L has the sign of the whole
way round: minus the open loop of a textbook).  The closed lap has a multiplier z where det(I - k L(z)) = 0.

    gain        the real factors k around 1 without a multiplier on the circle
    phase       the least phi such that k = exp(-j phi) puts a multiplier on the circle
    Ms, Mt      max |(I - L)^-1| and max |L (I - L)^-1| over |z| = 1 (norms of n x n matrices: several decisions a lap)
    disk        1 / max |(I - L)^-1 - I/2|: gain and phase may change together

Proof: where all multipliers for k0 are inside the circle, they are for every k with |k - k0| max |L (I - k0 L)^-1| < 1
(small gain).  Steps of less than that lead from 1 to the edge, so that no window of instability is stepped over:
`proved` is how far they came, `at` where a multiplier reaches the circle, `beyond` a place with one outside.  A maximum
over the circle is bounded on arcs |t - m| <= h, with R = (exp(j m) I - A)^-1 and r = |R|, by

    max |T(m) +- h T'(m)| + h^2/2 (1 + 2 r/(1 - h r)) |C R| |R B| / (1 - h r)^2      (T'' = z C R^2 B - 2 z^2 C R^3 B)

Several decisions a lap: k is the same factor at all of them.  SOURCE: Skogestad and Postlethwaite, Multivariable
Feedback Control, 2nd ed., 2.4.3 and 8.6 (small gain); disk: Seiler, Packard and Gahinet 2020, eq. 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.bisection import halved
from coherence.loops.margins.network_margins import Disk, disk_of
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.loops.networks.scaling import in_units, state_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_GAIN = 100.0
MOST_STATES = 60  # of a lap whose margins are bounded: each takes some thousand inverses
STEPS, ARCS = 100, 20_000  # steps to an edge; arcs of one maximum
FEW_ARCS = 1_500  # arcs of a maximum that only sets the length of a step
CLOSE = 1e-7  # of an edge: the proof comes this near to it
ROUGH = 0.05  # excess of a bound that only sets the length of a step
FINE = 1e-5  # excess of a bound that is printed
ROUNDING = 1e-11  # distance from the circle within which rounding may move a multiplier over it
CERTIFIED = 1e-5  # relative width of the bracket of an edge that counts as certified
SAME = 1e-12  # relative difference of norms that rounding makes


@dataclass(frozen=True)
class MarginEdge:
    """Stable from the start to `proved`, unstable at `beyond`; between the two, `at`, a multiplier reaches the circle.

    Of a gain these are factors, of a phase degrees; `frequency` in rad/s.  `at` None: no edge was met; where
    `beyond` is given, the proof ended before it.
    """

    at: float | None
    proved: float
    beyond: float | None
    frequency: float | None

    @property
    def certified(self) -> bool:
        """Decides whether the proof comes up to the edge, or to the end of what is searched."""
        return self.beyond is None or abs(self.beyond - self.proved) <= CERTIFIED * max(abs(self.beyond), self.proved)


@dataclass(frozen=True)
class CirclePeak:
    """The largest value found, nowhere exceeded by more than `bound`; `frequency` in rad/s."""

    value: float
    bound: float
    frequency: float

    @property
    def certified(self) -> bool:
        return self.bound <= self.value * (1 + 10 * FINE)


@dataclass(frozen=True)
class SampledMargins:
    """Margins of one loop that is stable.  `low` and `high` factors on its gain, `phase` in degrees."""

    low: MarginEdge
    high: MarginEdge
    phase: MarginEdge
    sensitivity: CirclePeak
    complementary: CirclePeak
    disk: Disk


def sampled_margins(lap: OpenedLap) -> SampledMargins | None:
    """Returns the margins of a lap that is stable when closed; None where it is not, or has too many states."""
    lap = balanced(lap)
    if len(lap.a) > MOST_STATES or not inside(lap, 1.0):
        return None
    whole, sensitivity = closed_lap(lap, 1.0), np.eye(lap.decisions)
    peaks = _peak(lap, whole, 0 * sensitivity, FINE), _peak(lap, whole, sensitivity, FINE)
    around = _peak(lap, whole, sensitivity / 2, FINE)
    return SampledMargins(
        gain_edge(lap, 1.0, up=False),
        gain_edge(lap, 1.0, up=True),
        phase_edge(lap),
        peaks[1],
        peaks[0],
        disk_of(1 / around.bound if around.bound else math.inf, around.frequency),
    )


def largest_gain(lap: OpenedLap) -> CirclePeak:
    """Returns the largest norm over the circle of a stable lap that is driven from outside, bounded on all arcs."""
    lap = balanced(lap)
    return _peak(lap, lap, np.zeros(lap.d.shape), FINE)


def balanced(lap: OpenedLap) -> OpenedLap:
    """Returns the same lap with states of like size."""
    units = state_units(lap.a)
    return replace(lap, a=in_units(lap.a, units), b=lap.b / units[:, None], c=lap.c * units)


def closed_lap(lap: OpenedLap, k: complex) -> OpenedLap:
    """Returns the lap with matrices of k L (I - k L)^-1: closed by the factor k, with an input beside it."""
    inner = np.linalg.inv(np.eye(lap.decisions) - k * lap.d)
    return OpenedLap(lap.a + k * lap.b @ inner @ lap.c, lap.b @ inner, k * inner @ lap.c, k * inner @ lap.d, lap.period)


def inside(lap: OpenedLap, k: complex, radius: float = 1 - ROUNDING) -> bool:
    """Decides whether all multipliers for a factor are inside a circle, as far as rounding tells."""
    try:
        return bool(np.abs(np.linalg.eigvals(closed_lap(lap, k).a)).max(initial=0.0) < radius)
    except np.linalg.LinAlgError:
        return False


def gain_edge(lap: OpenedLap, start: float, *, up: bool) -> MarginEdge:
    """Returns the first factor above or below `start` that loses stability, as far as `MOST_GAIN` or its inverse."""
    return _walked(lap, complex, start, start * MOST_GAIN if up else start / MOST_GAIN)


def phase_edge(lap: OpenedLap) -> MarginEdge:
    """Returns the lag in degrees that loses stability."""
    edge = _walked(lap, lambda angle: complex(np.exp(-1j * angle)), 0.0, math.pi)
    at, beyond = (None if x is None else math.degrees(x) for x in (edge.at, edge.beyond))
    return MarginEdge(at, math.degrees(edge.proved), beyond, edge.frequency)


def _walked(lap: OpenedLap, factor: Callable[[float], complex], start: float, end: float) -> MarginEdge:
    """Walks from start to end by steps of proved length, and finds the edge where they shrink to nothing.

    |factor'| <= 1: a step of the parameter is no shorter than that of the factor.
    """
    here, way = start, math.copysign(1.0, end - start)
    least = CLOSE * max(abs(start), 1e-2)
    for _ in range(STEPS):
        k = factor(here)
        peak = _peak(lap, closed_lap(lap, k), np.zeros((lap.decisions, lap.decisions)), ROUGH)
        step = 0.999 * abs(k) / peak.bound if peak.bound else math.inf
        if step >= abs(end - here):
            return MarginEdge(None, end, None, None)
        if step < least * (1 if start else 1 + abs(here) / 1e-2):
            break
        here += way * step
    return _edge(lap, factor, here, end)


def _edge(lap: OpenedLap, factor: Callable[[float], complex], proved: float, end: float) -> MarginEdge:
    """Returns the edge beyond the proved place: the first found where a multiplier is outside."""
    way, ahead = math.copysign(1.0, end - proved), 4 * CLOSE * max(abs(proved), 1e-2)
    while ahead < abs(end - proved) and inside(lap, factor(proved + way * ahead), 1 + ROUNDING):
        ahead *= 2
    there = proved + way * min(ahead, abs(end - proved))
    if inside(lap, factor(there), 1 + ROUNDING):
        return MarginEdge(None, proved, end, None)
    at = sum(halved(lambda x: inside(lap, factor(x), 1.0), proved, there, steps=50)) / 2
    beyond = halved(lambda x: inside(lap, factor(x), 1 + ROUNDING), at, there, steps=50)[1]
    return MarginEdge(at, proved, beyond, _frequency(lap, factor(at)))


def _frequency(lap: OpenedLap, k: complex) -> float:
    """Returns the frequency of the dominant mode, rad/s: the turns of the decisions within one lap."""
    whole = closed_lap(lap, k)
    multipliers, vectors = np.linalg.eig(whole.a)
    index = int(np.abs(multipliers).argmax())
    return _turning(whole.c @ vectors[:, index], multipliers[index], float(lap.period))


def _turning(course: Array, multiplier: complex, length: float) -> float:
    ends = np.append(course, course[0] * multiplier)
    if np.abs(ends).min() <= 1e-9 * np.abs(ends).max():
        return abs(float(np.angle(multiplier))) / length
    return abs(float(np.angle(ends[1:] / ends[:-1]).sum())) / length


def _peak(lap: OpenedLap, whole: OpenedLap, shift: Array, excess: float) -> CirclePeak:
    """Returns the largest norm of k L (I - k L)^-1 + shift over the circle, bounded on all arcs."""
    if not len(whole.a) or not whole.b.any() or not whole.c.any():
        size = float(np.linalg.norm(whole.d + shift, 2))
        return CirclePeak(size, size, 0.0)
    real = not (np.iscomplexobj(whole.a) and whole.a.imag.any())
    count = 32 if real else 64
    half = math.pi / count / (1 if not real else 2)
    middle = np.arange(count) * 2 * half + half + (0.0 if real else -math.pi)
    best, where, width, settled, spent = 0.0, 0.0, half, 0.0, 0
    while len(middle):
        spent += len(middle)
        sizes, bounds = bounded(whole, shift, middle, half)
        if float(sizes.max()) > best:
            best, where, width = float(sizes.max()), float(middle[sizes.argmax()]), half
        still = ~(bounds <= best * (1 + excess))
        settled = max(settled, float(bounds[~still].max(initial=0.0)))
        if spent > (ARCS if excess == FINE else FEW_ARCS):
            settled = max(settled, float(bounds.max()))
            break
        half /= 2
        middle = np.concatenate([middle[still] - half, middle[still] + half])
    if excess == FINE:
        best, where = _climbed(whole, shift, where, width)
    return CirclePeak(best, max(best, settled) * (1 + 1e-9), _peak_frequency(lap, whole, shift, where))


def _climbed(whole: OpenedLap, shift: Array, where: float, width: float) -> tuple[float, float]:
    """Returns the largest norm beside an angle, and its angle: exactly at rest and at a change of sign every lap."""
    from scipy.optimize import minimize_scalar

    def size(angle: float) -> float:
        return -float(bounded(whole, shift, np.array([angle]), 0.0)[0][0])

    peak = minimize_scalar(size, bounds=(where - width, where + width), method="bounded", options={"xatol": 1e-9})
    angle = float(peak.x) if peak.fun < size(where) else where
    ends = [end for end in (0.0, math.pi) if abs(end - where) <= 2 * width and size(end) <= size(angle) * (1 - SAME)]
    return max(-size(end) for end in (*ends, angle)), ends[0] if ends else angle


def bounded(whole: OpenedLap, shift: Array, middle: Array, half: float) -> tuple[Array, Array]:
    """Returns norms at the middles of arcs, and bounds of them on the arcs."""
    value, slope, bend = _arcs(whole, shift, middle, np.full(len(middle), half))
    with np.errstate(all="ignore"):
        ends = np.maximum(norms(value + half * slope), norms(value - half * slope))
        return norms(value), np.where(np.isfinite(bend), ends + bend * half**2 / 2, np.inf)


def _arcs(whole: OpenedLap, shift: Array, middle: Array, half: Array) -> tuple[Array, Array, Array]:
    """Returns value and slope at the middles of arcs, and what the second derivative cannot exceed on each."""
    z = np.exp(1j * middle)[:, None, None]
    resolvent = np.linalg.inv(z * np.eye(len(whole.a)) - whole.a)
    left, right = whole.c @ resolvent, resolvent @ whole.b
    value, slope = whole.d + shift + left @ whole.b, -1j * z * left @ right
    size, reach = norms(resolvent), half * norms(resolvent)
    with np.errstate(all="ignore"):
        bend = (1 + 2 * size / (1 - reach)) * norms(left) * norms(right) / (1 - reach) ** 2
        return value, slope, np.where(reach < 1, bend, np.inf)


def enclosed_loop(lap: OpenedLap, middle: Array, half: Array) -> tuple[Array, Array]:
    """Returns L of a loop of one decision a lap at some angles, and how far from there it is within `half` of each."""
    lap = balanced(lap)
    value, slope, bend = _arcs(lap, np.zeros(lap.d.shape), middle, half)
    return -value[:, 0, 0], half * norms(slope) + bend * half**2 / 2


def norms(matrices: Array) -> Array:
    """Returns the largest singular value of each matrix."""
    order = None if 1 in matrices.shape[1:] else 2  # of a row or a column it is the length
    return np.asarray(np.linalg.norm(matrices, order, axis=(1, 2)))


def _peak_frequency(lap: OpenedLap, whole: OpenedLap, shift: Array, angle: float) -> float:
    if lap.decisions == 1:
        return abs(angle) / float(lap.period)
    z = np.exp(1j * angle)
    at = whole.d + shift + whole.c @ np.linalg.solve(z * np.eye(len(whole.a)) - whole.a, whole.b)
    return _turning(np.linalg.svd(at)[2][0].conj(), z, float(lap.period))
