"""Proves that laps known in balls contract: one quadratic form falls under each of them, shown over rationals.

V(x) = x' P x falls where P - M' P M is positive definite.  In coordinates that make it nearly the identity that is
shown by rows: each diagonal entry exceeds the sizes of the others beside it, and what the radii of M may add.  The
form is found in floats; whether it falls is decided over rationals, and once more by a solver from the script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.findings.question_input import Certificate, rational
from coherence.loops.multirate.balls import Ball
from coherence.loops.multirate.decreasing_forms import symmetric_basis
from coherence.loops.networks.matrix_inequalities import Inequality, solved

Array = Any
Matrix = Sequence[Sequence[Ball]]
MOST_VARIABLES, MOST_SEARCHED = 32, 14  # of a lap; of one for which a form is searched
LONG, SHORT = 40, 20  # binary digits of numbers that are shown, and of coordinates
CLEAR = 1e-9  # below 1, of a norm in floats that is tried over rationals
HALFWAY, MORE = 0.5, 1.1  # of the mean lap's growth, by which it is divided
NOTHING = 1e-9
CLEARLY = Fraction(1, 2)  # by how much each row of the form exceeds the others in its coordinates


@dataclass(frozen=True)
class FallingForm:
    """`form` (P) over rationals, and coordinates (columns of `frame`) in which it is at least half of |y|^2; `claims`:
    what shows it, in SMT-LIB.
    """

    form: Array
    frame: Array
    claims: Claims


@dataclass
class Claims:
    """Arithmetic over numbers that are stated, for a solver to do again."""

    definitions: dict[str, Fraction] = field(default_factory=dict)
    claims: list[str] = field(default_factory=list)

    def script(self) -> str:
        """Returns the script, whose answer must be `unsat`."""
        numbers = [f"(define-fun {name} () Real {rational(number)})" for name, number in self.definitions.items()]
        head, *rest = Certificate(claim="\n  ".join(["(and true", *self.claims]) + ")").script().splitlines()
        return "\n".join([head, *numbers, *rest]) + "\n"

    def stated(self, tag: str, matrix: Array) -> list[list[str]]:
        """Returns the names of the entries of a matrix of numbers."""
        names = [[f"{tag}_{i}_{j}" for j in range(matrix.shape[1])] for i in range(len(matrix))]
        for row, numbers in zip(names, matrix, strict=True):
            self.definitions |= dict(zip(row, numbers, strict=True))
        return names

    def product(self, tag: str, left: Array, right: Array, tags: tuple[str, str], *, turned: bool = False) -> Array:
        """Returns left (or its transpose) times right, with the claim that it is so."""
        first, second = self.stated(tags[0], left), self.stated(tags[1], right)
        first = [list(column) for column in zip(*first, strict=True)] if turned else first
        result = multiplied(left.T if turned else left, right)
        for row, names in zip(self.stated(tag, result), first, strict=True):
            for j, name in enumerate(row):
                terms = (f"(* {names[k]} {second[k][j]})" for k in range(len(second)))
                self.claims.append(f"(= {name} (+ 0.0 {' '.join(terms)}))")
        return result

    def entries(self, tag: str, like: Array) -> Array:
        """Returns the matrix that was stated by a tag."""
        n = range(len(like))
        return np.array([[self.definitions[f"{tag}_{i}_{j}"] for j in n] for i in n], dtype=object)

    def positive(self, tag: str, matrix: Array, slack_in: Callable[[Array], Array]) -> bool:
        """Decides whether a symmetric matrix whose entries are stated is positive definite, and claims it.

        `slack_in`: what each row must exceed the others by, in coordinates (columns).
        """
        frame = rounded(np.linalg.inv(np.linalg.cholesky(matrix.astype(float)).T), SHORT)
        turned = self.product(f"t{tag}", matrix, frame, (tag, f"f{tag}"))
        square = self.product(f"q{tag}", frame, turned, (f"f{tag}", f"t{tag}"), turned=True)
        slack = slack_in(np.abs(frame))
        return all(self._exceeds(f"q{tag}", square[i], i, slack[i]) for i in range(len(square)))

    def _exceeds(self, tag: str, row: Array, i: int, slack: Fraction) -> bool:
        names = [f"{tag}_{i}_{j}" for j in range(len(row)) if j != i]
        others = " ".join(f"(ite (< {name} 0.0) (- {name}) {name})" for name in names)
        self.claims.append(f"(> {tag}_{i}_{i} (+ 0.0 {rational(slack)} {others}))")
        return bool(2 * row[i] > np.abs(row).sum() + slack and row[i] > 0)


def falling_form(matrices: Sequence[Matrix], check: Callable[[], object] = bool) -> FallingForm | None:
    """Returns a form that falls with every one of some laps; None where none is found and shown."""
    if not 0 < len(matrices[0]) <= MOST_VARIABLES:
        return None
    plain = [np.array([[float(x.middle) for x in row] for row in matrix]) for matrix in matrices]
    try:
        form = _form_in_floats(plain, check)
        return None if form is None else _shown(matrices, rounded(form, LONG))
    except np.linalg.LinAlgError:
        return None


def _form_in_floats(matrices: Sequence[Array], check: Callable[[], object]) -> Array | None:
    """Returns a form in floats: that of the mean of all laps, or what the inequalities give from there."""
    if max(float(np.abs(np.linalg.eigvals(matrix)).max()) for matrix in matrices) >= 1 - CLEAR:
        return None
    norm = np.linalg.cholesky(_mean_form(matrices)).T
    back = np.linalg.inv(norm)
    inner = _inner(np.array([norm @ matrix @ back for matrix in matrices]), check)
    if inner is None or np.linalg.eigvalsh(inner).min() <= 0:
        return None
    form = norm.T @ inner @ norm
    return (form + form.T) / 2


def _mean_form(matrices: Sequence[Array]) -> Array:
    """Returns the form that the mean of all laps, made to contract if it does not, leaves shortest."""
    n = len(matrices[0])
    mean = sum(np.kron(each.T, each.T) for each in matrices) / len(matrices)
    radius = max(float(np.abs(np.linalg.eigvals(mean)).max()), NOTHING)
    scaled = mean / (min(HALFWAY * (radius + 1), MORE * radius) if radius < 1 else MORE * radius)
    form = np.linalg.solve(np.eye(n * n) - scaled, np.eye(n).reshape(-1)).reshape(n, n)
    return (form + form.T) / 2


def _inner(turned: Array, check: Callable[[], object]) -> Array | None:
    n = turned.shape[1]
    if max(float(np.linalg.norm(matrix, 2)) for matrix in turned) < 1 - CLEAR:
        return np.eye(n)
    if n > MOST_SEARCHED:
        return None
    basis, stacked = symmetric_basis(n), turned[:, None]
    falls = Inequality(np.arange(len(basis)), stacked.swapaxes(2, 3) @ basis @ stacked - basis)
    positive = Inequality(np.arange(len(basis)), -basis[None])
    y = solved([falls, positive], np.zeros(len(basis), dtype=bool), check)
    return None if y is None else np.tensordot(y, basis, 1)


def rounded(matrix: Array, bits: int) -> Array:
    """Returns a matrix of floats as rationals with so many digits."""
    return np.array([[_short(float(x), bits) for x in row] for row in matrix], dtype=object).reshape(matrix.shape)


def _short(number: float, bits: int) -> Fraction:
    mantissa, exponent = math.frexp(number)
    return Fraction(round(mantissa * 2**bits)) * Fraction(2) ** (exponent - bits)


def _shown(matrices: Sequence[Matrix], form: Array) -> FallingForm | None:
    claims = Claims()
    claims.stated("p", form)
    if not claims.positive("p", form, lambda frame: np.full(len(frame), CLEARLY, dtype=object)):
        return None
    shown = all(_falls(claims, k, matrix, form) for k, matrix in enumerate(matrices))
    return FallingForm(form, claims.entries("fp", form), claims) if shown else None


def _falls(claims: Claims, k: int, matrix: Matrix, form: Array) -> bool:
    """Decides whether the form falls with a lap, and claims it."""
    middle = rounded(np.array([[float(x.middle) for x in row] for row in matrix]), LONG)
    pairs = (pair for row, line in zip(matrix, middle, strict=True) for pair in zip(row, line, strict=True))
    radius = _above(max(abs(x.middle - near) + x.reach for x, near in pairs))
    moved = claims.product(f"w{k}", form, middle, ("p", f"m{k}"))
    later = claims.product(f"g{k}", middle, moved, (f"m{k}", f"w{k}"), turned=True)
    names, falls = claims.stated(f"s{k}", form - later), range(len(form))
    claims.claims += [f"(= {names[i][j]} (- p_{i}_{j} g{k}_{i}_{j}))" for i in falls for j in falls]
    columns = np.abs(form).sum(axis=0)
    carried, total = columns @ np.abs(middle), columns.sum()

    def slack(frame: Array) -> Array:
        """M' P M changes by at most radius (c_i + c_j) + radius^2 sum |P| in each entry, c = 1' |P| |M|."""
        own, whole = frame.sum(axis=0), frame.sum()
        by_column = (carried @ frame) * whole + own * (carried @ frame.sum(axis=1))
        return np.asarray(radius * by_column + radius**2 * total * own * whole)

    return claims.positive(f"s{k}", form - later, slack)


def _above(number: Fraction) -> Fraction:
    """Returns a power of two that is no smaller; 0 for 0."""
    return Fraction(2) ** (number.numerator.bit_length() - number.denominator.bit_length() + 1) if number else number


def multiplied(left: Array, right: Array) -> Array:
    """Returns the product of two matrices of rationals, by whole numbers over one denominator."""
    (first, over), (second, under) = _whole(left), _whole(right)
    return np.array([[Fraction(x, over * under) for x in row] for row in first @ second], dtype=object)


def _whole(matrix: Array) -> tuple[Array, int]:
    scale = math.lcm(*(x.denominator for x in matrix.ravel()))
    whole = [x.numerator * (scale // x.denominator) for x in matrix.ravel()]
    return np.array(whole, dtype=object).reshape(matrix.shape), scale
