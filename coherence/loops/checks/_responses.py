"""Amplification of a sampled closed loop over all frequencies: exact transfer functions, enclosed peaks.

The lap of the design's network answers a disturbance that stays as it is during a lap (`designs.driven_laps`):
x+ = A x + B d,  y = C x + D d.  Then

    G(z) = D + C (zI - A)^-1 B = (det(zI - A + B C) - (1 - D) det(zI - A)) / det(zI - A),

and on the unit circle |numerator|^2 and |denominator|^2 are polynomials in cos w.  A bound g of the peak is
proved by Sturm's theorem: g^2 |denominator|^2 - |numerator|^2 has no root in [-1, 1].
SOURCE: matrix determinant lemma; Astrom and Wittenmark, Computer-Controlled Systems, 3rd ed., 3.2.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base import sturm
from coherence.base.graphs import reached
from coherence.base.polynomials import characteristic_polynomial
from coherence.base.reads import with_changes
from coherence.base.units import ONE
from coherence.language.expressions.tree import Arithmetic, Name
from coherence.loops.designs.driven_laps import DrivenLap, driven_lap
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.lap_matrices import Row, Table
from coherence.loops.designs.linear import shortened, skeleton
from coherence.model.model import EVERYTHING, Command, Interval, Model, SampledLoop

MOST_VARIABLES, GRID = 36, 720
MARGINS = (Fraction(1, 10**6), Fraction(1, 10**4), Fraction(1, 100))  # of the certified bound above the value found
GRAIN = 10**6
ROUNDING = 1e-12  # relative: a gain that is larger by no more is the same
Rows = list[list[Fraction]]
Polynomial = list[Fraction]  # highest degree first


@dataclass(frozen=True)
class SampledSystem:
    """One lap of `lap` seconds, x+ = A x + B d, and the rows of what is looked at (C, D) by name."""

    lap: Fraction
    matrix: Rows
    entry: list[Fraction]
    outputs: dict[str, tuple[list[Fraction], Fraction]]
    point: dict[str, Fraction]


@dataclass(frozen=True)
class ResponsePeak:
    """The largest gain lies in [low, high]; at `angle` radians per lap, which is a period of `period` seconds."""

    low: float
    high: float
    angle: float
    period: float


def disturbed(model: Model, loop: SampledLoop) -> tuple[Model, str, str]:
    """Returns the model with a disturbance added to what a loop reads; names of the disturbance and of the reading."""
    assert loop.measured is not None
    noise, seen = f"disturbance of {loop.name}", f"reading of {loop.name}"
    read = Arithmetic("+", loop.measured, Name(noise))
    probe = with_changes(
        loop,
        name=f"probe of {loop.name}",
        law="set",
        to=read,
        signal=seen,
        measured=None,
        setpoint=None,
        lands=Fraction(0),
    )
    loops = [
        x
        for one in model.loops
        for x in ([probe, with_changes(one, measured=read)] if one.name == loop.name else [one])
    ]
    signals = {path: free_command(path, loop) for path in (noise, seen)}
    return replace(model, loops=tuple(loops), commands={**model.commands, **signals}), noise, seen


def free_command(path: str, loop: SampledLoop, start: Fraction = Fraction(0)) -> Command:
    """Returns a signal that nothing of the design writes."""
    return Command(path, Interval(start, start), EVERYTHING, False, ONE, loop.source.place)


def driven(model: Model, path: str) -> Model:
    """Returns the model in which a constant is a signal, so that what is remembered of it counts."""
    constant = model.constants[path]
    signal = Command(path, constant.range, EVERYTHING, False, constant.dimension, constant.place)
    constants = {k: v for k, v in model.constants.items() if k != path}
    return replace(model, constants=constants, commands={**model.commands, path: signal})


def system(model: Model, entry: str, outputs: Sequence[str], near: dict[str, Fraction]) -> SampledSystem | None:
    """Returns the linearised lap from `entry` to `outputs`; None without an operating point or where it is too
    large."""
    smooth, _ = skeleton(model)
    point = operating_point(smooth, near)
    if point is None:
        return None
    lap = driven_lap(smooth, point, entry)
    answers = {path: lap.decisions[path] for path in outputs}
    states = _states(lap, answers)
    if len(states) > MOST_VARIABLES:
        return None
    rows = [*(lap.end[name] for name in states), *answers.values()]
    numbers = shortened([[row.get(column, Fraction(0)) for column in (*states, lap.driver)] for row in rows])
    size = len(states)
    return SampledSystem(
        lap.length,
        [row[:-1] for row in numbers[:size]],
        [row[-1] for row in numbers[:size]],
        {path: (row[:-1], row[-1]) for path, row in zip(outputs, numbers[size:], strict=True)},
        point,
    )


def _states(lap: DrivenLap, answers: Mapping[str, Row]) -> list[str]:
    """Returns what the driven signal moves and an answer depends on."""
    read = {name for row in answers.values() for name in row}
    seen = read | _closed(list(read), {name: set(row) for name, row in lap.end.items()})
    moved = _closed([lap.driver], _turned(lap.end))
    return [name for name in lap.end if name in seen and name in moved]


def _turned(end: Table) -> dict[str, set[str]]:
    """Number -> the numbers that it moves."""
    moves: dict[str, set[str]] = {}
    for path, row in end.items():
        for name in row:
            moves.setdefault(name, set()).add(path)
    return moves


def _closed(start: Iterable[str], steps: Mapping[str, set[str]]) -> set[str]:
    """Returns what is reached in one or more steps."""
    return reached((n for name in start for n in steps.get(name, ())), lambda name: steps.get(name, ()))


@dataclass(frozen=True)
class FrequencyResponse:
    """numerator / denominator in z, without common roots."""

    numerator: Polynomial
    denominator: Polynomial

    def at(self, angle: float) -> complex:
        """Returns the value at exp(i angle)."""
        z = cmath.exp(1j * angle)
        return _horner(self.numerator, z) / _horner(self.denominator, z)


def response(system: SampledSystem, output: str) -> FrequencyResponse:
    """Returns the transfer function to one output, one lap late (which changes no gain)."""
    row, direct = system.outputs[output]
    below = list(characteristic_polynomial(system.matrix))
    turned = [
        [a - b * c for a, c in zip(line, row, strict=True)] for line, b in zip(system.matrix, system.entry, strict=True)
    ]
    above = [p - (1 - direct) * q for p, q in zip(characteristic_polynomial(turned), below, strict=True)]
    return FrequencyResponse(*_reduced(above, below))


def _reduced(above: Polynomial, below: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Returns both without their common factor."""
    if not any(above):
        return [Fraction(0)], [Fraction(1)]
    p, q = sturm.primitive(above), sturm.primitive(below)
    scale = next(x for x in above if x) / p[0] / (below[0] / q[0])
    common = sturm.gcd(p, q)
    return [scale * x for x in sturm.divided(p, common)], [Fraction(x) for x in sturm.divided(q, common)]


def peak(response: FrequencyResponse, lap: Fraction) -> ResponsePeak | None:
    """Returns the largest gain on the unit circle, enclosed; None where no bound could be proved."""
    above, below = squared(response.numerator), squared(response.denominator)
    angle = _highest(response)
    cosine = Fraction(round(math.cos(angle) * GRAIN), GRAIN)
    floor = _exact(below, cosine)
    best = _exact(above, cosine) / floor if floor else None
    for margin in MARGINS:
        if best is not None and bounded(above, below, best * (1 + margin)):
            period = math.inf if angle == 0 else math.tau / angle * float(lap)
            return ResponsePeak(_root(best), _root(best * (1 + margin)), angle, period)
    return None


def _root(x: Fraction) -> float:
    return math.sqrt(float(x))


def _highest(response: FrequencyResponse) -> float:
    """Returns the angle at which the gain is largest: the best of a grid, refined by golden sections."""
    grid = [math.pi * k / GRID for k in range(GRID + 1)]
    best = max(grid, key=lambda w: _size(response, w))
    low, high = max(0.0, best - math.pi / GRID), min(math.pi, best + math.pi / GRID)
    for _ in range(60):
        left, right = high - (high - low) * 0.618, low + (high - low) * 0.618
        low, high = (low, right) if _size(response, left) > _size(response, right) else (left, high)
    inside = (low + high) / 2
    return inside if _size(response, inside) > _size(response, best) * (1 + ROUNDING) else best


def _size(found: FrequencyResponse, angle: float) -> float:
    try:
        return abs(found.at(angle))
    except ZeroDivisionError:
        return math.inf


def squared(p: Polynomial) -> Polynomial:
    """|p(exp(i w))|^2 as a polynomial in cos w: r_0 + 2 sum of r_k cos(k w), by Chebyshev's recurrence."""
    n = len(p)
    total = [sum((x * x for x in p), Fraction(0))]
    before, now = [Fraction(1)], [Fraction(1), Fraction(0)]
    for k in range(1, n):
        r = 2 * sum((p[i] * p[i + k] for i in range(n - k)), Fraction(0))
        total = _added(total, [r * x for x in now])
        before, now = now, _added([2 * x for x in now] + [Fraction(0)], [-x for x in before])
    return total


def _added(a: Polynomial, b: Polynomial) -> Polynomial:
    size = max(len(a), len(b))
    one, other = [Fraction(0)] * (size - len(a)) + a, [Fraction(0)] * (size - len(b)) + b
    return [x + y for x, y in zip(one, other, strict=True)]


def bounded(above: Polynomial, below: Polynomial, limit: Fraction) -> bool:
    """Decides exactly whether above < limit * below on all of [-1, 1]."""
    p = sturm.primitive(_added([limit * x for x in below], [-x for x in above]))
    if not p or sturm.value(p, -1) <= 0 or sturm.value(p, 1) <= 0:
        return False
    return len(p) == 1 or sturm.real_roots(p, -1, 1) == 0


def _exact(p: Polynomial, x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in p:
        total = total * x + c
    return total


def _horner(p: Polynomial, z: complex) -> complex:
    total = 0j
    for c in p:
        total = total * z + float(c)
    return total
