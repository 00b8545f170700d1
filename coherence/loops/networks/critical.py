"""Finds the critical gain, the critical delay and all windows of delay in which a loop is stable.

One loop with one delay: the crossing frequencies are the roots of a polynomial (the delay is eliminated), so all
windows are exact.  Any network: the verdict is carried along the parameter by boxes in which no root can reach the
axis (`critical_boxes`); where they shrink to nothing, the root that comes to the axis is followed onto it.

SOURCE: Walton & Marshall 1987, Direct method for TDS stability analysis (IEE Proceedings D 134).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.critical_boxes import Range, at_middle, holds_throughout, replaced
from coherence.loops.networks.delayed_verdict import DelayVerdict, verdict
from coherence.loops.networks.network import Network, loop
from coherence.loops.networks.rightmost import polished
from coherence.loops.networks.stability_map import Reals, squared

CLOSE = 1e-7  # relative width of the last box before a crossing
BOXES = 400
TOUCHING = 1e-6  # relative distance of two squared frequencies that are one touch of the axis
OCTAVES, AN_OCTAVE, HALVES = 6, 8, 60  # factors below the present gain: so many an octave, halves after these
NONE_SMALLER = f"no smaller gain was found stable, in steps of {100 * (2 ** (1 / AN_OCTAVE) - 1):.0f} %"
BESIDE = 1e-9  # distance of a root from the axis, relative to its size, that does not tell its side


@dataclass(frozen=True)
class Crossing:
    """A root j omega reaches the axis at `at`; `outward`: to the right for a larger parameter."""

    at: float
    frequency: float
    outward: bool

    @property
    def period(self) -> float:
        return math.tau / self.frequency if self.frequency else math.inf


@dataclass(frozen=True)
class Critical:
    """The first value at which the verdict changes, from `start` on; `at` None: none up to `end`.

    The verdict holds at every value from `start` to `proved`, which is within `CLOSE` of `at`.  `reason` says
    what kept it from being found, where neither is known.
    """

    at: float | None
    frequency: float | None
    start: float
    proved: float
    before: str
    reason: str = ""

    @property
    def period(self) -> float | None:
        return math.tau / self.frequency if self.frequency else None


def delay_crossings(numerator: Sequence[float], denominator: Sequence[float], highest: float) -> list[Crossing]:
    """Returns all delays in (0, highest] at which a root of d(s) + n(s) exp(-s T) lies on the axis, in order.

    At such a root |d(j w)|^2 = |n(j w)|^2, a polynomial in w^2; the sign of its slope is the direction.
    """
    return sorted(
        (
            Crossing(first + turn * math.tau / frequency, frequency, outward)
            for frequency, first, outward in _frequencies(numerator, denominator)
            for turn in range(max(0, math.floor((highest - first) * frequency / math.tau + 1e-12) + 1))
            if first + turn * math.tau / frequency > 0
        ),
        key=lambda crossing: (crossing.at, not crossing.outward),
    )


def _frequencies(numerator: Sequence[float], denominator: Sequence[float]) -> list[tuple[float, float, bool]]:
    """Returns (frequency, smallest delay >= 0, outward) of every crossing."""
    difference = np.polysub(squared(np.array(denominator, float)), squared(np.array(numerator, float)))
    crossings = []
    for x, outward in _directed(difference):
        omega = math.sqrt(x)
        top, bottom = np.polyval(numerator, 1j * omega), np.polyval(denominator, 1j * omega)
        if bottom == 0:
            continue  # a pole on the axis that a zero cancels: no delay moves it
        angle = float(np.angle(-top / bottom)) % math.tau
        if angle > math.tau - 1e-12:
            angle = 0.0
        crossings.append((omega, angle / omega, outward))
    return crossings


def _directed(polynomial: Reals) -> list[tuple[float, bool]]:
    """Returns positive real roots, and whether the polynomial rises there.

    Two next to each other, or a pair that rounding keeps off the real line, are one touch: it rises at one of them and
    falls at the other, whatever slopes as small as rounding say.
    """
    roots, slope = _positive(polynomial), np.polyder(polynomial)
    rises = [bool(np.polyval(slope, x) > 0) for x in roots]
    for k in range(len(roots) - 1):
        if roots[k + 1] - roots[k] <= TOUCHING * roots[k] and rises[k] == rises[k + 1]:
            rises[k : k + 2] = [False, True]
    return list(zip(roots, rises, strict=True))


def _positive(polynomial: Reals) -> list[float]:
    """Returns positive real roots, polished where they are simple."""
    roots, slope = [], np.polyder(polynomial)
    for root in np.roots(polynomial):
        if root.real > 0 and abs(root.imag) <= 1e-7 * abs(root):
            x = float(root.real)
            for _ in range(4 if root.imag == 0 else 0):
                step = float(np.polyval(polynomial, x) / (np.polyval(slope, x) or math.inf))
                x -= step if abs(step) < 1e-4 * x else 0.0
            roots.append(x)
    return sorted(roots)


def delay_windows(
    numerator: Sequence[float], denominator: Sequence[float], highest: float
) -> list[tuple[float, float]]:
    """Returns all intervals of the delay T in [0, highest] in which the loop d(s) + n(s) exp(-s T) = 0 is stable.

    Ends are exact crossings.  The count starts from the closed loop without delay (plain polynomial roots); a loop
    of higher numerator than denominator degree has no meaning here, one with feedthrough >= 1 has no window but T = 0.
    """
    if len(numerator) == len(denominator) and abs(numerator[0]) >= abs(denominator[0]):
        closed = np.roots(np.polyadd(denominator, numerator))
        return [(0.0, 0.0)] if not (closed.real > -BESIDE * np.abs(closed)).any() else []
    crossings = delay_crossings(numerator, denominator, highest)
    unstable = _count_beside_zero(numerator, denominator, crossings[0].at if crossings else highest)
    if unstable is None:
        return []
    windows, start = [], 0.0 if unstable == 0 else None
    for crossing in crossings:
        unstable += 2 if crossing.outward else -2
        if unstable > 0 and start is not None:
            windows.append((start, crossing.at))
            start = None
        elif unstable == 0 and start is None:
            start = crossing.at
    windows = [*windows, (start, highest)] if start is not None else windows
    return windows if windows and _free_of_axis(numerator, denominator, windows[0]) else []


def _count_beside_zero(numerator: Sequence[float], denominator: Sequence[float], first: float) -> int | None:
    """Returns roots right of the axis for delays in (0, first), where none crosses; None where that is not known.

    Without delay a root may lie on the axis and leave it with any delay, so that case is counted inside.
    """
    roots = np.roots(np.polyadd(denominator, numerator))
    if not (np.abs(roots.real) <= BESIDE * np.abs(roots)).any():
        return int((roots.real > 0).sum())
    answer = verdict(loop(numerator, denominator, first / 2), confirm=False)
    return answer.unstable if answer.verdict in ("stable", "unstable") else None


def _free_of_axis(numerator: Sequence[float], denominator: Sequence[float], window: tuple[float, float]) -> bool:
    """Decides that no root is hidden on the axis (a pole that a zero cancels), which no delay moves."""
    poles = np.roots(denominator)
    beside = 1j * poles.imag[np.abs(poles.real) <= 1e-6 * np.abs(poles)]
    size = np.polyval(np.abs(numerator), np.abs(beside))
    if not (np.abs(np.polyval(numerator, beside)) <= 1e-6 * size).any():
        return True
    return verdict(loop(numerator, denominator, sum(window) / 2), confirm=False).stable


def critical_gain(network: Network, blocks: Sequence[str] = (), *, highest: float = 1e6) -> Critical:
    """Returns the smallest common factor on the gains of `blocks` (the first one, if none is named) that loses
    stability.

    It starts from the present gain where that is stable, else from the largest of `smaller_factors` that is.
    """
    names, start = blocks or network.names[:1], 1.0
    for start in smaller_factors():
        if verdict(_at(network, names, "gain", start), confirm=False).stable:
            return first_change(network, [Range(name, "gain", start, highest) for name in names])
    return Critical(None, None, start, start, "unknown", NONE_SMALLER)


def smaller_factors() -> Iterator[float]:
    """Yields 1 and factors below it, in steps so small that most windows of conditional stability hold one."""
    yield from (2 ** (-k / AN_OCTAVE) for k in range(OCTAVES * AN_OCTAVE))
    yield from (2.0**-k for k in range(OCTAVES, HALVES))


def critical_delay(network: Network, blocks: Sequence[str] = (), *, highest: float) -> Critical:
    """Returns the smallest delay of `blocks` above the present one of the first of them at which the verdict
    changes.
    """
    names = blocks or network.names[:1]
    start = network.blocks[network.index[names[0]]].delay
    return first_change(network, [Range(name, "delay", start, highest) for name in names])


def _at(network: Network, names: Sequence[str], what: str, number: float) -> Network:
    return at_middle(network, [Range(name, what, number, number) for name in names])


def first_change(network: Network, ranges: Sequence[Range]) -> Critical:
    """Follows the ranges from their low to their high ends together to where the verdict first changes."""
    path = _Path(network, ranges)
    before = path.verdict(path.low)
    if before.verdict not in ("stable", "unstable"):
        return Critical(None, None, path.low, path.low, before.verdict, before.reason)
    here, step = path.low, path.first
    for _ in range(BOXES):
        there = min(here + step, path.high)
        if path.holds(here, there):
            here, step = there, step * 2
            if here >= path.high:
                return Critical(None, None, path.low, here, before.verdict)
        elif step <= CLOSE * max(abs(here), path.first):
            return _landed(path, here, step, before)
        else:
            step /= 2
    return Critical(None, None, path.low, here, before.verdict, f"not proved beyond {here:.9g}")


class _Path:
    """Some ranges, run through together by one number."""

    def __init__(self, network: Network, ranges: Sequence[Range]) -> None:
        self.network, self.ranges = network, ranges
        self.low, self.high = ranges[0].low, ranges[0].high
        self.first = (self.low / 4 or (self.high - self.low) / 64) if self.low < self.high else 0.0

    def at(self, number: float) -> Network:
        return at_middle(self.network, [replaced(interval, number) for interval in self.ranges])

    def verdict(self, number: float) -> DelayVerdict:
        return verdict(self.at(number), confirm=False)

    def holds(self, low: float, high: float) -> bool:
        box = [Range(interval.block, interval.what, low, high, interval.index) for interval in self.ranges]
        return holds_throughout(self.network, box)

    def root(self, number: float, near: complex) -> complex | None:
        """Returns the root nearest to `near`, of the parts that the ranges are in."""
        names = {varied.block for varied in self.ranges}
        parts = [part for part in self.at(number).components() if names & set(part.names)]
        roots = [complex(z) for part in parts for z in polished(Characteristic(part), np.array([near]))]
        return min(roots, key=lambda z: abs(z - near), default=None)


def _landed(path: _Path, here: float, step: float, before: DelayVerdict) -> Critical:
    """Follows the root next to the axis onto it."""
    low, high = here, here + step
    for _ in range(40):
        after = path.verdict(high)
        if after.verdict not in ("marginal", "undecided") and _differs(before, after):
            break
        high += high - here
    else:
        return Critical(None, None, path.low, here, before.verdict, f"no proof beyond {here:.9g}, and no change")
    root = _nearest(path.verdict(low), after)
    if root is None:
        return Critical((low + high) / 2, None, path.low, here, before.verdict)

    def real(number: float) -> float:
        found = path.root(number, root)
        return found.real if found is not None else math.nan

    ends = real(low), real(high)
    at = brentq(real, low, high, xtol=1e-15, rtol=1e-14) if ends[0] * ends[1] < 0 else (low + high) / 2
    landed = path.root(float(at), root) or root
    return Critical(float(at), abs(landed.imag), path.low, here, before.verdict)


def _differs(before: DelayVerdict, after: DelayVerdict) -> bool:
    return after.verdict != before.verdict or (
        None not in (before.unstable, after.unstable) and (before.unstable != after.unstable)
    )


def _nearest(*verdicts: DelayVerdict) -> complex | None:
    """Returns the rightmost root closest to the axis."""
    roots = [root for verdict in verdicts for root in verdict.rightmost]
    return min(roots, key=lambda root: abs(root.real), default=None)
