"""Holds one path through an instant: assumptions, cells and counters; and moves or rounds a value symbolically."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.model.model import Interval, Model, SampledLoop
from coherence.verify.systems.cases import AffineCase, exactly
from coherence.verify.systems.terms import Guard, Term, add, constant, guard, scaled, unit

LESS = Fraction(-1)


@dataclass(frozen=True, slots=True)
class InstantPath:
    """One way through an instant: what was assumed, what cells hold now, counters and modes, and who acted."""

    guard: Guard
    cells: dict[str, Term]
    memory: dict[str, Fraction]
    label: tuple[str, ...] = ()

    def cell(self, name: str) -> Term:
        """Returns the present value of a cell."""
        return self.cells.get(name) or unit(name)

    def under(self, more: Guard) -> InstantPath | None:
        """Returns the path under one more guard; None where it contradicts."""
        joined = self.guard.joined(more)
        return None if joined is None else replace(self, guard=joined)

    def holding(self, cells: dict[str, Term]) -> InstantPath:
        """Returns the path with cells written."""
        return replace(self, cells={**self.cells, **cells})

    def remembering(self, memory: dict[str, Fraction]) -> InstantPath:
        """Returns the path with counters or modes changed."""
        return replace(self, memory={**self.memory, **memory})


@dataclass(frozen=True, slots=True)
class Wish:
    """What the law asks for, before anything limits it."""

    wanted: Term
    always_bounded: bool  # a proportional law whose command is outside its bounds goes to the bound


def commanded_cell(signal: str, model: Model) -> str:
    """Returns the cell with what was last commanded: the signal itself where commands land at once."""
    late = any(loop.lands for loop in model.loops if loop.signal == signal)
    return f"{signal} commanded" if late else signal


def steps_of(seconds: Fraction, loop: SampledLoop) -> int:
    """Returns how many samples before this one lie in a closed window."""
    return math.floor(seconds / loop.period)


def whole(function: str, term: Term, fresh: Callable[[str], str]) -> list[AffineCase]:
    """Returns ceil or floor of a term: an unknown within one of it."""
    if term.known:
        return exactly(constant(math.ceil(term.constant) if function == "ceil" else math.floor(term.constant)))
    rounded = unit(fresh(f"{function} {term}"))
    first, last = (term, rounded) if function == "ceil" else (rounded, term)
    rows = guard([(add(first, last, LESS), "<="), (add(add(last, first, LESS), constant(-1)), "<")])
    return [AffineCase(rows, rounded)] if rows is not None else []


def clipped(case: AffineCase, interval: Interval) -> list[AffineCase]:
    """Returns the cases of a value moved into an interval."""
    cases: list[AffineCase] = []
    inside: Guard | None = case.guard
    for edge, sign in ((interval.low, 1), (interval.high, -1)):
        if edge is None:
            continue
        beyond = scaled(add(case.value, constant(edge), LESS), Fraction(sign))  # < 0 beyond the edge
        outside = case.guard.also(beyond, "<")
        cases += [AffineCase(outside, constant(edge))] if outside is not None else []
        inside = inside.also(scaled(beyond, LESS), "<=") if inside is not None else None
    return [*cases, AffineCase(inside, case.value)] if inside is not None else cases
