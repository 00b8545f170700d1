"""Solves many small linear programs at once: the largest value of each objective over its polyhedron.

Every polyhedron lies in a big box, so a dual feasible basis is known from the start: the corner of
the box in the direction of the objective.  From there the dual simplex method goes down; bases
stay dual feasible when bounds move, so the next call with other bounds starts where this one ended.
Whatever the bounds, `multiplier . bound[basis]` is an upper bound of the optimum (weak duality).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.verify.invariants.numeric import Flags, Floats, Ints

BOX = 1e5  # half width, in scaled coordinates; an optimum that leans on it counts as unbounded
FEASIBLE = 1e-10
_PIVOT = 1e-9
_NUDGE = 1e-9  # of the objectives: no two multipliers vanish together, so the method cannot cycle


@dataclass(frozen=True, slots=True)
class Optima:
    """Per polyhedron e and objective r: the optimum and the rows and multipliers that prove it.

    `value` is +inf when only the box bounds it and -inf when the polyhedron is empty.
    """

    value: Floats  # (E, R)
    basis: Ints  # (E, R, N), rows of the polyhedron, the 2 N rows of the box counted last
    multiplier: Floats  # (E, R, N)


def maximise(normal: Floats, bound: Floats, objective: Floats, start: Ints | None = None) -> Optima:
    """Returns max objective[e, r] . x subject to normal[e] x <= bound[e], for all e and r.

    `normal` (E, L, N), `bound` (E, L; +inf drops a row), `objective` (E, R, N); `start` is the basis
    of an earlier call with the same rows and objectives.
    """
    if not normal.shape[2]:
        return Optima(objective.sum(axis=2), objective.astype(np.int64), objective)
    matrix, limits = _boxed(normal, bound)
    cold = corner(objective, normal.shape[1])
    basis = cold if start is None else start.copy()
    if start is not None:
        lost = np.isinf(_gather(limits, basis)).any(axis=2)
        basis[lost] = cold[lost]
    empty = _descend(matrix, limits, objective, basis)
    return _read(matrix, limits, objective, basis, empty)


def _boxed(normal: Floats, bound: Floats) -> tuple[Floats, Floats]:
    count, _, width = normal.shape
    box = np.concatenate([np.eye(width), -np.eye(width)])
    matrix = np.concatenate([normal, np.broadcast_to(box, (count, 2 * width, width))], axis=1)
    return matrix, np.concatenate([bound, np.full((count, 2 * width), BOX)], axis=1)


def _nudged(objective: Floats) -> Floats:
    width = objective.shape[2]
    nudge: Floats = np.where(objective < 0, -_NUDGE, _NUDGE) * (1 + np.arange(width) / max(1, width))
    return objective + nudge


def corner(objective: Floats, rows: int) -> Ints:
    """Returns the first basis for polyhedra of `rows` rows: the corner of the box that each objective points to."""
    width = objective.shape[2]
    first: Ints = rows + np.arange(width) + width * (objective < 0).astype(np.int64)
    return first


def _gather(array: Floats, basis: Ints) -> Floats:
    """Returns array[e, basis[e, r]] for all e, r."""
    gathered: Floats = array[np.arange(len(array))[:, None, None], basis]
    return gathered


def _descend(matrix: Floats, limits: Floats, objective: Floats, basis: Ints) -> Flags:
    """Pivots `basis` in place until each vertex is feasible; says which problems are empty."""
    count, objectives, width = objective.shape
    inverse = np.linalg.inv(_gather(matrix, basis)).astype(np.float64, copy=False)
    weight: Floats = np.einsum("ern,ernm->erm", _nudged(objective), inverse)
    empty = np.zeros((count, objectives), dtype=bool)
    alive = np.arange(count)
    for _ in range(40 + 12 * width):
        vertex = np.einsum("ernm,erm->ern", inverse[alive], _gather(limits[alive], basis[alive]))
        excess = vertex @ matrix[alive].transpose(0, 2, 1) - limits[alive][:, None, :]
        entering, size = excess.argmax(axis=2), 1.0 + np.abs(vertex).max(axis=2, initial=0.0)
        worst = np.take_along_axis(excess, entering[:, :, None], axis=2)[:, :, 0]
        todo = (worst > FEASIBLE * size) & ~empty[alive]
        e, r = np.nonzero(todo)
        if not len(e):
            break
        empty[alive[e], r] = _pivot(matrix, basis, inverse, weight, alive[e], r, entering[e, r])
        alive = alive[todo.any(axis=1)]
    return empty


def _pivot(matrix: Floats, basis: Ints, inverse: Floats, weight: Floats, e: Ints, r: Ints, entering: Ints) -> Flags:
    """Puts row `entering` in place of the row of the basis whose multiplier vanishes first; True where none does."""
    new = matrix[e, entering]
    share = np.einsum("kn,knm->km", new, inverse[e, r])
    useful = share > _PIVOT
    ratio = np.where(useful, weight[e, r] / np.where(useful, share, 1.0), np.inf)
    leaving = ratio.argmin(axis=1)
    bounded: Flags = useful.any(axis=1)
    e, r, share, leaving, entering, ratio = (a[bounded] for a in (e, r, share, leaving, entering, ratio))
    k = np.arange(len(e))
    theta, pivot = ratio[k, leaving], share[k, leaving]
    weight[e, r] -= theta[:, None] * share
    weight[e, r, leaving] = theta
    share[k, leaving] -= 1.0
    inverse[e, r] -= inverse[e, r, :, leaving][:, :, None] * (share / pivot[:, None])[:, None, :]
    basis[e, r, leaving] = entering
    return ~bounded


def _read(matrix: Floats, limits: Floats, objective: Floats, basis: Ints, empty: Flags) -> Optima:
    rows = _gather(matrix, basis)
    solved = np.linalg.solve(rows.transpose(0, 1, 3, 2), objective[..., None])[..., 0]
    multiplier: Floats = np.where(np.abs(solved) < 1e-7, 0.0, solved)
    value = (multiplier * _gather(limits, basis)).sum(axis=2)
    leaning = ((basis >= matrix.shape[1] - 2 * matrix.shape[2]) & (multiplier != 0)).any(axis=2)
    value = np.where(leaning, np.inf, value)
    return Optima(np.where(empty, -np.inf, value), basis, multiplier)


def vertices(normal: Floats, bound: Floats, optima: Optima) -> Floats:
    """Returns the point (E, R, N) at which each optimum is taken."""
    matrix, limits = _boxed(normal, bound)
    rows, values = _gather(matrix, optima.basis), _gather(limits, optima.basis)
    return np.linalg.solve(rows, values[..., None])[..., 0].astype(np.float64, copy=False) if rows.size else values
