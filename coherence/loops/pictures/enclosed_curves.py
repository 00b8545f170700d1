"""Computes frequency responses of opened loops with discs that they cannot leave between two samples.

Every interval of frequencies has the value of L at its middle and a radius: a bound of how far L goes within the
interval, from its slope and a bound of its second derivative.  Intervals are split until the radius is small.  Of
continuous blocks the sensitivity S is bounded, and L = 1 / S - 1: a disc |S - c| <= r without 0 is mapped by 1 / S to
the disc around conj(c) / (|c|^2 - r^2) of radius r / (|c|^2 - r^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.margins.peaks_response import local, response
from coherence.loops.margins.sampled_margins import enclosed_loop
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.loops.networks.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]

NARROW = 0.025  # radius of a disc, of the larger of |L| and |1 + L|: narrower ones are not split
BEGIN, MOST = 160, 4_000  # intervals at first, and in the end
DECADES = 2.0  # below the slowest and above the fastest time of a loop
Enclose = Callable[["Real", "Real"], "tuple[Complex, Real]"]


@dataclass(frozen=True)
class EnclosedCurve:
    """L by rising frequency (rad/s): within an interval it stays within `radius` of `value`, its value at `omega`."""

    name: str
    omega: Real
    value: Complex
    radius: Real

    @property
    def certified(self) -> bool:
        """Decides whether every interval has a disc."""
        return bool(np.isfinite(self.radius).all())


def enclosed(loop: OpenLoop) -> EnclosedCurve:
    """Returns L of an opened loop.  Raises UsageError for several decisions in a lap."""
    if loop.sampled is not None:
        if loop.sampled.decisions != 1:
            raise UsageError(f"{loop.name} decides {loop.sampled.decisions} times in a lap of all rates")
        period = float(loop.sampled.period)
        return _refined(loop.name, _of_lap(loop.sampled, period), math.pi / period / 300, math.pi / period)
    assert loop.continuous is not None
    low, high = _span(loop.continuous)
    return _refined(loop.name, _of_network(loop.continuous, loop.block), low, high)


def _of_lap(lap: OpenedLap, period: float) -> Enclose:
    return lambda middle, half: enclosed_loop(lap, middle * period, half * period)


def _of_network(net: Network, name: str) -> Enclose:
    of = response(net, outputs=[name], inputs=[name], sensitivity=True)

    def enclose(middle: Real, half: Real) -> tuple[Complex, Real]:
        near = local(of, middle, half)
        radius = half * np.abs(near.slope[:, 0, 0]) + near.bend * half**2 / 2
        return _inverted(near.value[:, 0, 0], np.where(near.contraction < 1, radius, np.inf))

    return enclose


def _inverted(centre: Complex, radius: Real) -> tuple[Complex, Real]:
    """Returns 1 / S - 1 in the middle, and the farthest that it goes from there for S in a disc."""
    with np.errstate(all="ignore"):
        room = np.abs(centre) ** 2 - radius**2
        moved, size = np.conj(centre) / room, radius / room
        middle = 1 / centre
        reach = np.abs(moved - middle) + size
    return middle - 1, np.where(room > 0, reach, np.inf)


def _refined(name: str, enclose: Enclose, low: float, high: float) -> EnclosedCurve:
    """Splits intervals until each disc is small, or there are too many."""
    edges = np.geomspace(low, high, BEGIN + 1)
    start, end = edges[:-1], edges[1:]
    rows: list[tuple[Real, Complex, Real]] = []
    done = 0
    while len(start):
        middle, half = (start + end) / 2, (end - start) / 2
        value, radius = enclose(middle, half)
        small = radius <= NARROW * np.maximum(np.abs(value), np.abs(1 + value))
        if done + 2 * len(start) > MOST:
            small = np.ones(len(start), dtype=bool)
        rows.append((middle[small], value[small], radius[small]))
        done += int(small.sum())
        start, middle, end = start[~small], middle[~small], end[~small]
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
    omega, values, radii = (np.concatenate(part) for part in zip(*rows, strict=True))
    order = np.argsort(omega)
    return EnclosedCurve(name, omega[order], values[order], radii[order])


def _span(net: Network) -> tuple[float, float]:
    """Returns frequencies beyond all times of a network, in rad/s."""
    roots = [np.abs(np.roots(p)) for block in net.blocks for p in (block.numerator, block.denominator)]
    gains = [abs(b.numerator[0] / b.denominator[0]) ** (1 / b.order) for b in net.blocks if b.order and b.numerator[0]]
    delays = [1 / block.delay for block in net.blocks if block.delay]
    rates = np.concatenate([*roots, gains, delays])
    rates = rates[(rates > 0) & np.isfinite(rates)]
    if not len(rates):
        return 1e-2, 1e2
    return float(rates.min() / 10**DECADES), float(rates.max() * 10 ** (DECADES / 2))
