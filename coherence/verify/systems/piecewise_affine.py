"""Defines piecewise-affine transition systems over the reals, the one input of the unbounded prover.

A state is a mode and a point of R^n.  An edge may be taken when its guard holds, for any values of
the choices that satisfy the guard (choices are new in every step).  Nothing obliges an edge to be
taken.  A constant that is unknown is a state variable which every edge leaves as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from coherence.base.errors import InternalError

Relation: TypeAlias = Literal["<=", "<", "=="]


@dataclass(frozen=True)
class LinearForm:
    """The value sum c_i x_i + constant; the coefficients follow the order of the variables."""

    coefficients: tuple[Fraction, ...]
    constant: Fraction

    def at(self, point: Iterable[Fraction]) -> Fraction:
        """Returns the value at a point."""
        return sum((c * x for c, x in zip(self.coefficients, point, strict=True) if c), self.constant)


@dataclass(frozen=True)
class Constraint:
    """`linear` REL 0."""

    linear: LinearForm
    relation: Relation

    def holds(self, point: Iterable[Fraction]) -> bool:
        """Decides whether a point satisfies the constraint, exactly."""
        value = self.linear.at(point)
        return value < 0 if self.relation == "<" else value == 0 if self.relation == "==" else value <= 0


Polyhedron: TypeAlias = tuple[Constraint, ...]


@dataclass(frozen=True)
class AffineEdge:
    """One kind of step.  Guard and update range over the state variables, then the choices."""

    source: str
    target: str
    guard: Polyhedron
    update: tuple[LinearForm, ...]
    label: str


@dataclass(frozen=True)
class TransitionSystem:
    """Modes, edges, initial states and states to be avoided.

    `initial` and `bad` are unions of (mode, polyhedron over the state variables).  A promise about
    choices is an edge into a mode of its own that is bad.

    Raises InternalError when a row has the wrong number of coefficients or a name is used twice:
    a row cut short would be a wrong proof.
    """

    variables: tuple[str, ...]
    choices: tuple[str, ...]
    initial: tuple[tuple[str, Polyhedron], ...]
    edges: tuple[AffineEdge, ...]
    bad: tuple[tuple[str, Polyhedron], ...]

    def __post_init__(self) -> None:
        states, width = len(self.variables), len(self.variables) + len(self.choices)
        if len({*self.variables, *self.choices}) != width:
            raise InternalError(f"a name is used twice in {self.variables + self.choices}")
        for mode, polyhedron in self.initial + self.bad:
            _require(f"mode {mode}", (row.linear for row in polyhedron), states)
        for edge in self.edges:
            if len(edge.update) != states:
                raise InternalError(f"edge {edge.label}: {len(edge.update)} updates for {states} variables")
            _require(f"edge {edge.label}", (row.linear for row in edge.guard), width)
            _require(f"edge {edge.label}", edge.update, width)

    @property
    def modes(self) -> tuple[str, ...]:
        """Returns all modes that are named, in the order of their first appearance."""
        ends = (mode for edge in self.edges for mode in (edge.source, edge.target))
        named = (mode for mode, _ in self.initial + self.bad)
        return tuple(dict.fromkeys((*(mode for mode, _ in self.initial), *ends, *named)))


def _require(owner: str, rows: Iterable[LinearForm], width: int) -> None:
    for row in rows:
        if len(row.coefficients) != width:
            raise InternalError(f"{owner}: {len(row.coefficients)} coefficients for {width} variables")


def after(linear: LinearForm, update: tuple[LinearForm, ...]) -> LinearForm:
    """Returns the pre-image: `linear` of the next state, as a function of the present state and the choices."""
    total = [Fraction(0)] * (len(update[0].coefficients) if update else 0)
    constant = linear.constant
    for c, row in zip(linear.coefficients, update, strict=True):
        if c:
            constant += c * row.constant
            for i, d in enumerate(row.coefficients):
                if d:
                    total[i] += c * d
    return LinearForm(tuple(total), constant)


def step(
    edge: AffineEdge, state: tuple[Fraction, ...], choice: tuple[Fraction, ...] = ()
) -> tuple[Fraction, ...] | None:
    """Returns the exact next state, or None when the guard does not hold."""
    point = state + choice
    if not all(constraint.holds(point) for constraint in edge.guard):
        return None
    return tuple(row.at(point) for row in edge.update)
