"""Cuts modes into cells by the half-spaces of their edges and promises, for invariants that are unions.

The cut system has the same runs; its invariants, one polyhedron per cell, are unions for the modes
of the system it was made from.  Cells and edges that look empty in floats are left out: a guess,
as obligations are always about the uncut system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress

from coherence.verify.invariants.fixpoint import APART, emptiness
from coherence.verify.invariants.numeric import TIGHTEN, CoordinateFrame, stacked
from coherence.verify.invariants.smtlib import Invariant
from coherence.verify.systems.piecewise_affine import (
    AffineEdge,
    Constraint,
    LinearForm,
    Polyhedron,
    TransitionSystem,
    after,
)

MOST_CELLS, MOST_EDGES = 8, 500  # cells of a mode, edges of the cut system


@dataclass(frozen=True, slots=True)
class ModeDivision:
    """The cut system; `cells` maps a mode to the names and the half-spaces of its cells."""

    system: TransitionSystem
    cells: Mapping[str, tuple[tuple[str, Polyhedron], ...]]


def cut(system: TransitionSystem, frame: CoordinateFrame) -> ModeDivision | None:
    """Returns the system with its modes cut into cells, or None when there is nothing to cut or too much."""
    states = len(system.variables)
    if not states or len(system.edges) > MOST_EDGES:
        return None
    of_states = CoordinateFrame(frame.centre[:states], frame.scale[:states])
    rows = _rows_of(system)
    cells = {mode: _cells(mode, _half_spaces(rows[mode], states), of_states) for mode in system.modes}
    if all(len(each) == 1 for each in cells.values()):
        return None
    if sum(len(cells[edge.source]) * len(cells[edge.target]) for edge in system.edges) > 8 * MOST_EDGES:
        return None
    edges = [edge for original in system.edges for edge in _edges(original, cells)]
    nonempty = tuple(compress(edges, _nonempty([edge.guard for edge in edges], frame)))
    if len(nonempty) > MOST_EDGES:
        return None
    initial, bad = _spread(system.initial, cells), _spread(system.bad, cells)
    return ModeDivision(TransitionSystem(system.variables, system.choices, initial, nonempty, bad), cells)


def uncut(division: ModeDivision, invariant: Invariant) -> Invariant:
    """Returns the invariant of the uncut system: each mode is in one of its cells, and there within its rows."""
    return {
        mode: tuple(half_spaces + rows for name, half_spaces in cells for rows in invariant.get(name, ()))
        for mode, cells in division.cells.items()
    }


def _nonempty(polyhedra: list[Polyhedron], frame: CoordinateFrame) -> list[bool]:
    """Returns, for each polyhedron, whether it seems to have a point."""
    rows = stacked(polyhedra, frame, TIGHTEN)
    return [bool(margin <= APART) for margin in emptiness(rows.normal, rows.bound).margin]


def _rows_of(system: TransitionSystem) -> dict[str, list[Constraint]]:
    """Returns, per mode, the rows of the guards out of it, then of its bad sets."""
    rows: dict[str, list[Constraint]] = {mode: [] for mode in system.modes}
    for mode, polyhedron in (*((edge.source, edge.guard) for edge in system.edges), *system.bad):
        rows[mode].extend(polyhedron)
    return rows


def _half_spaces(rows: Iterable[Constraint], states: int) -> list[Constraint]:
    """Returns what rows say about the state alone; each hyperplane once."""
    planes: dict[LinearForm, Constraint] = {}
    for row in rows:
        own, choices = row.linear.coefficients[:states], row.linear.coefficients[states:]
        if any(own) and not any(choices):
            lead = next(c for c in own if c)
            plane = LinearForm(tuple(c / lead for c in own), row.linear.constant / lead)
            relation = row.relation if row.relation != "==" else "<="
            planes.setdefault(plane, Constraint(LinearForm(own, row.linear.constant), relation))
    return list(planes.values())


def _opposite(row: Constraint) -> Constraint:
    linear = LinearForm(tuple(-c for c in row.linear.coefficients), -row.linear.constant)
    return Constraint(linear, "<" if row.relation == "<=" else "<=")


def _cells(mode: str, half_spaces: Iterable[Constraint], frame: CoordinateFrame) -> tuple[tuple[str, Polyhedron], ...]:
    cells: list[Polyhedron] = [()]
    for row in half_spaces:
        parts = [(*cell, side) for cell in cells for side in (row, _opposite(row))]
        parts = list(compress(parts, _nonempty(parts, frame)))
        if len(parts) > MOST_CELLS:
            break
        cells = parts
    return tuple((mode if len(cells) == 1 else f"{mode} / {number}", cell) for number, cell in enumerate(cells, 1))


def _edges(edge: AffineEdge, cells: Mapping[str, tuple[tuple[str, Polyhedron], ...]]) -> Iterable[AffineEdge]:
    """Returns one edge per cell that it leaves and cell that it enters."""
    width = len(edge.update[0].coefficients) if edge.update else 0
    entered = [
        (target, tuple(Constraint(after(row.linear, edge.update), row.relation) for row in behind))
        for target, behind in cells[edge.target]
    ]
    for source, before in cells[edge.source]:
        here = tuple(Constraint(_padded(row.linear, width), row.relation) for row in before)
        for target, there in entered:
            yield AffineEdge(source, target, edge.guard + here + there, edge.update, edge.label)


def _padded(linear: LinearForm, width: int) -> LinearForm:
    missing = width - len(linear.coefficients)
    return LinearForm(linear.coefficients + (Fraction(0),) * missing, linear.constant)


def _spread(
    sets: tuple[tuple[str, Polyhedron], ...], cells: Mapping[str, tuple[tuple[str, Polyhedron], ...]]
) -> tuple[tuple[str, Polyhedron], ...]:
    return tuple((name, polyhedron + cell) for mode, polyhedron in sets for name, cell in cells[mode])
