"""Writes quadratic forms in exact rationals as sums of squares (L D L'), with the scripts that prove them.

A form q(y) = y' P y is given by its symmetric matrix.  P = L D L' with D >= 0 writes q as sum d_i (l_i . y)^2: an
identity of polynomials, which a solver checks by expanding, and finitely many signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from coherence.base.solver import joined
from coherence.verify.invariants.smtlib import number

Vector = list[Fraction]
Matrix = list[list[Fraction]]
Squares = list[tuple[Fraction, Vector]]  # d_i >= 0 and l_i
ZERO, ONE = Fraction(0), Fraction(1)


def times(left: Matrix, right: Matrix) -> Matrix:
    """Returns the product."""
    columns = list(zip(*right, strict=True))
    return [[dot(row, column) for column in columns] for row in left]


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Returns sum a_i b_i."""
    return sum((a * b for a, b in zip(one, other, strict=True) if a and b), ZERO)


def congruence(matrix: Matrix, by: Matrix) -> Matrix:
    """Returns by' matrix by."""
    return times([list(column) for column in zip(*by, strict=True)], times(matrix, by))


def minus(left: Matrix, right: Matrix, factor: Fraction = ONE) -> Matrix:
    """Returns left - factor * right."""
    return [[a - factor * b for a, b in zip(p, q, strict=True)] for p, q in zip(left, right, strict=True)]


def solved(matrix: Matrix, right: Vector) -> Vector | None:
    """Returns x with matrix x = right; None where the matrix is singular."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(size):
        lead = next((i for i in range(k, size) if rows[i][k]), None)
        if lead is None:
            return None
        rows[k], rows[lead] = rows[lead], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size] for row in rows]


def squares(matrix: Matrix) -> Squares | None:
    """Returns the form as a sum of squares, or None where it is not positive semidefinite."""
    rest, terms = [list(row) for row in matrix], Squares()
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k])):
            return None
        if pivot == 0:
            continue
        line = [value / pivot for value in rest[k]]
        terms.append((pivot, line))
        rest = [[rest[i][j] - pivot * line[i] * line[j] for j in range(len(rest))] for i in range(len(rest))]
    return terms


def form(matrix: Matrix, names: Sequence[str]) -> str:
    """Returns y' P y as an SMT-LIB term."""
    parts = [
        f"(* {number(matrix[i][j] * (1 if i == j else 2))} {names[i]} {names[j]})"
        for i in range(len(names))
        for j in range(i, len(names))
        if matrix[i][j]
    ]
    return _sum(parts)


def _sum(parts: Sequence[str]) -> str:
    return "0.0" if not parts else parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def linear(vector: Sequence[Fraction], names: Sequence[str]) -> str:
    """Returns a . y as an SMT-LIB term."""
    return _sum([f"(* {number(c)} {n})" for c, n in zip(vector, names, strict=True) if c])


def identity(name: str, left: str, right: Squares, names: Sequence[str]) -> str:
    """Returns two scripts, each unsat: left = sum d_i (l_i . y)^2 for all y, and every d_i >= 0."""
    terms = [f"(* {number(d)} {linear(line, names)} {linear(line, names)})" for d, line in right]
    declared = "\n".join(f"(declare-const {n} Real)" for n in names)
    equal = f"; {name}\n(set-logic QF_NRA)\n{declared}\n(assert (not (= {left} {_sum(terms)})))\n(check-sat)\n"
    return joined([equal, ground(f"{name}: the signs", [f"(<= 0.0 {number(d)})" for d, _ in right])])


def ground(name: str, facts: Sequence[str]) -> str:
    """Returns facts about numbers as a script that is unsat."""
    return f"; {name}\n(set-logic QF_LRA)\n(assert (not (and true {' '.join(facts)})))\n(check-sat)\n"
