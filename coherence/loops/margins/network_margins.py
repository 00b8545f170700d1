"""Computes gain, phase, delay and disk margins at one point of a closed network.

The loop is opened at the output of one block, all others stay closed: L = 1/S - 1 with S the entry of
(I - G K)^-1 of that block, so that 1 + L = 0 is the characteristic equation.  Margins are distances of a
stable closed loop from instability; of one that is not stable they mean nothing and are not given.

    gain     the interval of factors k around 1 in which 1 + k L has no root on the axis
    phase    the least |arg L + 180 deg| over all w with |L| = 1
    delay    the least (arg L + 180 deg mod 360 deg) / w over the same w, in seconds
    disk     1 / max |S + (skew - 1) / 2|: gain and phase may change together, by any complex factor of a disk

SOURCE: Skogestad and Postlethwaite, Multivariable Feedback Control, 2nd ed., 2.4.3; disk: Seiler, Packard and
Gahinet, An introduction to disk margins, IEEE Control Systems Magazine 40 (2020), eq. 6 and 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.margins.crossings import REAL, UNIT, Crossings, crossings
from coherence.loops.margins.peaks import Peak, largest
from coherence.loops.margins.peaks_response import ClosedLoopResponse, at, response
from coherence.loops.margins.peaks_tail import FAR, Tail, first_edge, largest_factor, tail
from coherence.loops.networks.stability import Judge, Stability, stability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherence.loops.networks.network import Network

MOST_GAIN = 100.0


@dataclass(frozen=True)
class GainCrossing:
    """L is real and negative at `frequency` (rad/s): the loop oscillates there with its gain times `factor`."""

    frequency: float
    factor: float


@dataclass(frozen=True)
class PhaseCrossing:
    """|L| = 1 at `frequency` (rad/s): `phase` in degrees (-180, 180] and `delay` in seconds that lead to oscillation.

    `falling`: |L| falls with frequency there, so that a root pair enters the right half plane as the delay grows.
    """

    frequency: float
    phase: float
    delay: float
    falling: bool


@dataclass(frozen=True)
class Disk:
    """Factors between `low` and `high`, or a phase up to `phase` degrees, in any combination within one disk, are safe.

    `size` is the disk margin alpha; `at`: the frequency at which it is attained.
    """

    size: float
    at: float
    low: float
    high: float
    phase: float


@dataclass(frozen=True)
class Margins:
    """Margins of one point.  `lower_gain` < 1 < `upper_gain`: the safe factors (0 and infinity: none was found).

    Factors outside 1/`searched` .. `searched` were not looked for.  `gap` says what is not certain, or is empty.
    """

    point: str
    lower_gain: float
    upper_gain: float
    phase: float
    delay: float
    disk: Disk
    gains: tuple[GainCrossing, ...]
    phases: tuple[PhaseCrossing, ...]
    sensitivity: Peak
    complementary: Peak
    searched: float
    gap: str = ""

    @property
    def crossover(self) -> float | None:
        """Returns the gain crossing whose phase margin is least, in rad/s."""
        return min(self.phases, key=lambda c: abs(c.phase)).frequency if self.phases else None


@dataclass(frozen=True)
class Judged:
    """Margins of a stable closed loop; of one that is not stable there are none, and `stability` says why.

    There are none either where a network without delays still acts beyond 1e18 rad/s.
    """

    stability: Stability
    margins: Margins | None


def margins(
    network: Network,
    point: str | None = None,
    *,
    skew: float = 0.0,
    searched: float = MOST_GAIN,
    tolerance: float = 1e-6,
    judge: Judge = stability,
) -> Judged:
    """Returns all margins at the output of one block (the only one, where a network has one).

    Raises UsageError for a point that is no block, and for sampled blocks.
    """
    if point is None and len(network.blocks) != 1:
        raise UsageError(f"say at which block to open the loop: {', '.join(network.names)}")
    name = network.blocks[0].name if point is None else point
    of = response(network, outputs=[name], inputs=[name], sensitivity=True)
    verdict = judge(network)
    with np.errstate(all="ignore"):
        if verdict.verdict != "stable" or not (of.delays.any() or tail(of, FAR).attained):
            return Judged(verdict, None)  # a network without delays that has not come to its limit has no frequencies
        return Judged(verdict, _margins(network, of, name, skew, searched, tolerance))


def _margins(
    network: Network, of: ClosedLoopResponse, name: str, skew: float, searched: float, tolerance: float
) -> Margins:
    real, limit = gain_crossings(of, searched)
    unit = unit_crossings(of)
    gains = tuple(GainCrossing(w, k) for w in (*real.zeros, *real.open) for k in _factors(of, w, searched))
    phases = tuple(_phase(of, w) for w in (*unit.zeros, *unit.open) if w > 0)
    shifted = [
        response(network, outputs=[name], inputs=[name], sensitivity=True, shift=x) for x in (1.0, (1 - skew) / 2)
    ]
    sensitivity, complementary, around = (largest(each, tolerance=tolerance) for each in (of, *shifted))
    return Margins(
        name,
        max([g.factor for g in gains if g.factor <= 1], default=0.0),
        min([g.factor for g in gains if g.factor > 1] + [limit] * (1 < limit < searched), default=math.inf),
        min((abs(p.phase) for p in phases), default=math.inf),
        0.0 if _far(of) >= 1 else min((p.delay for p in phases), default=math.inf),
        disk_of(1 / around.bound, around.frequency, skew),
        tuple(sorted(gains, key=lambda g: g.factor)),
        phases,
        sensitivity,
        complementary,
        searched,
        _gap(real, unit),
    )


def gain_crossings(of: ClosedLoopResponse, searched: float) -> tuple[Crossings, float]:
    """Returns frequencies at which L is real with a factor of 1/searched .. searched, and the least factor beyond
    them all.
    """
    least = 1 / (1 + searched)
    edge, beyond = _last_real(of, least)

    def skip(s: NDArray[np.complex128], reach: NDArray[np.float64]) -> NDArray[np.bool_]:
        outside = (np.abs(s) + reach < least) | (np.abs(s - 1) + reach < least)
        positive = np.abs(s - 0.5) + reach < 0.5  # a real S in (0, 1) is a positive L: no factor > 0 makes it -1
        return np.asarray(outside | positive)

    return crossings(of, REAL, edge, skip), beyond


def unit_crossings(of: ClosedLoopResponse) -> Crossings:
    """Returns frequencies at which |L| = 1."""

    def skip(s: NDArray[np.complex128], reach: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.zeros(np.broadcast(s, reach).shape, dtype=bool)

    return crossings(of, UNIT, _last_unit(of), skip)


def _first(of: ClosedLoopResponse, holds: Callable[[Tail], bool]) -> float:
    """Returns the frequency from which a tail has a property; a very high one where none has."""
    return first_edge(lambda edge: holds(tail(of, edge))) or FAR


def _last_unit(of: ClosedLoopResponse) -> float:
    """Returns a frequency beyond which |L| = 1 cannot be.

    Feedback E that contracts gives 2 S - I = (I + E)(I - E)^-1 a positive real part, in the scaling in which its norm
    is its spectral radius: Re S > 1/2.
    """
    far = complex(tail(of, FAR).limit[0, 0])
    if far == 1:
        return _first(of, lambda t: t.contraction < 0.999)
    return _first(of, lambda t: t.distance < abs(far.real - 0.5))


def _last_real(of: ClosedLoopResponse, least: float) -> tuple[float, float]:
    """Returns a frequency, and the least factor by which a loop can oscillate beyond it."""
    limit = tail(of, FAR)
    if not limit.attained:
        turns = 8 * math.pi / float(of.delays[of.delays > 0].min())
        edge = max(turns, _first(of, lambda t: t.contraction <= 1.01 * limit.contraction))
        return edge, largest_factor(of, edge, of.rows[0], 1 / least - 1)
    far = complex(limit.limit[0, 0]).real
    if far == 1:
        edge = _first(of, lambda t: t.distance < least)
        return edge, 1 / least - 1
    if 0 < far < 1:
        return _first(of, lambda t: t.distance < min(far, 1 - far)), math.inf
    return _first(of, lambda t: t.distance < 1e-6), far / (far - 1)


def _far(of: ClosedLoopResponse) -> float:
    """Returns a bound of |L| at high frequency."""
    beyond = tail(of, FAR)
    if not beyond.attained:
        return beyond.contraction
    s = complex(beyond.limit[0, 0])
    return abs(1 / s - 1) if s else math.inf


def _factors(of: ClosedLoopResponse, omega: float, searched: float) -> list[float]:
    s = float(at(of, np.array([omega]))[0, 0, 0].real)
    factor = s / (s - 1) if s != 1 else math.inf
    return [factor] if 1 / searched <= factor <= searched else []


def _phase(of: ClosedLoopResponse, omega: float) -> PhaseCrossing:
    step = 1e-6 * omega
    s = at(of, np.array([omega, omega - step, omega + step]))[:, 0, 0]
    turned = open_loop(s)
    angle = math.atan2(turned[0].imag, turned[0].real)
    phase = math.degrees(angle + math.pi)  # of (0, 360]
    delay = (angle + math.pi) % (2 * math.pi) / omega
    return PhaseCrossing(omega, phase - 360 if phase > 180 else phase, delay, bool(abs(turned[2]) < abs(turned[1])))


def open_loop(s: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Returns L from S."""
    return np.asarray((1 - s) / s)


def disk_of(size: float, where: float, skew: float = 0.0) -> Disk:
    """Returns the factors of a disk margin: (1 + (1 - skew)/2 d) / (1 - (1 + skew)/2 d) for all complex |d| < size."""
    ends = sorted(_factor(d, skew) for d in (-size, size))
    low, high = (ends[0], ends[1]) if (1 + skew) / 2 * size < 1 else (max(_factor(-size, skew), 0.0), math.inf)
    low = max(low, 0.0)
    if math.isinf(high):
        phase = 180.0 if size >= 2 else math.degrees(2 * math.atan(size / 2))
    else:
        cosine = (1 + low * high) / (low + high)
        phase = math.degrees(math.acos(cosine)) if cosine < 1 else 0.0
    return Disk(size, where, low, high, phase)


def _factor(d: float, skew: float) -> float:
    below = 1 - (1 + skew) / 2 * d
    return (1 + (1 - skew) / 2 * d) / below if below else math.inf


def _gap(real: Crossings, unit: Crossings) -> str:
    reasons = []
    if not (real.complete and unit.complete):
        reasons.append("the search for crossings met its work limit: some may be missing")
    places = ", ".join(f"{w:.6g}" for w in (*real.open, *unit.open)[:4] if w)
    if places:
        reasons.append(f"a curve touches its level at {places} rad/s: counted as a crossing")
    return "; ".join(reasons)
