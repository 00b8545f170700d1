"""Writes the proof obligations of an invariant as SMT-LIB 2 texts in QF_LRA; each must be unsatisfiable.

An invariant maps each mode to alternatives (a union of polyhedra over the state variables): no
alternative is `false` (the mode is never entered), one empty alternative is `true`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from coherence.base.errors import InternalError
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, Polyhedron, TransitionSystem

Invariant: TypeAlias = Mapping[str, tuple[Polyhedron, ...]]


@dataclass(frozen=True, slots=True)
class Obligation:
    """One claim of a proof; `smtlib` is a whole script that asserts its negation and must be unsat."""

    name: str
    smtlib: str


def obligations(system: TransitionSystem, invariant: Invariant) -> tuple[Obligation, ...]:
    """Returns the obligations: initiation for each initial set, consecution for each edge, safety for each bad set."""
    writer = _writer(system, invariant)
    return (*writer.initiation(), *writer.consecution(), *writer.safety())


def certificate(system: TransitionSystem, invariant: Invariant) -> str:
    """Returns all obligations as one script, the negation of their conjunction: unsat exactly when each of them is."""
    writer = _writer(system, invariant)
    claims = [*writer.initiation_claims(), *writer.consecution_claims(), *writer.safety_claims()]
    body = "\n".join(f"  {_comment(name)}\n  {_and(rows)}" for name, rows in claims)
    claim = f"(assert (or false\n{body}\n))"
    return _script("invariant", writer.declare(choices=True), writer.define(system.modes), claim)


def _writer(system: TransitionSystem, invariant: Invariant) -> _Writer:
    clash = {_inside(mode) for mode in system.modes} & {_symbol(n) for n in system.variables + system.choices}
    if clash:
        raise InternalError(f"variable {clash.pop()} has the name of a predicate of the certificate")
    return _Writer(system, invariant)


@dataclass(frozen=True, slots=True)
class _Writer:
    system: TransitionSystem
    invariant: Invariant

    def initiation(self) -> Iterator[Obligation]:
        for (name, rows), (mode, _) in zip(self.initiation_claims(), self.system.initial, strict=True):
            yield self._obligation(name, rows, (mode,), choices=False)

    def consecution(self) -> Iterator[Obligation]:
        for (name, rows), edge in zip(self.consecution_claims(), self.system.edges, strict=True):
            yield self._obligation(name, rows, dict.fromkeys((edge.source, edge.target)), choices=True)

    def safety(self) -> Iterator[Obligation]:
        for (name, rows), (mode, _) in zip(self.safety_claims(), self.system.bad, strict=True):
            yield self._obligation(name, rows, (mode,), choices=False)

    def initiation_claims(self) -> Iterator[tuple[str, list[str]]]:
        for number, (mode, polyhedron) in enumerate(self.system.initial, 1):
            rows = [*self._rows(polyhedron), f"(not {self._holds(mode)})"]
            yield f"initiation {number}: initial states of mode {mode}", rows

    def consecution_claims(self) -> Iterator[tuple[str, list[str]]]:
        for number, edge in enumerate(self.system.edges, 1):
            name = f"consecution {number}: edge {edge.label} from {edge.source} to {edge.target}"
            yield name, [self._holds(edge.source), *self._rows(edge.guard), f"(not {self._holds_after(edge)})"]

    def safety_claims(self) -> Iterator[tuple[str, list[str]]]:
        for number, (mode, polyhedron) in enumerate(self.system.bad, 1):
            yield f"safety {number}: bad states of mode {mode}", [self._holds(mode), *self._rows(polyhedron)]

    def declare(self, *, choices: bool) -> str:
        names = self.system.variables + (self.system.choices if choices else ())
        return "\n".join(f"(declare-const {_symbol(name)} Real)" for name in names)

    def define(self, modes: Iterable[str]) -> str:
        """Returns one predicate per mode, over the state variables."""
        arguments = " ".join(f"({_symbol(name)} Real)" for name in self.system.variables)
        return "\n".join(f"(define-fun {_inside(m)} ({arguments}) Bool {self._alternatives(m)})" for m in modes)

    def _alternatives(self, mode: str) -> str:
        return _or([_and(list(self._rows(polyhedron))) for polyhedron in self.invariant[mode]])

    def _holds(self, mode: str) -> str:
        return _apply(_inside(mode), [_symbol(name) for name in self.system.variables])

    def _holds_after(self, edge: AffineEdge) -> str:
        return _apply(_inside(edge.target), [_term(row, self._names) for row in edge.update])

    def _rows(self, polyhedron: Polyhedron) -> Iterator[str]:
        return (_row(constraint, self._names) for constraint in polyhedron)

    @property
    def _names(self) -> tuple[str, ...]:
        return self.system.variables + self.system.choices

    def _obligation(self, name: str, rows: list[str], modes: Iterable[str], *, choices: bool) -> Obligation:
        asserts = "\n".join(f"(assert {row})" for row in rows)
        return Obligation(name, _script(name, self.declare(choices=choices), self.define(modes), asserts))


def _script(name: str, *parts: str) -> str:
    return "\n".join([_comment(name), "(set-logic QF_LRA)", *(part for part in parts if part), "(check-sat)", ""])


def _comment(name: str) -> str:
    """Returns a comment of one line, whatever the name: a label must not become a command."""
    return "; " + " ".join(name.split())


def _apply(function: str, arguments: list[str]) -> str:
    return f"({function} {' '.join(arguments)})" if arguments else function


def _and(rows: list[str]) -> str:
    return "true" if not rows else rows[0] if len(rows) == 1 else f"(and {' '.join(rows)})"


def _or(rows: list[str]) -> str:
    return "false" if not rows else rows[0] if len(rows) == 1 else f"(or {' '.join(rows)})"


def _row(constraint: Constraint, names: tuple[str, ...]) -> str:
    """Returns the term `sum c_i x_i REL -constant`, so that a bound stands where a reader expects it."""
    linear = constraint.linear
    relation = "=" if constraint.relation == "==" else constraint.relation
    left = _term(LinearForm(linear.coefficients, Fraction(0)), names)
    return f"({relation} {left} {number(-linear.constant)})"


def _term(linear: LinearForm, names: tuple[str, ...]) -> str:
    products = [_product(c, name) for c, name in zip(linear.coefficients, names, strict=False) if c]
    parts = products + ([number(linear.constant)] if linear.constant or not products else [])
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _product(coefficient: Fraction, name: str) -> str:
    if coefficient == 1:
        return _symbol(name)
    return f"(- {_symbol(name)})" if coefficient == -1 else f"(* {number(coefficient)} {_symbol(name)})"


def number(value: Fraction) -> str:
    """Returns an exact rational as SMT-LIB reads it: 5 is `5.0`, -2/3 is `(- (/ 2.0 3.0))`."""
    size = abs(value)
    text = f"{size.numerator}.0" if size.denominator == 1 else f"(/ {size.numerator}.0 {size.denominator}.0)"
    return text if value >= 0 else f"(- {text})"


def _symbol(name: str) -> str:
    """Returns a quoted symbol.  SMT-LIB allows neither bar nor backslash inside; such names are refused."""
    if "|" in name or "\\" in name:
        raise InternalError(f"{name!r} cannot be written in SMT-LIB")
    return f"|{name}|"


def _inside(mode: str) -> str:
    return _symbol(f"inside {mode}")
