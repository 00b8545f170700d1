"""Follows a burst through a chain of tiers: backlog of every tier over time, and the tail of latency.

Fluid tiers with fixed service rates, first come first served.  All curves are piecewise linear and are
followed from corner to corner, so the result is exact for the fluid.
SOURCE: Le Boudec and Thiran, Network Calculus (2001), 1.3 (output of a constant-rate server: min-plus convolution).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Curve = list[tuple[float, float]]  # corners (time in s, requests so far)


@dataclass(frozen=True)
class TierBurst:
    """`curves[n]`: corners of what has left tier n (0: what came in) up to `horizon` s; `service` per tier, 1/s."""

    curves: tuple[tuple[tuple[float, float], ...], ...]
    service: tuple[float, ...]
    horizon: float

    def backlog(self, times: Sequence[float] | Array) -> Array:
        """Returns requests waiting at every tier: times x tiers."""
        at = np.asarray(times, dtype=float)
        left = [_before(curve, at) for curve in self.curves]
        return np.stack([a - b for a, b in itertools.pairwise(left)], axis=1)

    @property
    def cleared(self) -> tuple[float, ...]:
        """Returns when the backlog of each tier is gone, s; infinite if not within the horizon."""
        return tuple(_cleared(a, b, self.horizon) for a, b in itertools.pairwise(self.curves))

    def latency(self, q: float) -> float:
        """Returns the q-th percentile (0 to 100) of the time in the chain over all requests that came within the
        horizon, s.

        Infinite where requests of that percentile have not left by the horizon.
        """
        ends = self._waits()
        total = self.curves[0][-1][1]
        target, low = q / 100 * total, 0.0
        levels = np.unique([level for _, a, b in ends for level in (a, b)])
        for lower, upper in itertools.pairwise(levels):
            inside = sum(_share(a, b, lower, upper) * size for size, a, b in ends)
            at = sum(size for size, a, b in ends if a == b == lower)
            if low + at >= target:
                return float(lower)
            low += at
            if low + inside >= target:
                return float(lower + (upper - lower) * (target - low) / inside)
            low += inside
        return (
            float(levels[-1])
            if low + sum(s for s, a, b in ends if a == b == levels[-1]) >= target * (1 - 1e-12)
            else np.inf
        )

    def _waits(self) -> list[tuple[float, float, float]]:
        """Returns (requests, latency of the first, latency of the last) of pieces on which latency is linear."""
        first, last = self.curves[0], self.curves[-1]
        marks = sorted({count for _, count in (*first, *last) if count <= last[-1][1]})
        pieces = []
        for a, b in itertools.pairwise(marks):
            if b - a > 1e-12 * last[-1][1]:
                begin = _when(last, a, after=True) - _when(first, a, after=True)
                end = _when(last, b, after=False) - _when(first, b, after=False)
                pieces.append((b - a, self._clean(begin), self._clean(end)))
        return pieces

    def _clean(self, wait: float) -> float:
        """Removes the rounding of differences of times."""
        return wait if wait > 1e-12 * self.horizon else 0.0


def burst(
    service: Sequence[float], *, load: float, extra: float, at: float = 0.0, lasting: float = 0.0, horizon: float
) -> TierBurst:
    """Returns what `extra` requests at `at` seconds, at once or spread over `lasting`, do upon a steady load (1/s).

    Raises UsageError where a tier is slower than the load: its backlog never clears.
    """
    if not service or min(service) <= load:
        raise UsageError(f"a tier serves no more than the load of {load:g}/s: its backlog never clears")
    if not (at >= 0 and lasting >= 0 and at + lasting < horizon and extra >= 0 and load >= 0):
        raise UsageError("the burst must begin at 0 or later and end before the horizon, and numbers be >= 0")
    curve: Curve = [
        (0.0, 0.0),
        (at, load * at),
        (at + lasting, load * (at + lasting) + extra),
        (horizon, load * horizon + extra),
    ]
    curves = [_plain(curve)]
    for rate in service:
        curves.append(_served(curves[-1], rate))
    return TierBurst(tuple(map(tuple, curves)), tuple(service), horizon)


def _served(arrived: Curve, rate: float) -> Curve:
    """Returns corners of what leaves a server of constant rate: it works at full rate while anything waits."""
    left: Curve = [arrived[0]]
    for (t0, a0), (t1, a1) in itertools.pairwise(arrived):
        time, gone = left[-1]
        if t1 > t0 and (slope := (a1 - a0) / (t1 - t0)) < rate and a0 > gone:
            catch = time + (a0 - gone) / (rate - slope)
            if catch < t1:
                left.append((catch, a0 + slope * (catch - t0)))
        left.append((t1, min(a1, gone + rate * (t1 - time))))
    return _plain(left)


def _plain(curve: Curve) -> Curve:
    return [point for point, _ in itertools.groupby(curve)]


def _before(curve: Sequence[tuple[float, float]], at: Array) -> Array:
    """Returns requests by each time; at a jump, after it."""
    times, counts = (np.array(side) for side in zip(*curve, strict=True))
    index = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 1)
    after = np.minimum(index + 1, len(times) - 1)
    width = times[after] - times[index]
    share = np.where(width > 0, (at - times[index]) / np.where(width > 0, width, 1), 0.0)
    return np.asarray(counts[index] + np.clip(share, 0, 1) * (counts[after] - counts[index]))


def _when(curve: Sequence[tuple[float, float]], count: float, *, after: bool) -> float:
    """Returns when a count is reached; on a level part its begin, or its end for what comes `after`."""
    index = [i for i, (_, c) in enumerate(curve) if (c <= count if after else c < count)]
    i = index[-1] if index else -1
    if i + 1 >= len(curve):
        return curve[-1][0]
    if i < 0:
        return curve[0][0]
    (t0, c0), (t1, c1) = curve[i], curve[i + 1]
    return t0 + (t1 - t0) * (count - c0) / (c1 - c0)


def _share(a: float, b: float, low: float, high: float) -> float:
    """Returns the share of a uniform piece from a to b that lies within [low, high]."""
    a, b = min(a, b), max(a, b)
    return max(0.0, min(b, high) - max(a, low)) / (b - a) if b > a else 0.0


def _cleared(arrived: Sequence[tuple[float, float]], left: Sequence[tuple[float, float]], horizon: float) -> float:
    times = sorted({t for t, _ in (*arrived, *left)})
    waiting = _before(arrived, np.array(times)) - _before(left, np.array(times))
    busy = np.flatnonzero(waiting > 1e-9 * max(1.0, arrived[-1][1]))
    if not len(busy):
        return 0.0
    return float(times[busy[-1] + 1]) if busy[-1] + 1 < len(times) else (np.inf if horizon else 0.0)
