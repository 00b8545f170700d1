"""Decides about a closed lap: an exact count of its growing modes, the dominant one's period and damping, responses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coherence.base.polynomials import characteristic_polynomial, count_roots, minimal_polynomial
from coherence.loops.designs.lap_matrices import ROUNDED, Closed, Lap
from coherence.loops.multirate.verdict import clear_of_circle
from coherence.loops.networks.scaling import balanced

Array = NDArray[Any]
EXACT_SIZE = 48  # variables up to which roots are counted exactly
BEYOND = 1 + 1e-6  # radius of a circle that parts a root that surely grows from one next to the unit circle


@dataclass(frozen=True)
class Roots:
    """Of one lap: `verdict` in stable, unstable, marginal, undecided; `unstable` modes; `how` it was decided.

    `growth` per lap is the dominant modulus; `period` in seconds, None without oscillation; `damping` is the ratio
    of the dominant mode (1: no overshoot left, 0: marginal, negative: growing).  `multipliers` by falling modulus.
    """

    verdict: str
    how: str
    unstable: int | None
    growth: float
    period: float | None
    damping: float
    multipliers: tuple[complex, ...]
    size: int


def floats(rows: list[list[Fraction]], columns: int) -> Array:
    """Returns a matrix of floats, also with no rows."""
    return np.array([[float(x) for x in row] for row in rows], dtype=float).reshape(len(rows), columns)


def roots(lap: Closed, length: Fraction) -> Roots:
    """Returns the verdict on a closed lap of `length` seconds."""
    size = len(lap.names)
    if not size:
        return Roots("stable", "no memory: the first decision is the last", 0, 0.0, None, 1.0, (), 0)
    matrix = floats(lap.a, size)
    multipliers = np.linalg.eigvals(balanced(matrix)) if size > 1 else matrix[0].astype(complex)
    order = np.lexsort((-multipliers.imag, -np.round(np.abs(multipliers), 12)))
    multipliers = multipliers[order].astype(complex)
    verdict, how, unstable = _decided(lap, matrix, multipliers)
    growth = float(abs(multipliers[0]))
    if verdict == "marginal":
        growth = 1.0
    elif how.startswith("exact") and not any(characteristic_polynomial(lap.a)[1:]):
        multipliers, growth = np.zeros(size, dtype=complex), 0.0
    period = _period(lap, length, growth)
    return Roots(verdict, how, unstable, growth, period, _damping(growth, period, length), tuple(multipliers), size)


def _decided(lap: Closed, matrix: Array, multipliers: Array) -> tuple[str, str, int | None]:
    if _counted(lap):
        counts = count_roots(characteristic_polynomial(lap.a))
        if counts.outside:
            return "unstable", "exact count of the roots", counts.outside
        if not counts.on:
            return "stable", "exact count of the roots", 0
        if counts.repeated_on and count_roots(minimal_polynomial(lap.a)).repeated_on:
            return "unstable", "a repeated root on the unit circle", 0
        return "marginal", "exact count: a root on the unit circle", 0
    near = balanced(matrix)
    allowed = max(ROUNDED, lap.doubt) * len(near) * max(1.0, float(np.linalg.norm(near, 2)))
    outside = int((np.abs(multipliers) > 1).sum())
    if clear_of_circle(near, 1.0, allowed):
        return ("unstable" if outside else "stable"), "no root within rounding of the unit circle", outside
    if (np.abs(multipliers) > BEYOND).any() and clear_of_circle(near, BEYOND, allowed):
        return "unstable", "a root lies outside the unit circle; another is within rounding of it", None
    return "undecided", f"a root within rounding ({allowed:.0e}) of the unit circle", None


def _counted(lap: Closed) -> bool:
    """Decides whether the roots of the lap are counted exactly: it is small, and none of its numbers is rounded."""
    return not lap.doubt and len(lap.names) <= EXACT_SIZE


def spectral_radius(rows: Array) -> float:
    """Returns the largest modulus."""
    return float(np.abs(np.linalg.eigvals(rows)).max()) if len(rows) else 0.0


def is_stable(lap: Closed) -> bool:
    """Decides stability exactly, where the lap is small enough; with room for rounding, otherwise."""
    return _verdict(lap) == "stable"


def is_undecided(lap: Closed) -> bool:
    """Decides whether the lap has a root so near to the unit circle that rounding decides about it."""
    return _verdict(lap) == "undecided"


def _verdict(lap: Closed) -> str:
    if not lap.names:
        return "stable"
    if _counted(lap):
        counts = count_roots(characteristic_polynomial(lap.a))
        return "unstable" if counts.outside else "marginal" if counts.on else "stable"
    matrix = floats(lap.a, len(lap.names))
    return _decided(lap, matrix, np.linalg.eigvals(balanced(matrix)))[0]


def _period(lap: Closed, length: Fraction, growth: float) -> float | None:
    """Returns the seconds per turn of the dominant mode, counted along the decision that turns most (a lap may hold
    several).
    """
    size = len(lap.names)
    if not growth:
        return None
    multipliers, vectors = np.linalg.eig(floats(lap.a, size))
    index = max(
        range(size),
        key=lambda k: (round(float(abs(multipliers[k])), 10), -abs(multipliers[k].imag) > -1e-12, multipliers[k].imag),
    )
    rate, mode = 0.0, vectors[:, index]
    for loop in dict.fromkeys(name for name, _ in lap.decisions):
        rows = floats([row for name, row in lap.decisions if name == loop], size)
        course = rows @ mode
        ends = np.append(course, course[0] * multipliers[index])
        if np.abs(ends).min() > 1e-9 * np.abs(mode).max():
            rate = max(rate, abs(float(np.angle(ends[1:] / ends[:-1]).sum())) / float(length))
    if rate == 0.0:
        rate = abs(float(np.angle(multipliers[index]))) / float(length)
    return math.tau / rate if rate * float(length) > 1e-7 else None


def _damping(growth: float, period: float | None, length: Fraction) -> float:
    if growth == 0.0:
        return 1.0
    decay = -math.log(growth)
    if period is None:
        return math.copysign(1.0, decay) if decay else 0.0
    if not decay:
        return 0.0
    turn = math.tau * float(length) / period
    return decay / math.hypot(decay, turn)


@dataclass(frozen=True)
class LapResponse:
    """Sensitivity at one loop's actuation, 1 / (1 + L): what becomes of an error of its decisions, by frequency.

    `frequencies` in rad/s up to the loop's own Nyquist frequency; `gains`: of the same frequency; `peak`: the
    largest amplification of any such error (2-norm), attained near `at` rad/s.
    """

    loop: str
    frequencies: tuple[float, ...]
    gains: tuple[float, ...]
    peak: float
    at: float


def sensitivity(opened: Closed, lap: Lap, loop: str, *, points: int = 240) -> LapResponse | None:
    """Returns the sensitivity of a lap with this loop open and all others closed;
    None where the loop decides nothing.
    """
    count = len(opened.opened)
    if not count:
        return None
    size = len(opened.names)
    a, b = floats(opened.a, size), floats(opened.b, count)
    c, d = floats(opened.c, size), floats(opened.d, count)
    length = float(lap.length)
    nyquist = math.pi * count / length
    spread = np.concatenate([np.geomspace(nyquist * 1e-3, nyquist, points), np.linspace(0, nyquist, points)[1:]])
    omegas = np.unique(spread)
    gains, norms = [], []
    for omega in omegas:
        whole = _sensitivity(a, b, c, d, np.exp(1j * omega * length))
        wave = np.exp(1j * omega * length / count * np.arange(count))
        gains.append(abs(np.vdot(wave, whole @ wave)) / count)
        norms.append(float(np.linalg.norm(whole, 2)))
    peak, at = _refined((a, b, c, d), length, omegas, np.array(norms))
    return LapResponse(loop, tuple(map(float, omegas)), tuple(map(float, gains)), peak, at)


def _sensitivity(a: Array, b: Array, c: Array, d: Array, z: complex) -> Array:
    """Returns (I - D - C (z I - A)^-1 B)^-1; infinite on a pole."""
    count = len(d)
    try:
        through = d + (c @ np.linalg.solve(z * np.eye(len(a)) - a, b) if len(a) else 0)
        return np.asarray(np.linalg.inv(np.eye(count) - through))
    except np.linalg.LinAlgError:
        return np.zeros((count, count)) if len(a) else np.full((count, count), np.inf)


def _refined(parts: tuple[Array, ...], length: float, omegas: Array, norms: Array) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar

    k = int(np.nanargmax(norms))
    low, high = omegas[max(k - 1, 0)], omegas[min(k + 1, len(omegas) - 1)]
    a, b, c, d = parts
    peak = minimize_scalar(
        lambda w: -float(np.linalg.norm(_sensitivity(a, b, c, d, np.exp(1j * w * length)), 2)),
        bounds=(low, high), method="bounded", options={"xatol": 1e-10 * high},
    )  # fmt: skip
    return (float(-peak.fun), float(peak.x)) if -peak.fun > norms[k] else (float(norms[k]), float(omegas[k]))


def coupling(opened: Closed, z: complex) -> Mapping[tuple[str, str], float]:
    """Returns |gain| from each loop's command to each loop's next decision at z, all loops open: (to, from) -> gain."""
    size, count = len(opened.names), len(opened.opened)
    a, b = floats(opened.a, size), floats(opened.b, count)
    c, d = floats(opened.c, size), floats(opened.d, count)
    through = d + (c @ np.linalg.solve(z * np.eye(size) - a, b) if size else 0)
    names = tuple(dict.fromkeys(opened.opened))
    rows = {name: [k for k, of in enumerate(opened.opened) if of == name] for name in names}
    return {(to, by): float(np.linalg.norm(through[np.ix_(rows[to], rows[by])], 2)) for to in names for by in names}
