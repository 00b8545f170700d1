"""Solves one sparse linear program by HiGHS: minimise cost.x with lower <= x <= upper and rows >= least.

Of many rows few matter.  They are added in turns: first, of each group, those that a guessed point
violates most, then those that the optimum so far violates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coherence.base.clock import left_until, now, record_cut
from coherence.base.linear_programs import linear_solver
from coherence.verify.invariants.numeric import Floats, Ints

_OPTIONS = (
    ("random_seed", 0),
    ("solver", "simplex"),
    ("primal_feasibility_tolerance", 1e-10),
    ("dual_feasibility_tolerance", 1e-10),
)
_MET = 1e-9
_FEW = 600  # rows that are all taken at once


@dataclass(frozen=True, slots=True)
class Sparse:
    """Rows as triples (row, column, value), and the least value of each row."""

    row: Ints
    column: Ints
    value: Floats
    least: Floats

    def at(self, point: Floats) -> Floats:
        """Returns the value of each row."""
        return _sums(self.row, self.value * point[self.column], len(self.least))


def _sums(group: Ints, values: Floats, count: int) -> Floats:
    """Returns the sum of the values of each group (numpy counts in integers when there is nothing to sum)."""
    return np.bincount(group, weights=values, minlength=count).astype(np.float64)


def stack(*parts: Sparse) -> Sparse:
    """Returns the rows of all parts, one below the other."""
    first = np.cumsum([0, *(len(part.least) for part in parts)])
    row = np.concatenate([part.row + k for part, k in zip(parts, first[:-1], strict=True)])
    columns, values = np.concatenate([p.column for p in parts]), np.concatenate([p.value for p in parts])
    return Sparse(row, columns, values, np.concatenate([part.least for part in parts]))


def minimise(
    cost: Floats, lower: Floats, upper: Floats, rows: Sparse, *, group: Ints, point: Floats, seconds: float
) -> Floats | None:
    """Returns an optimal x, or None: no feasible point, no least value, out of time, or the solver failed.

    `group` of each row, and a `point` near the optimum, say which rows to take first.
    """
    if not len(cost):
        return cost if (rows.least <= 0).all() else None
    deadline = now() + seconds
    rows, solver = _summed(rows, len(cost)), _solver(cost, lower, upper)
    left = np.ones(len(rows.least), dtype=bool)
    while left.any():
        lack = np.where(left, rows.least - rows.at(point), -np.inf)
        chosen = left if len(rows.least) <= _FEW or left.sum() <= _FEW // 4 else _worst(lack, group)
        if not left.all():
            chosen = chosen & (lack > _MET)
            if not chosen.any():
                break
        _add(solver, rows, chosen)
        left &= ~chosen
        optimum = _solve(solver, deadline)
        if optimum is None:
            return None
        point = optimum
    return point if len(rows.least) else _solve(solver, deadline)


def _worst(lack: Floats, group: Ints) -> Any:
    """Returns the row of each group that lacks most."""
    order = np.lexsort((-lack, group))
    first = np.r_[True, np.diff(group[order]) > 0]
    chosen = np.zeros(len(lack), dtype=bool)
    chosen[order[first]] = True
    return chosen & np.isfinite(lack)


def _solver(cost: Floats, lower: Floats, upper: Floats) -> Any:
    import highspy

    solver = linear_solver(_OPTIONS)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), 0
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
    solver.passModel(program)
    return solver


def _add(solver: Any, rows: Sparse, chosen: Any) -> None:
    entry = chosen[rows.row]
    count = np.bincount(rows.row[entry], minlength=len(rows.least))[chosen]
    start = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int32)
    least = rows.least[chosen]
    index, value = rows.column[entry].astype(np.int32), rows.value[entry]
    solver.addRows(len(least), least, np.full(len(least), np.inf), len(value), start, index, value)


def _solve(solver: Any, deadline: float) -> Floats | None:
    import highspy

    solver.setOptionValue("time_limit", solver.getRunTime() + max(0.01, left_until(deadline)))
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kUnknown:  # too fine: the usual tolerances will do
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            solver.setOptionValue(option, 1e-7)
        solver.run()
        status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kTimeLimit:
        record_cut()
    return np.array(solver.getSolution().col_value) if status == highspy.HighsModelStatus.kOptimal else None


def _summed(rows: Sparse, columns: int) -> Sparse:
    """Returns the rows sorted, the values of one place added up, small ones left out (HiGHS wants each place once)."""
    place, which = np.unique(rows.row * columns + rows.column, return_inverse=True)
    value = _sums(which, rows.value, len(place))
    keep = np.abs(value) > 1e-11
    return Sparse(place[keep] // columns, place[keep] % columns, value[keep], rows.least)
