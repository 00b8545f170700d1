"""Lowers steps over named unknowns to the edges, with coefficients, of a transition system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, Polyhedron, TransitionSystem
from coherence.verify.systems.terms import Guard, Term, constant, guard, substituted, unit

Named = tuple[str, Guard]  # a mode and a guard


@dataclass(frozen=True, slots=True)
class NamedEdge:
    """One edge over names: under the guard, cells take values; other variables keep theirs."""

    source: str
    target: str
    guard: Guard
    cells: dict[str, Term]
    label: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Variables of a state, inputs that every edge chooses, and unknowns that are new in each edge."""

    variables: tuple[str, ...]
    inputs: tuple[str, ...]
    fresh: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Plain:
    step: NamedEdge
    rows: list[tuple[Term, str]]
    cells: dict[str, Term]
    used: list[str]


def lowered(
    words: Vocabulary, initial: Sequence[Named], steps: Sequence[NamedEdge], bad: Sequence[Named], *, broken: str | None
) -> TransitionSystem:
    """Returns the system; `broken` is a mode that is bad whatever its state is."""
    plain = [_plain(words, step) for step in steps]
    most = max((len(p.used) for p in plain), default=0)
    choices = (*words.inputs, *(f"any {k + 1}" for k in range(most)))
    width = len(words.variables) + len(choices)
    place = {name: k for k, name in enumerate((*words.variables, *words.inputs))}
    edges = tuple(_edge(words, p, place, width) for p in plain)
    starts = tuple((m, _polyhedron(list(g.rows()), place, len(words.variables))) for m, g in initial)
    ends = tuple((m, _polyhedron(list(g.rows()), place, len(words.variables))) for m, g in bad)
    return TransitionSystem(
        words.variables, choices, starts, edges, (*ends, *(((broken, ()),) if broken is not None else ()))
    )


def _edge(words: Vocabulary, plain: _Plain, shared: dict[str, int], width: int) -> AffineEdge:
    place = {**shared, **{name: len(shared) + k for k, name in enumerate(plain.used)}}
    update = tuple(_linear(plain.cells.get(name) or unit(name), place, width) for name in words.variables)
    return AffineEdge(
        plain.step.source, plain.step.target, _polyhedron(plain.rows, place, width), update, plain.step.label
    )


def _plain(words: Vocabulary, step: NamedEdge) -> _Plain:
    """Returns rows and updates without unknowns that the guard fixes, and the fresh unknowns that are left."""
    fixed = {name: constant(v) for name, v in step.guard.fixed().items() if name in words.fresh}
    if fixed:
        reduced = guard((substituted(term, fixed.get), relation) for term, relation in step.guard.rows())
        rows = list(reduced.rows()) if reduced is not None else [(constant(1), "<=")]
        cells = {name: substituted(term, fixed.get) for name, term in step.cells.items()}
    else:
        rows, cells = list(step.guard.rows()), step.cells
    names = {n for term in (*(t for t, _ in rows), *cells.values()) for n, _ in term.items}
    return _Plain(step, [*rows], cells, sorted(names & words.fresh))


def _linear(term: Term, place: dict[str, int], width: int) -> LinearForm:
    row = [Fraction(0)] * width
    for name, c in term.items:
        row[place[name]] = c
    return LinearForm(tuple(row), term.constant)


def _polyhedron(rows: Sequence[tuple[Term, str]], place: dict[str, int], width: int) -> Polyhedron:
    return tuple(Constraint(_linear(term, place, width), relation) for term, relation in rows)  # type: ignore[arg-type]
