"""Linear inequalities over the chosen parameters, and sets of points as unions of their conjunctions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.findings.question_input import rational

Point = tuple[Fraction, ...]
Outline = tuple[tuple[Fraction, Fraction], ...]  # for each parameter its ends
ZERO = Fraction(0)


@dataclass(frozen=True)
class Form:
    """A linear form: sum c_i x_i + constant."""

    coefficients: Point
    constant: Fraction

    def at(self, point: Point) -> Fraction:
        """Returns the value at a point."""
        return sum((c * x for c, x in zip(self.coefficients, point, strict=True)), self.constant)

    @property
    def known(self) -> bool:
        """Returns whether the value is the same for all parameters."""
        return not any(self.coefficients)

    def plus(self, other: Form, times: Fraction = Fraction(1)) -> Form:
        """Returns self + times * other."""
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return Form(tuple(a + times * b for a, b in pairs), self.constant + times * other.constant)

    def times(self, factor: Fraction) -> Form:
        """Returns factor * self."""
        return Form(tuple(factor * c for c in self.coefficients), factor * self.constant)


@dataclass(frozen=True)
class Row:
    """An inequality: form REL 0 with `<=`, `<` or `==`, of whole coefficients without a common divisor."""

    form: Form
    relation: str

    def holds(self, point: Point) -> bool:
        """Returns whether a point satisfies the inequality, exactly."""
        value = self.form.at(point)
        return value < 0 if self.relation == "<" else value == 0 if self.relation == "==" else value <= 0

    def opposite(self) -> Row:
        """Returns the other side; of an equation, itself."""
        if self.relation == "==":
            return self
        return row(self.form.times(Fraction(-1)), "<" if self.relation == "<=" else "<=")

    def closed(self) -> Row:
        """Returns the inequality with its border."""
        return Row(self.form, "<=") if self.relation == "<" else self

    def open(self) -> Row:
        """Returns the inequality without its border."""
        return Row(self.form, "<") if self.relation == "<=" else self

    def smt(self, names: Sequence[str]) -> str:
        """Returns the inequality as an SMT-LIB term."""
        parts = [f"(* {rational(c)} {n})" for c, n in zip(self.form.coefficients, names, strict=True) if c]
        total = f"(+ {' '.join(parts)} {rational(self.form.constant)})" if parts else rational(self.form.constant)
        return f"({'=' if self.relation == '==' else self.relation} {total} 0.0)"


Cell = tuple[Row, ...]  # all of them


def row(form: Form, relation: str) -> Row:
    """Returns the inequality in its simplest numbers."""
    numbers = [c for c in (*form.coefficients, form.constant) if c]
    if not numbers:
        return Row(form, relation)
    size = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
    lead = next((c for c in form.coefficients if c), Fraction(1))
    sign = -1 if relation == "==" and lead < 0 else 1
    return Row(form.times(sign / size), relation)


def inside(cell: Iterable[Row], point: Point) -> bool:
    """Returns whether the point satisfies all inequalities of the set."""
    return all(row.holds(point) for row in cell)


def names(count: int) -> list[str]:
    """Returns the parameters in scripts."""
    return [f"x{index}" for index in range(count)]


def outline_rows(outline: Outline) -> Cell:
    """Returns the chosen ranges as inequalities."""
    rows = []
    for index, (low, high) in enumerate(outline):
        axis = tuple(Fraction(int(k == index)) for k in range(len(outline)))
        rows += [row(Form(axis, -high), "<="), row(Form(tuple(-c for c in axis), low), "<=")]
    return tuple(rows)


def uncovered(cell: Cell, outline: Outline, cover: Iterable[Cell]) -> str:
    """Returns a script that is unsat where every point of the set, within the ranges, lies in a set of the cover."""
    parameters = names(len(outline))
    lines = ["(set-logic QF_LRA)", *(f"(declare-const {name} Real)" for name in parameters)]
    lines += [f"(assert {one.smt(parameters)})" for one in (*outline_rows(outline), *cell)]
    for part in cover:
        terms = " ".join(one.smt(parameters) for one in part)
        lines.append(f"(assert (not (and true {terms})))")
    return "\n".join([*lines, "(check-sat)"]) + "\n"
