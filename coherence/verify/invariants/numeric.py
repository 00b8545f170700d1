"""Lowers a transition system to floats, centred and scaled; good for guessing, never for a verdict.

x = centre + scale * z.  Rows are a.z <= h with |a| = 1; an equation is two rows; `<` is `<=` with
`h` less by `tighten`, so that sets which only touch at an excluded point count as apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coherence.verify.systems.piecewise_affine import Constraint, LinearForm, Polyhedron, TransitionSystem

Floats: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complex128]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

TIGHTEN = 1e-6  # how much the system of the search shrinks a `<`
NEVER = 1e3  # bound of a row that only fills up an array


@dataclass(frozen=True, slots=True)
class CoordinateFrame:
    """The affine change of coordinates: of the state variables, then of the choices."""

    centre: Floats
    scale: Floats


@dataclass(frozen=True, slots=True)
class HalfspaceRows:
    """K polyhedra of G rows each: `normal` (K, G, N), `bound` (K, G)."""

    normal: Floats
    bound: Floats


@dataclass(frozen=True, slots=True)
class Numeric:
    """The system in a frame.  Edge e: z' = matrix[e] z + offset[e] where guard[e] holds."""

    frame: CoordinateFrame
    states: int
    modes: tuple[str, ...]
    source: Ints
    target: Ints
    guard: HalfspaceRows
    matrix: Floats
    offset: Floats
    initial_mode: Ints
    initial: HalfspaceRows
    bad_mode: Ints
    bad: HalfspaceRows


def lower(system: TransitionSystem, frame: CoordinateFrame, *, tighten: float) -> Numeric:
    """Returns the system in `frame`."""
    states, modes = len(system.variables), system.modes
    index = {mode: number for number, mode in enumerate(modes)}
    only_states = CoordinateFrame(frame.centre[:states], frame.scale[:states])
    matrix, offset = _updates(system, frame)
    return Numeric(
        frame=frame,
        states=states,
        modes=modes,
        source=_indices(index[edge.source] for edge in system.edges),
        target=_indices(index[edge.target] for edge in system.edges),
        guard=stacked([edge.guard for edge in system.edges], frame, tighten),
        matrix=matrix,
        offset=offset,
        initial_mode=_indices(index[mode] for mode, _ in system.initial),
        initial=stacked([p for _, p in system.initial], only_states, tighten),
        bad_mode=_indices(index[mode] for mode, _ in system.bad),
        bad=stacked([p for _, p in system.bad], only_states, tighten),
    )


def _indices(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)


def coefficients(rows: Sequence[LinearForm], width: int) -> Floats:
    """Returns the coefficients of linear expressions, one row each."""
    return np.array([_floats(row) for row in rows], dtype=float).reshape(len(rows), width)


def _floats(row: LinearForm) -> list[float]:
    """Returns the coefficients of an expression; nearly all are 0, and a Fraction takes long to become a float."""
    return [float(c) if c else 0.0 for c in row.coefficients]


def _updates(system: TransitionSystem, frame: CoordinateFrame) -> tuple[Floats, Floats]:
    states, width = len(system.variables), len(frame.scale)
    shape = (len(system.edges), states)
    raw = np.array([coefficients(edge.update, width) for edge in system.edges]).reshape(*shape, width)
    constant = np.array([[float(row.constant) for row in edge.update] for edge in system.edges]).reshape(shape)
    offset = (raw @ frame.centre + constant - frame.centre[:states]) / frame.scale[:states]
    return raw * frame.scale / frame.scale[:states, None], offset


def stacked(polyhedra: Sequence[Polyhedron], frame: CoordinateFrame, tighten: float) -> HalfspaceRows:
    """Returns polyhedra in a frame, filled up to the same number of rows by rows that always hold."""
    each = [[row for constraint in p for row in _halfspaces(constraint, frame, tighten)] for p in polyhedra]
    most = max((len(rows) for rows in each), default=0)
    normal, bound = np.zeros((len(each), most, len(frame.scale))), np.full((len(each), most), NEVER)
    for k, rows in enumerate(each):
        for g, (a, h) in enumerate(rows):
            normal[k, g], bound[k, g] = a, h
    return HalfspaceRows(normal, bound)


def _halfspaces(constraint: Constraint, frame: CoordinateFrame, tighten: float) -> list[tuple[Floats, float]]:
    linear = constraint.linear
    raw = np.array(_floats(linear))
    normal, bound = raw * frame.scale, -float(linear.constant) - float(raw @ frame.centre)
    size = float(np.linalg.norm(normal)) or abs(bound) or 1.0
    normal, bound = normal / size, bound / size
    if constraint.relation == "==":
        return [(normal, bound), (-normal, -bound)]
    return [(normal, bound - (tighten if constraint.relation == "<" else 0.0))]


def magnitudes(system: TransitionSystem) -> Floats:
    """Returns a scale per state variable and choice: the largest |constant / coefficient| of a row about it alone."""
    width = len(system.variables) + len(system.choices)
    size = [Fraction(0)] * width
    polyhedra = [p for _, p in system.initial + system.bad] + [edge.guard for edge in system.edges]
    for row in (constraint.linear for p in polyhedra for constraint in p):
        used = [i for i, c in enumerate(row.coefficients) if c]
        if len(used) == 1:
            size[used[0]] = max(size[used[0]], abs(row.constant / row.coefficients[used[0]]))
    return np.array([float(value) or 1.0 for value in size])
