"""Solves linear programs in exact rationals: HiGHS finds a basis, and fractions solve and mend it.

The answer is optimal for the numbers as given, bit by bit: prices and point fulfil every condition with no tolerance.
SOURCE: Bland 1977 (rules that end); Applegate, Cook, Dash and Espinoza 2007 (exact answers from a floating basis).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from coherence.base.linear_programs import linear_solver
from coherence.causal.data.series import Floats

Vector: TypeAlias = Mapping[int, Fraction]  # sparse


@dataclass(frozen=True)
class CapacityProgram:
    """Maximise gain.v over v >= 0 with rows.v <= limit; `equal[i]` makes row i an equation."""

    gain: Floats
    rows: Floats
    limit: Floats
    equal: tuple[bool, ...] = ()

    def fixed(self, row: int) -> bool:
        """Whether the row is an equation."""
        return bool(self.equal) and self.equal[row]


@dataclass(frozen=True)
class Optimum:
    """`prices[i]` is what one more unit of `limit[i]` is worth; `degenerate`: a basic variable is 0."""

    value: Fraction
    point: tuple[Fraction, ...]
    prices: tuple[Fraction, ...]
    degenerate: bool


@dataclass(frozen=True)
class NoOptimum:
    """`why`: infeasible or unbounded."""

    why: str


def optimum(program: CapacityProgram) -> Optimum | NoOptimum:
    """The exact optimum."""
    try:
        return _Simplex(program, _warm(program)).run()
    except _SingularError:  # the solver takes very small entries for 0
        rows, columns = program.rows.shape
        return _Simplex(program, list(range(columns, columns + rows))).run()


class _SingularError(Exception):
    """The columns of a basis depend on each other."""


def _warm(program: CapacityProgram) -> list[int]:
    """The basis that HiGHS ends with (columns, then the slack of each row); the slacks where it finds no optimum."""
    import highspy

    rows, columns = program.rows.shape
    slacks = list(range(columns, columns + rows))
    if not rows or not columns:
        return slacks
    solver = linear_solver((("solver", "simplex"), ("presolve", "off")))
    solver.passModel(_highs(program))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return slacks
    basis = solver.getBasis()
    basic = [
        j for j, one in enumerate([*basis.col_status, *basis.row_status]) if one == highspy.HighsBasisStatus.kBasic
    ]
    return basic if len(basic) == rows else slacks


def _highs(program: CapacityProgram) -> object:
    import highspy

    rows, columns = program.rows.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, rows
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_, model.col_lower_, model.col_upper_ = program.gain, np.zeros(columns), np.full(columns, np.inf)
    lower = [float(program.limit[i]) if program.fixed(i) else -np.inf for i in range(rows)]
    model.row_lower_, model.row_upper_ = np.array(lower), program.limit
    where, which = np.nonzero(program.rows)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(where, np.arange(rows + 1)).astype(np.int32)
    model.a_matrix_.index_, model.a_matrix_.value_ = which.astype(np.int32), program.rows[where, which]
    return model


class _Simplex:
    """Primal and dual simplex over fractions, each step solved anew from the basis."""

    def __init__(self, program: CapacityProgram, basis: list[int]) -> None:
        self.program = program
        self.rows, self.columns = program.rows.shape
        self.column = [_sparse(program.rows[:, j]) for j in range(self.columns)]
        self.column += [{i: Fraction(1)} for i in range(self.rows)]
        self.gain = [Fraction(float(one)) for one in program.gain] + [Fraction(0)] * self.rows
        self.limit = _sparse(program.limit)
        self.basis = basis

    def run(self) -> Optimum | NoOptimum:
        """Make the basis feasible by the dual method, then optimal by the primal one."""
        reduced = self._reduced(self._prices(self.gain))
        gain = self.gain if self._entering(reduced) is None else [Fraction(0)] * len(self.gain)
        while (row := self._infeasible()) is not None:
            if not self._dual_step(row, gain):
                return NoOptimum("infeasible")
        while (entering := self._entering(self._reduced(self._prices(self.gain)))) is not None:
            if not self._primal_step(entering):
                return NoOptimum("unbounded")
        return self._optimum()

    def _point(self) -> list[Fraction]:
        found = _solve([self.column[j] for j in self.basis], self.limit)
        return [found.get(i, Fraction(0)) for i in range(self.rows)]

    def _prices(self, gain: Sequence[Fraction]) -> list[Fraction]:
        return self._row({i: gain[j] for i, j in enumerate(self.basis) if gain[j]})

    def _row(self, right: Vector) -> list[Fraction]:
        """u with u.B = right."""
        turned: list[dict[int, Fraction]] = [{} for _ in range(self.rows)]
        for i, j in enumerate(self.basis):
            for row, entry in self.column[j].items():
                turned[row][i] = entry
        tableau_row = _solve(turned, right)
        return [tableau_row.get(i, Fraction(0)) for i in range(self.rows)]

    def _reduced(self, prices: Sequence[Fraction], gain: Sequence[Fraction] | None = None) -> dict[int, Fraction]:
        """Reduced gain of each variable that may enter."""
        basic, gains = set(self.basis), self.gain if gain is None else gain
        return {
            j: gains[j] - sum((prices[i] * a for i, a in self.column[j].items()), Fraction(0))
            for j in range(self.columns + self.rows)
            if j not in basic and not self._fixed(j)
        }

    def _fixed(self, variable: int) -> bool:
        return variable >= self.columns and self.program.fixed(variable - self.columns)

    @staticmethod
    def _entering(reduced: Mapping[int, Fraction]) -> int | None:
        return next((j for j, one in reduced.items() if one > 0), None)

    def _infeasible(self) -> int | None:
        """The place in the basis of the first variable that is out of its bounds."""
        wrong = [(j, i) for i, (j, x) in enumerate(zip(self.basis, self._point(), strict=True)) if self._out(j, x)]
        return min(wrong)[1] if wrong else None

    def _out(self, variable: int, x: Fraction) -> bool:
        return x < 0 or (x > 0 and self._fixed(variable))

    def _primal_step(self, entering: int) -> bool:
        direction = _solve([self.column[j] for j in self.basis], self.column[entering])
        point = self._point()
        moving = [(i, w) for i, w in direction.items() if w > 0 or (w and self._fixed(self.basis[i]))]
        if not moving:
            return False
        _, _, leaving = min((point[i] / abs(w), self.basis[i], i) for i, w in moving)
        self.basis[leaving] = entering
        return True

    def _dual_step(self, leaving: int, gain: Sequence[Fraction]) -> bool:
        sign = 1 if self._point()[leaving] > 0 else -1
        row = self._row({leaving: Fraction(1)})
        steps = []
        for j, reduced in self._reduced(self._prices(gain), gain).items():
            slope = sign * sum((row[i] * a for i, a in self.column[j].items()), Fraction(0))
            if slope > 0:
                steps.append((-reduced / slope, j))
        if not steps:
            return False
        self.basis[leaving] = min(steps)[1]
        return True

    def _optimum(self) -> Optimum:
        basic, prices = self._point(), self._prices(self.gain)
        point = [Fraction(0)] * (self.columns + self.rows)
        for j, x in zip(self.basis, basic, strict=True):
            point[j] = x
        total = sum((g * x for g, x in zip(self.gain, point, strict=True) if x), Fraction(0))
        free = [x for j, x in zip(self.basis, basic, strict=True) if not self._fixed(j)]
        return Optimum(total, tuple(point[: self.columns]), tuple(prices), not all(free))


def _sparse(numbers: Floats) -> dict[int, Fraction]:
    return {int(i): Fraction(float(numbers[i])) for i in np.flatnonzero(numbers)}


def _solve(columns: Sequence[Vector], right: Vector) -> dict[int, Fraction]:
    """x with sum_j columns[j] x[j] = right, for independent columns: elimination, sparsest row first."""
    rows: dict[int, dict[int, Fraction]] = {}
    for j, column in enumerate(columns):
        for i, entry in column.items():
            rows.setdefault(i, {})[j] = entry
    b = dict(right)
    order: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while rows:
        i = min(rows, key=lambda row: len(rows[row]))
        row, known = rows.pop(i), b.get(i, Fraction(0))
        if not row:
            raise _SingularError
        pivot = min(row, key=lambda j: sum(j in other for other in rows.values())) if len(row) > 1 else next(iter(row))
        scale = row.pop(pivot)
        row, known = {j: a / scale for j, a in row.items()}, known / scale
        for k, other in rows.items():
            if pivot in other:
                _subtract(other, row, other.pop(pivot), b, k, known)
        order.append((pivot, row, known))
    solution: dict[int, Fraction] = {}
    for pivot, row, known in reversed(order):
        x = known - sum((a * solution[j] for j, a in row.items() if j in solution), Fraction(0))
        if x:
            solution[pivot] = x
    return solution


def _subtract(
    other: dict[int, Fraction], row: Vector, times: Fraction, b: dict[int, Fraction], k: int, known: Fraction
) -> None:
    for j, a in row.items():
        left = other.get(j, Fraction(0)) - times * a
        if left:
            other[j] = left
        else:
            other.pop(j, None)
    if known:
        b[k] = b.get(k, Fraction(0)) - times * known
