"""Critical gain, critical delay and all windows of delay in which a loop is stable.

One loop with one delay: the crossing frequencies are the roots of a polynomial (the delay is eliminated), so all
windows are exact.  Any network: the verdict is carried along the parameter by boxes in which no root can reach the
axis (`critical_boxes`); where they shrink to nothing, the root that comes to the axis is followed onto it.

SOURCE: Walton & Marshall 1987, Direct method for TDS stability analysis (IEE Proceedings D 134).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from coherence.loops.components import Characteristic
from coherence.loops.critical_boxes import Range, at_middle, holds_throughout, replaced
from coherence.loops.delayed import DelayVerdict, verdict
from coherence.loops.network import Network
from coherence.loops.rightmost import polished
from coherence.loops.stability_map import Reals, squared
from coherence.values import value

CLOSE = 1e-7  # relative width of the last box before a crossing
BOXES = 400


@value
class Crossing:
    """A root j omega reaches the axis at `at`; `outward`: to the right for a larger parameter."""

    at: float
    frequency: float
    outward: bool

    @property
    def period(self) -> float:
        return math.tau / self.frequency if self.frequency else math.inf


@value
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
    """All delays in (0, highest] at which a root of d(s) + n(s) exp(-s T) lies on the axis, in order.

    At such a root |d(j w)|^2 = |n(j w)|^2, a polynomial in w^2; the sign of its slope is the direction.
    """
    return sorted(
        (
            Crossing(first + turn * math.tau / frequency, frequency, outward)
            for frequency, first, outward in _frequencies(numerator, denominator)
            for turn in range(max(0, math.floor((highest - first) * frequency / math.tau + 1e-12) + 1))
            if first + turn * math.tau / frequency > 0
        ),
        key=lambda crossing: crossing.at,
    )


def _frequencies(numerator: Sequence[float], denominator: Sequence[float]) -> list[tuple[float, float, bool]]:
    """(frequency, smallest delay >= 0, outward) of every crossing."""
    difference = np.polysub(squared(np.array(denominator, float)), squared(np.array(numerator, float)))
    slope, found = np.polyder(difference), []
    for x in _positive(difference):
        omega = math.sqrt(x)
        top, bottom = np.polyval(numerator, 1j * omega), np.polyval(denominator, 1j * omega)
        angle = float(np.angle(-top / bottom)) % math.tau
        if angle > math.tau - 1e-12:
            angle = 0.0
        found.append((omega, angle / omega, bool(np.polyval(slope, x) > 0)))
    return found


def _positive(polynomial: Reals) -> list[float]:
    """Positive real roots, polished; a double root is a touch and is left out."""
    kept, slope = [], np.polyder(polynomial)
    for root in np.roots(polynomial):
        if root.real > 0 and abs(root.imag) <= 1e-7 * abs(root):
            x = float(root.real)
            for _ in range(4):
                step = float(np.polyval(polynomial, x) / (np.polyval(slope, x) or math.inf))
                x -= step if abs(step) < 1e-4 * x else 0.0
            kept.append(x)
    return sorted(kept)


def delay_windows(
    numerator: Sequence[float], denominator: Sequence[float], highest: float
) -> list[tuple[float, float]]:
    """All intervals of the delay T in [0, highest] in which the loop d(s) + n(s) exp(-s T) = 0 is stable.

    Ends are exact crossings.  The count starts from the closed loop without delay (plain polynomial roots); a loop
    of higher numerator than denominator degree has no meaning here, one with feedthrough >= 1 has no window but T = 0.
    """
    closed = np.polyadd(denominator, numerator)
    unstable = int((np.roots(closed).real > 0).sum())
    if len(numerator) == len(denominator) and abs(numerator[0]) >= abs(denominator[0]):
        return [(0.0, 0.0)] if unstable == 0 else []
    windows, start = [], 0.0 if unstable == 0 else None
    for crossing in delay_crossings(numerator, denominator, highest):
        unstable += 2 if crossing.outward else -2
        if unstable > 0 and start is not None:
            windows.append((start, crossing.at))
            start = None
        elif unstable == 0 and start is None:
            start = crossing.at
    return [*windows, (start, highest)] if start is not None else windows


def critical_gain(network: Network, blocks: Sequence[str] = (), *, highest: float = 1e6) -> Critical:
    """The smallest common factor on the gains of `blocks` (the first one, if none is named) that loses stability.

    It starts from the present gain where that is stable, else from the largest of its halves that is.
    """
    names = blocks or network.names[:1]
    start = 1.0
    for _ in range(60):
        if verdict(_at(network, names, "gain", start), confirm=False).stable:
            return first_change(network, [Range(name, "gain", start, highest) for name in names])
        start /= 2
    return Critical(None, None, start, start, "unknown", "no smaller gain is stable")


def critical_delay(network: Network, blocks: Sequence[str] = (), *, highest: float) -> Critical:
    """The smallest delay of `blocks` above the present one of the first of them at which the verdict changes."""
    names = blocks or network.names[:1]
    start = network.blocks[network.index[names[0]]].delay
    return first_change(network, [Range(name, "delay", start, highest) for name in names])


def _at(network: Network, names: Sequence[str], what: str, number: float) -> Network:
    return at_middle(network, [Range(name, what, number, number) for name in names])


def first_change(network: Network, ranges: Sequence[Range]) -> Critical:
    """Follow the ranges from their low to their high ends together: where does the verdict first change?"""
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
        return at_middle(self.network, [replaced(one, number) for one in self.ranges])

    def verdict(self, number: float) -> DelayVerdict:
        return verdict(self.at(number), confirm=False)

    def holds(self, low: float, high: float) -> bool:
        box = [Range(one.block, one.what, low, high, one.index) for one in self.ranges]
        return holds_throughout(self.network, box)

    def root(self, number: float, near: complex) -> complex | None:
        """The root nearest to `near`, of the parts that the ranges are in."""
        names = {one.block for one in self.ranges}
        parts = [part for part in self.at(number).components() if names & set(part.names)]
        found = [complex(z) for part in parts for z in polished(Characteristic(part), np.array([near]))]
        return min(found, key=lambda z: abs(z - near), default=None)


def _landed(path: _Path, here: float, step: float, before: DelayVerdict) -> Critical:
    """Follow the root next to the axis onto it."""
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
    """The rightmost root closest to the axis."""
    roots = [root for one in verdicts for root in one.rightmost]
    return min(roots, key=lambda root: abs(root.real), default=None)
