"""Finds critical gains of sampled loops.

`windows`: all gains at which p(z) + k q(z) is stable, for one loop of one rate; `critical_gain`: the first loss
of stability of any sampled system that depends on a gain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from coherence.base.bisection import halved
from coherence.base.errors import UsageError
from coherence.base.polynomials import characteristic_polynomial, count_roots
from coherence.loops.multirate.lifting import Lifted, lift
from coherence.loops.multirate.sampled_system import Multirate, multirate
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Network

SCAN = 60  # gains tried on the way from low to high
TOLERANCE = 1e-9
PROOF = 1e-8  # relative distance from the edge at which stability is proved
ON_CIRCLE = 1e-3  # a root this close to the circle is polished and judged by its gain

Build: TypeAlias = "Callable[[float], Multirate | Network]"
Test: TypeAlias = "Callable[[Build, float], bool]"


@dataclass(frozen=True)
class MultiplierCrossing:
    """A gain at which a root stands on the circle, at `angle` (radians per step); `period` in steps."""

    gain: float
    angle: float

    @property
    def period(self) -> float:
        """Returns the steps per oscillation; infinite where the root is 1."""
        return math.tau / self.angle if self.angle else math.inf


@dataclass(frozen=True)
class GainWindow:
    """Gains between two crossings: stable throughout or nowhere, proved by one exact count inside."""

    low: float
    high: float
    stable: bool


def crossings(p: Sequence[Fraction | float], q: Sequence[Fraction | float]) -> tuple[MultiplierCrossing, ...]:
    """Returns gains k > 0 at which p(z) + k q(z) has a root on the unit circle, ascending.

    There k = -p/q is real: p(z) z^n q(1/z) - q(z) z^n p(1/z) = 0.  The polynomials have descending powers.
    """
    size = max(len(p), len(q))
    top, bottom = (np.array([0.0] * (size - len(x)) + [float(c) for c in x]) for x in (p, q))
    both = np.convolve(top, bottom[::-1]) - np.convolve(bottom, top[::-1])
    angles = {0.0, math.pi, *_angles(both)}
    places = []
    for angle in sorted(angles):
        z = complex(math.cos(angle), math.sin(angle)) if angle < math.pi else -1 + 0j
        below = np.polyval(bottom, z)
        if abs(below) > 1e-12 * float(np.abs(bottom).sum()):
            k = -np.polyval(top, z) / below
            if k.real > 1e-12 and abs(k.imag) <= 1e-7 * abs(k):
                places.append(MultiplierCrossing(float(k.real), angle))
    return tuple(sorted(places, key=lambda crossing: crossing.gain))


def _angles(both: Any) -> Iterator[float]:
    """Yields angles in (0, pi) at which a polynomial with roots in pairs (z, 1/z) has a root on the circle,
    polished.
    """
    if not np.abs(both).max(initial=0.0):
        return
    n = (len(both) - 1) / 2
    powers = n - np.arange(len(both))

    def size(angle: float) -> tuple[float, float]:
        terms = both * np.sin(powers * angle)
        return float(terms.sum()), float((both * powers * np.cos(powers * angle)).sum())

    for root in np.roots(np.trim_zeros(both, "b")):
        angle = float(np.angle(root))
        if abs(abs(root) - 1) > ON_CIRCLE or not 1e-9 < angle < math.pi - 1e-9:
            continue
        for _ in range(8):
            at, slope = size(angle)
            step = at / slope if slope else 0.0
            angle -= step if abs(step) < 1e-2 else 0.0
        yield min(max(angle, 0.0), math.pi)


def windows(p: Sequence[Fraction | float], q: Sequence[Fraction | float]) -> tuple[GainWindow, ...]:
    """Returns the gains k > 0 by stability of p(z) + k q(z);
    each window is decided by an exact count at one gain inside.
    """
    ends = [0.0, *_apart([crossing.gain for crossing in crossings(p, q)])]
    inner = [(a + b) / 2 for a, b in itertools.pairwise(ends)] + [2 * ends[-1] + 1]
    merged: list[GainWindow] = []
    for low, high, middle in zip(ends, [*ends[1:], math.inf], inner, strict=True):
        counts = count_roots(_sum(p, q, Fraction(middle)))
        stable = counts.outside == counts.on == 0 and counts.degree == max(len(p), len(q)) - 1
        if merged and merged[-1].stable == stable:
            merged[-1] = GainWindow(merged[-1].low, high, stable)
        else:
            merged.append(GainWindow(low, high, stable))
    return tuple(merged)


def _apart(gains: Sequence[float]) -> Iterator[float]:
    """Yields the gains without repetitions."""
    last = 0.0
    for gain in gains:
        if gain > last * (1 + 1e-9) + 1e-12:
            yield gain
            last = gain


def _sum(p: Sequence[Fraction | float], q: Sequence[Fraction | float], k: Fraction) -> list[Fraction]:
    size = max(len(p), len(q))
    top, bottom = ([Fraction(0)] * (size - len(x)) + [Fraction(c) for c in x] for x in (p, q))
    return [a + k * b for a, b in zip(top, bottom, strict=True)]


def gain_polynomials(build: Callable[[Any], Multirate]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Returns (p, q) with characteristic polynomial p + k q of the lap;
    for one rate and one loop, where it is affine in k.

    Raises UsageError where it is not.
    """
    at_zero, at_one, at_two = (characteristic_polynomial(_rational(build(k))) for k in (0, 1, 2))
    q = tuple(b - a for a, b in zip(at_zero, at_one, strict=True))
    scale = max(map(abs, (*at_zero, *at_two)))
    if any(abs(c - a - 2 * b) > Fraction(scale, 10**9) for a, b, c in zip(at_zero, q, at_two, strict=True)):
        raise UsageError("the lap is not affine in this gain (several rates or loops): use critical_gain")
    return at_zero, q


def _rational(system: Multirate) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in lift(system).matrix.tolist()]


def critical_gain(build: Build, *, low: float, high: float, tolerance: float = TOLERANCE) -> float:
    """Returns the least gain in [low, high] at which a system that is stable at `low` ceases to be; inf if none is met.

    Gains are tried at `SCAN` even ratios, then halved between the last proved stable and the first not
    proved so.  A window of instability narrower than a step can be stepped over; `windows` finds all of
    them for one loop of one rate.  Raises UsageError if the system is not stable at `low` (> 0).
    """
    if not _stable(build, low):
        raise UsageError(f"the system is not stable at the lowest gain {low:g}: give a smaller one")
    ratio = (high / low) ** (1 / SCAN)
    for _ in range(SCAN):
        end = low * ratio
        if not _within(build, end):
            return _proved(build, *_halved(build, low, end, tolerance, _within), tolerance)
        low = end
    return math.inf


def _halved(build: Build, low: float, high: float, tolerance: float, test: Test) -> tuple[float, float]:
    return halved(lambda gain: test(build, gain), low, high, near=lambda low, high: high - low <= tolerance * high)


def _proved(build: Build, low: float, high: float, tolerance: float) -> float:
    """Returns the middle of the bracket, if below it stability is proved and above it is not;
    else proofs alone decide.
    """
    below, above = low * (1 - PROOF), high * (1 + PROOF)
    if _stable(build, below) and not _stable(build, above):
        return (low + high) / 2
    return sum(_halved(build, 0.0 if _stable(build, low / 2) else low / 4, above, tolerance, _stable)) / 2


def _within(build: Build, gain: float) -> bool:
    """Decides whether all multipliers are inside the circle, as far as floating point tells."""
    return bool(np.abs(np.linalg.eigvals(_lifted(build(gain)).floats)).max(initial=0.0) < 1)


def _lifted(system: Multirate | Network) -> Lifted:
    return lift(multirate(system) if isinstance(system, Network) else system)


def _stable(build: Build, gain: float) -> bool:
    return floquet(build(gain)).verdict == "stable"
