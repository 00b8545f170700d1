"""Evaluates a bound at inputs, or over ranges of them, in the direction that keeps it a bound.

A lower bound over a range of inputs is its least value there: below it nothing can be, whatever the inputs are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.minimums.bound import Bound, Inputs, Symbol, Trend, finite
from coherence.minimums.formulas import UndefinedError, number

Number = Fraction | float
Span = tuple[Number, Number]


@dataclass(frozen=True)
class Floor:
    """`low`: what holds for every input in the ranges; `high`: the largest value of the bound over them."""

    bound: Bound
    low: Number
    high: Number
    inputs: Mapping[str, Span]

    @property
    def point(self) -> bool:
        """Returns whether it is one number."""
        return self.low == self.high


def at(bound: Bound, inputs: Inputs) -> Number:
    """Returns the bound at one point (SI).  A float stands for its shortest decimal: 0.1 is a tenth.

    Raises UsageError for inputs that are missing, unknown or outside their range.
    """
    _known(bound, inputs)
    inputs = {name: _decimal(here) for name, here in inputs.items()}
    for symbol in bound.symbols:
        given = inputs[symbol.name]
        if symbol.way is Trend.LIST:
            continue  # `compute` looks at what it holds
        if not symbol.allows(given):
            shown = f"{float(given):g}" if finite(given) or isinstance(given, float) else "a number beyond 1.8e308"
            raise UsageError(f"{symbol.name} = {shown} of {bound.name}: {range_text(symbol)}")
    if bound.valid and not number(bound.valid, inputs):
        raise UsageError(f"{bound.name} holds where {bound.valid}, not at {_inputs_text(bound, inputs)}")
    try:
        value = bound.compute(inputs) if bound.compute is not None else number(bound.formula, inputs)
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        raise UndefinedError(f"{bound.name} has no value at {_inputs_text(bound, inputs)}: {error}") from None
    if not finite(value) and not (bound.compute is not None and value == math.inf):
        raise UndefinedError(f"{bound.name} has no finite value at {_inputs_text(bound, inputs)}")
    return value


def over(bound: Bound, spans: Mapping[str, Span]) -> Floor:
    """Returns the bound over ranges, at the corners where it is least and greatest.

    Raises UsageError for a range of a symbol in which the bound is not monotone.
    """
    _known(bound, spans)
    for symbol in bound.symbols:
        low, high = spans[symbol.name]
        if symbol.way is Trend.LIST:
            continue
        if low > high:
            raise UsageError(f"{symbol.name} of {bound.name}: the range {float(low):g} .. {float(high):g} is empty")
        if low != high and symbol.way is Trend.NEITHER:
            raise UsageError(f"{bound.name} is not monotone in {symbol.name}: give one value of it, not a range")
    least = {s.name: spans[s.name][1 if s.way is Trend.FALLS else 0] for s in bound.symbols}
    most = {s.name: spans[s.name][0 if s.way is Trend.FALLS else 1] for s in bound.symbols}
    low, high = at(bound, least), at(bound, most)
    if low < 0:  # below zero a factor that raises the bound lowers it: every corner counts
        values = [at(bound, corner) for corner in _corners(spans)]
        low, high = min(low, *values), max(high, *values)
    return Floor(bound, low, high, dict(spans))


def _corners(spans: Mapping[str, Span]) -> Iterator[Inputs]:
    for ends in itertools.product(*(dict.fromkeys(span) for span in spans.values())):
        yield dict(zip(spans, ends, strict=True))


def _decimal(given: Any) -> Any:
    """Returns what a float is written as, exactly: 0.1 + 0.2 fills a bin of 0.3."""
    if isinstance(given, float) and math.isfinite(given):
        return Fraction(str(float(given)))
    return tuple(map(_decimal, given)) if type(given) is tuple else given


def _known(bound: Bound, given: Mapping[str, object]) -> None:
    missing = [name for name in bound.names if name not in given]
    if missing:
        raise UsageError(f"{bound.name} needs {', '.join(f'{n} ({bound.symbol(n).means})' for n in missing)}")
    strange = next((name for name in given if name not in bound.names), None)
    if strange is not None:
        raise UsageError(f"{bound.name} has no symbol '{strange}': {did_you_mean(strange, bound.names)}")


def range_text(symbol: Symbol) -> str:
    """Returns the values that a symbol may take, in words."""
    kind = "a whole number" if symbol.whole else "a number"
    low = "" if symbol.least == -math.inf else f" {'above' if symbol.open_ else 'of at least'} {symbol.least:g}"
    high = "" if symbol.most == math.inf else f"{' and' if low else ''} at most {symbol.most:g}"
    return f"{kind}{low}{high} {symbol.unit if symbol.unit != '1' else ''}".rstrip()


def _inputs_text(bound: Bound, inputs: Inputs) -> str:
    listed = {symbol.name for symbol in bound.symbols if symbol.way is Trend.LIST}
    return ", ".join(f"{name} = {float(inputs[name]):g}" for name in bound.names if name not in listed)
