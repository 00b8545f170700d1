"""Rows and systems for tests of the provers, written as a reader would: coefficients, relation, bound."""

from __future__ import annotations

from fractions import Fraction

from coherence.base.solver import unsat
from coherence.verify.systems.piecewise_affine import (
    AffineEdge,
    Constraint,
    LinearForm,
    Polyhedron,
    Relation,
    TransitionSystem,
)

Number = Fraction | int | str
RELATIONS: dict[str, Relation] = {"<=": "<=", "<": "<", "==": "==", ">=": "<=", ">": "<"}


def linear(coefficients: tuple[Number, ...], constant: Number = 0) -> LinearForm:
    return LinearForm(tuple(Fraction(c) for c in coefficients), Fraction(constant))


def row(coefficients: tuple[Number, ...], relation: str, bound: Number) -> Constraint:
    """Returns `coefficients . x REL bound`, with >= and > turned round."""
    sign = -1 if relation in {">=", ">"} else 1
    turned = LinearForm(tuple(sign * Fraction(c) for c in coefficients), -sign * Fraction(bound))
    return Constraint(turned, RELATIONS[relation])


def axis(width: int, i: int) -> tuple[int, ...]:
    return tuple(int(k == i) for k in range(width))


def between(width: int, i: int, low: Number, high: Number) -> Polyhedron:
    return row(axis(width, i), ">=", low), row(axis(width, i), "<=", high)


def one_state(
    factor: Number, constant: Number, start: tuple[Number, Number], bad: Polyhedron, guard: Polyhedron = ()
) -> TransitionSystem:
    """Returns x' = factor x + constant in one mode `m`, from an interval of starts."""
    edge = AffineEdge("m", "m", guard, (linear((factor,), constant),), "step")
    return TransitionSystem(("x",), (), (("m", between(1, 0, *start)),), (edge,), (("m", bad),))


def is_unsat(script: str) -> bool:
    """Decides whether z3 answers unsat to a script."""
    return unsat(script, timeout_ms=10_000).unsat


def figures(*values: object) -> tuple[object, ...]:
    """Returns several values to compare with literal ones."""
    return values
