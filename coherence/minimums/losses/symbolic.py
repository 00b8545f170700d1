"""Writes a composition of floors as one formula: sums, largest values and products of the formulas of its parts.

What may be composed is decided by `composition`; a symbol of two parts is one symbol where both have the same value,
else each has a number of its own (n_1, n_2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coherence.base.errors import UsageError
from coherence.minimums.floors import Span
from coherence.minimums.formulas import symbolic_form, sympy
from coherence.minimums.losses.composition import (
    BarrierTerm,
    KnownTerm,
    Leaf,
    Overlap,
    RepeatedTerm,
    Serial,
    Term,
    estimate,
    leaves,
)


@dataclass(frozen=True)
class ComposedFormula:
    """`form`: an expression of sympy; `spans`: the values of its symbols, by name (SI)."""

    form: Any
    spans: Mapping[str, Span]


def composed_formula(term: Term) -> ComposedFormula:
    """Returns the formula of a composition.  Raises UsageError for what does not compose, or has no formula."""
    estimate(term)
    spans: dict[str, Span] = {}
    names = {(id(leaf), symbol): _named(symbol, span, spans) for leaf in leaves(term) for symbol, span in _of(leaf)}
    return ComposedFormula(_form(term, names), spans)


def _of(leaf: Leaf) -> list[tuple[str, Span]]:
    return [(name, leaf.inputs[name]) for name in leaf.bound.names]


def _named(symbol: str, span: Span, spans: dict[str, Span]) -> str:
    """Returns the symbol itself, or with the first number under which nothing else stands."""
    number, name = 0, symbol
    while spans.get(name, span) != span:
        number += 1
        name = f"{symbol}_{number}"
    spans[name] = span
    return name


def _form(term: Term, names: Mapping[tuple[int, str], str]) -> Any:
    sp = sympy("one formula of a composition")
    match term:
        case Leaf(bound=bound):
            if not bound.formula:
                raise UsageError(f"{bound.name} is computed by a program, and has no closed formula")
            symbols = {name: sp.Symbol(names[id(term), name], positive=True) for name in bound.names}
            return symbolic_form(bound.formula, symbols)
        case KnownTerm(low=low):
            return sp.Rational(*low.as_integer_ratio())
        case Serial(parts=parts):
            return sp.Add(*(_form(part, names) for part in parts))
        case Overlap(parts=parts) | BarrierTerm(parts=parts):
            return sp.Max(*(_form(part, names) for part in parts))
        case RepeatedTerm(part=part, factor=factor):
            return _form(part, names) * _form(factor, names)
