"""Chooses the directions d of a template: rows d.x <= s whose bounds s the prover then looks for.

By effort: 0 has the box and the rows of the promise; 1 the rows of guards and starts and the left
eigenvectors of the linear parts (a row d with d A = r d stays a row under the edge); 2 sums and
differences of variables that meet (octagon) and pre-images of the rows; 3 more of these, and the
sides of the hull of what runs visited.
Directions are exact and simple, so that a certificate can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, islice
from math import acos, ceil, pi
from typing import TypeAlias

import numpy as np

from coherence.verify.invariants.numeric import Complexes, Floats, Numeric
from coherence.verify.systems.piecewise_affine import LinearForm, Polyhedron, TransitionSystem, after

Direction: TypeAlias = tuple[Fraction, ...]

LIMITS = (24, 24, 44, 120)  # directions beyond the box, by effort
_SIMPLE = 10_000  # largest denominator that is kept as it is
_SIDES = 12  # most pairs of sides of a polygon around a spiral


def template(system: TransitionSystem, numeric: Numeric, points: Floats, *, effort: int) -> tuple[Direction, ...]:
    """Returns the directions, most useful first, each with its opposite, none twice; `effort` is 0 to 3."""
    states, scale = len(system.variables), numeric.frame.scale[: len(system.variables)]
    limit = 2 * states + LIMITS[effort]
    directions: dict[tuple[float, ...], Direction] = {}
    for raw in islice(_unique(_candidates(system, numeric, points, scale, effort)), 2000):
        for sign in (1, -1):
            direction = _simplified(tuple(sign * c for c in raw))
            directions.setdefault(_key(direction, scale), direction)
        if len(directions) >= limit:
            break
    directions.pop((), None)
    return tuple(directions.values())


def _candidates(
    system: TransitionSystem, numeric: Numeric, points: Floats, scale: Floats, effort: int
) -> Iterator[Direction]:
    states = len(system.variables)
    yield from (_unit(states, i) for i in range(states))
    yield from _normals((p for _, p in system.bad), states)
    if effort == 0:
        return
    pairs = _coupled(system)
    rows = list(_normals((*(p for _, p in system.bad), *(edge.guard for edge in system.edges)), states))
    rows += _normals((p for _, p in system.initial), states)
    yield from rows
    yield from _eigen(numeric, scale, products=effort > 2)
    if effort > 1:
        yield from _octagon(states, pairs)
        yield from _preimages(system, rows, 3 if effort > 2 else 1)
        yield from _changes(system)
    if effort > 2:
        yield from _scaled_octagon(pairs, scale)
        yield from _sides(pairs, points, scale)


def _unique(directions: Iterable[Direction]) -> Iterator[Direction]:
    seen: set[Direction] = set()
    for direction in directions:
        if direction not in seen:
            seen.add(direction)
            yield direction


def _unit(states: int, i: int) -> Direction:
    return tuple(Fraction(int(k == i)) for k in range(states))


def _normals(polyhedra: Iterable[Polyhedron], states: int) -> Iterator[Direction]:
    """Yields the part of the rows that is about the state."""
    for polyhedron in polyhedra:
        yield from dict.fromkeys(row.linear.coefficients[:states] for row in polyhedron)


def _coupled(system: TransitionSystem) -> list[tuple[int, int]]:
    """Returns pairs of state variables that meet in a row, or of which one drives the other."""
    states = len(system.variables)
    meet: dict[tuple[int, int], None] = {}

    def add(used: Iterable[int]) -> None:
        meet.update(dict.fromkeys(combinations(sorted({i for i in used if i < states}), 2)))

    for polyhedron in [p for _, p in system.bad + system.initial] + [edge.guard for edge in system.edges]:
        for row in polyhedron:
            add(_used(row.linear))
    for edge in system.edges:
        for i, update in enumerate(edge.update):
            add([i, *_used(update)])
    return list(meet)


def _used(linear: LinearForm) -> list[int]:
    return [i for i, c in enumerate(linear.coefficients) if c]


def _octagon(states: int, pairs: list[tuple[int, int]]) -> Iterator[Direction]:
    for sign in (-1, 1):
        for i, j in pairs:
            yield tuple(Fraction(1 if k == i else sign if k == j else 0) for k in range(states))


def _scaled_octagon(pairs: list[tuple[int, int]], scale: Floats) -> Iterator[Direction]:
    for sign in (-1.0, 1.0):
        for i, j in pairs:
            raw = np.zeros(len(scale))
            raw[i], raw[j] = 1.0 / scale[i], sign / scale[j]
            yield _rational(raw, scale, digits=2)


def _preimages(system: TransitionSystem, rows: list[Direction], depth: int) -> Iterator[Direction]:
    """Yields rows that hold after an edge when a row held `depth` edges later."""
    states = len(system.variables)
    updates = list(dict.fromkeys(edge.update for edge in system.edges))
    level = list(dict.fromkeys(rows + [_unit(states, i) for i in range(states)]))
    for _ in range(depth):
        level = list(dict.fromkeys(_preimage(d, update) for d in level[:200] for update in updates[:40]))
        yield from level


def _preimage(direction: Direction, update: tuple[LinearForm, ...]) -> Direction:
    image = after(LinearForm(direction, Fraction(0)), update).coefficients[: len(direction)]
    return _simplified(image)


def _changes(system: TransitionSystem) -> Iterator[Direction]:
    """Yields the directions x_i' - x_i: how fast a variable moves."""
    states = len(system.variables)
    for update in dict.fromkeys(edge.update for edge in system.edges):
        for i, row in enumerate(update):
            yield tuple(c - (k == i) for k, c in enumerate(row.coefficients[:states]))


def _eigen(numeric: Numeric, scale: Floats, *, products: bool) -> Iterator[Direction]:
    """Yields left eigenvectors of the linear parts, and of their products two by two."""
    states = numeric.states
    parts = list({part.tobytes(): part for part in numeric.matrix[:, :, :states].round(12)}.values())[:40]
    if products:
        parts += [a @ b for a, b in combinations(parts[:8], 2)]
    for part in parts:
        if states:
            values, vectors = np.linalg.eig(part.T)
            for value, vector in zip(values, vectors.T, strict=True):
                yield from (_rational(d / scale, scale) for d in _turned(complex(value), vector))


def _turned(value: complex, vector: Complexes) -> Iterator[Floats]:
    """Yields the eigenvector; of a complex pair, directions of a polygon that the rotation shrinks into itself."""
    if abs(value.imag) < 1e-9:
        yield np.real(vector / vector[np.abs(vector).argmax()])
    elif value.imag > 0:
        pairs = min(_SIDES, max(3, ceil(pi / 2 / acos(min(abs(value), 0.999))) + 1))
        for k in range(pairs):
            turned = np.real(vector * np.exp(1j * pi * k / pairs))
            yield turned / max(np.abs(turned).max(), 1e-12)


def _sides(pairs: list[tuple[int, int]], points: Floats, scale: Floats) -> Iterator[Direction]:
    """Yields normals of the long sides of the convex hull of what runs visited, in planes of two variables."""
    angle = np.arange(64) * (2 * pi / 64)
    looks = np.stack([np.cos(angle), np.sin(angle)])
    for i, j in pairs:
        plane = points[:, [i, j]]
        if len(plane):
            corner = plane[(plane @ looks).argmax(axis=0)]
            side = np.roll(corner, -1, axis=0) - corner
            length = np.hypot(side[:, 0], side[:, 1])
            for k in np.argsort(-length, kind="stable")[:8]:
                if length[k] > 1e-3:
                    raw = np.zeros(len(scale))
                    raw[i], raw[j] = side[k, 1] / scale[i], -side[k, 0] / scale[j]
                    yield _rational(raw, scale, digits=3)


def _rational(raw: Floats, scale: Floats, digits: int = 4) -> Direction:
    """Returns a nearby simple direction: relative to the coefficient that matters most."""
    weight = np.abs(raw) * scale
    lead = int(weight.argmax())
    if weight[lead] == 0:
        return tuple(Fraction(0) for _ in raw)
    ratio = np.where(weight < 1e-6 * weight[lead], 0.0, raw / abs(raw[lead]))
    return tuple(_near(float(value), digits) for value in ratio)


def _near(value: float, digits: int) -> Fraction:
    exact = Fraction(value).limit_denominator(1000)
    if abs(float(exact) - value) <= 1e-9 * abs(value):
        return exact
    return Fraction(f"{value:.{digits}g}")


def _simplified(direction: Direction) -> Direction:
    """Returns the direction scaled to a largest coefficient of 1, long fractions shortened; it may be any vector."""
    most = max((abs(c) for c in direction), default=Fraction(0))
    if not most:
        return direction
    scaled = tuple(c / most for c in direction)
    return tuple(c if c.denominator <= _SIMPLE else Fraction(f"{float(c):.5g}") for c in scaled)


def _key(direction: Direction, scale: Floats) -> tuple[float, ...]:
    """Returns a key, equal for directions that are nearly the same in the frame; () for the zero vector."""
    vector = np.array([float(c) for c in direction]) * scale
    size = float(np.linalg.norm(vector))
    return tuple(float(x) + 0.0 for x in (vector / size).round(5)) if size > 0 else ()
