"""One sparse linear program, by HiGHS: minimise cost.x with lower <= x <= upper and rows >= least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.verify.numeric import Floats, Ints

_FINE = (("primal_feasibility_tolerance", 1e-10), ("dual_feasibility_tolerance", 1e-10))


@dataclass(frozen=True, slots=True)
class Sparse:
    """Rows as triples (row, column, value), and the least value of each row."""

    row: Ints
    column: Ints
    value: Floats
    least: Floats


def stack(*parts: Sparse) -> Sparse:
    """The rows of all parts, one below the other."""
    first = np.cumsum([0, *(len(part.least) for part in parts)])
    row = np.concatenate([part.row + k for part, k in zip(parts, first[:-1], strict=True)])
    columns, values = np.concatenate([p.column for p in parts]), np.concatenate([p.value for p in parts])
    return Sparse(row, columns, values, np.concatenate([part.least for part in parts]))


def minimise(cost: Floats, lower: Floats, upper: Floats, rows: Sparse) -> Floats | None:
    """An optimal x, or None when there is none (no feasible point, no least value, or the solver failed)."""
    import highspy

    if not len(cost):
        return cost if (rows.least <= 0).all() else None
    rows = _summed(rows, len(cost))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(rows.least)
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = rows.least, np.full(len(rows.least), highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(rows.row, minlength=len(rows.least)))])
    program.a_matrix_.index_, program.a_matrix_.value_ = rows.column, rows.value
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("solver", "simplex"), *_FINE):
        solver.setOptionValue(option, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)


def _summed(rows: Sparse, columns: int) -> Sparse:
    """Sorted by row, the values of one place added up, small ones left out (HiGHS wants each place once)."""
    place, which = np.unique(rows.row * columns + rows.column, return_inverse=True)
    value = np.bincount(which, weights=rows.value, minlength=len(place)) if len(place) else rows.value
    keep = np.abs(value) > 1e-11
    return Sparse(place[keep] // columns, place[keep] % columns, value[keep], rows.least)
