"""Defines affine terms over named unknowns, and guards: conjunctions of rows that detect contradictions.

The encoder works with names, as cells come and go while it follows an instant; `piecewise_affine.LinearForm` is
what is left when the order of the variables is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from coherence.verify.systems.piecewise_affine import Relation

Items: TypeAlias = tuple[tuple[str, Fraction], ...]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Term:
    """sum c * name + constant; names sorted, no zero coefficient."""

    items: Items
    constant: Fraction

    @property
    def known(self) -> bool:
        """Decides whether the term is a number: has no unknown."""
        return not self.items

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        """Returns the value under values of all names."""
        return sum((c * values[name] for name, c in self.items), self.constant)


def constant(value: Fraction | int) -> Term:
    """Returns a number."""
    return Term((), Fraction(value))


def unit(name: str) -> Term:
    """Returns the unknown itself."""
    return Term(((name, ONE),), ZERO)


def add(left: Term, right: Term, scale: Fraction = ONE) -> Term:
    """Returns left + scale * right."""
    if not right.items:
        return Term(left.items, left.constant + scale * right.constant)
    total = dict(left.items)
    for name, c in right.items:
        total[name] = total.get(name, ZERO) + scale * c
    return Term(tuple(sorted((n, c) for n, c in total.items() if c)), left.constant + scale * right.constant)


def scaled(term: Term, by: Fraction) -> Term:
    """Returns by * term."""
    return Term(tuple((n, by * c) for n, c in term.items) if by else (), by * term.constant)


def substituted(term: Term, new: Callable[[str], Term | None]) -> Term:
    """Returns the term with names replaced by terms (None keeps a name)."""
    total = Term((), term.constant)
    for name, c in term.items:
        total = add(total, new(name) or unit(name), c)
    return total


@dataclass(frozen=True, slots=True)
class StrictInterval:
    """low <= x <= high; strict ends are excluded; None is no end."""

    low: Fraction | None = None
    low_strict: bool = False
    high: Fraction | None = None
    high_strict: bool = False

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_strict or self.high_strict))

    def meet(self, other: StrictInterval) -> StrictInterval:
        """Returns the intersection."""
        low, low_strict = _tighter(self.low, self.low_strict, other.low, other.low_strict, lower=True)
        high, high_strict = _tighter(self.high, self.high_strict, other.high, other.high_strict, lower=False)
        return StrictInterval(low, low_strict, high, high_strict)


def _tighter(
    a: Fraction | None, a_strict: bool, b: Fraction | None, b_strict: bool, *, lower: bool
) -> tuple[Fraction | None, bool]:
    if a is None or b is None:
        return (b, b_strict) if a is None else (a, a_strict)
    if a == b:
        return a, a_strict or b_strict
    return (a, a_strict) if (a > b) is lower else (b, b_strict)


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction of rows: one span per direction (a term without constant whose first coefficient is 1)."""

    spans: Mapping[Items, StrictInterval] = field(default_factory=dict)

    def also(self, term: Term, relation: str) -> Guard | None:
        """Returns the guard with `term REL 0` too (`<=`, `<`, `==`); None where it contradicts what is known."""
        if not term.items:
            holds = term.constant < 0 if relation == "<" else term.constant == 0
            return self if holds or (relation == "<=" and term.constant < 0) else None
        lead = term.items[0][1]
        direction = tuple((name, c / lead) for name, c in term.items)
        edge, strict = -term.constant / lead, relation == "<"
        if relation == "==":
            span = StrictInterval(edge, False, edge, False)
        else:
            span = StrictInterval(None, False, edge, strict) if lead > 0 else StrictInterval(edge, strict, None, False)
        return self.within(direction, span)

    def within(self, direction: Items, span: StrictInterval) -> Guard | None:
        """Returns the guard with a direction in an interval too."""
        met = self.spans[direction].meet(span) if direction in self.spans else span
        return None if met.empty else Guard({**self.spans, direction: met})

    def joined(self, other: Guard) -> Guard | None:
        """Returns the conjunction of both."""
        if not other.spans or not self.spans:
            return self if self.spans else other
        both: Guard | None = self
        for direction, span in other.spans.items():
            both = both.within(direction, span) if both is not None else None
        return both

    def rows(self) -> Iterator[tuple[Term, Relation]]:
        """Yields the rows, `term REL 0`."""
        for direction, span in self.spans.items():
            if span.low is not None and span.low == span.high:
                yield Term(direction, -span.low), "=="
                continue
            if span.low is not None:
                yield Term(tuple((n, -c) for n, c in direction), span.low), "<" if span.low_strict else "<="
            if span.high is not None:
                yield Term(direction, -span.high), "<" if span.high_strict else "<="

    def fixed(self) -> dict[str, Fraction]:
        """Returns the names that the guard gives one value, with it."""
        return {d[0][0]: s.low for d, s in self.spans.items() if len(d) == 1 and s.low is not None and s.low == s.high}


TRUE = Guard()


def guard(rows: Iterable[tuple[Term, str]], start: Guard = TRUE) -> Guard | None:
    """Returns the conjunction of rows; None where they contradict each other."""
    conjunction: Guard | None = start
    for term, relation in rows:
        conjunction = conjunction.also(term, relation) if conjunction is not None else None
    return conjunction
