"""Ranks the inputs of a bound by their effect, and by what measuring them is worth.

Elasticity: the relative change of the bound per relative change of one input, d log(bound) / d log(input); exact
derivatives of the formula (sympy) where there is one, else central differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base.errors import MissingExtraError, UsageError
from coherence.minimums.bound import Bound, Inputs, Symbol, Trend
from coherence.minimums.floors import Floor, Number, Span, at, over
from coherence.minimums.formulas import number, symbolic_form, sympy

STEP = Fraction(1, 10**5)


@dataclass(frozen=True)
class Sensitivity:
    """`elasticity` of the bound in one symbol at a point; `exact`: from the derivative of the formula."""

    symbol: str
    elasticity: float
    exact: bool


def sensitivities(bound: Bound, inputs: Inputs) -> tuple[Sensitivity, ...]:
    """Returns one for each symbol, the strongest first.  Raises UsageError as `floors.at`."""
    here = at(bound, inputs)
    ranked = [
        _of_input(bound, inputs, symbol.name, here)
        for symbol in bound.symbols
        if isinstance(inputs[symbol.name], float | int | Fraction)
    ]
    return tuple(sorted(ranked, key=lambda one: (-abs(one.elasticity), one.symbol)))


def _of_input(bound: Bound, inputs: Inputs, name: str, here: Number) -> Sensitivity:
    if not here:
        return Sensitivity(name, 0.0, exact=False)
    exact = _derivative(bound, inputs, name) if bound.formula else None
    if exact is not None:
        return Sensitivity(name, exact * float(inputs[name]) / float(here), exact=True)
    step = 1 if bound.symbol(name).whole else STEP * abs(Fraction(inputs[name])) or STEP
    moved, after = _beside(bound, inputs, name, step)
    return Sensitivity(name, float(after - here) / float(moved) * float(inputs[name]) / float(here), exact=False)


def _beside(bound: Bound, inputs: Inputs, name: str, step: Number) -> tuple[Number, Number]:
    """Returns a step and the bound after it: a step back at the end of a range, the formula alone where neither holds.

    Raises UsageError where there is no formula.
    """
    for signed in (step, -step):
        try:
            return signed, at(bound, {**inputs, name: inputs[name] + signed})
        except UsageError:
            continue
    return step, number(bound.formula, {**inputs, name: inputs[name] + step})


def _derivative(bound: Bound, inputs: Inputs, name: str) -> float | None:
    """Returns the partial derivative in one symbol; None where it cannot be evaluated."""
    try:
        sp, form = sympy("exact derivatives"), symbolic_form(bound.formula)
    except MissingExtraError:
        return None
    symbols = {symbol.name: symbol for symbol in form.free_symbols}
    if name not in symbols:
        return 0.0
    if form.atoms(sp.core.function.AppliedUndef):  # a function that sympy does not know
        return None
    point = {symbols[n]: sp.Float(float(inputs[n]), 30) for n in symbols}
    try:
        slope = sp.diff(form, symbols[name]).subs(point).evalf(20)
        return float(slope) if slope.is_number else None
    except (TypeError, ValueError, AttributeError):
        return None


def slopes_at(floor: Floor) -> dict[str, Any]:
    """Returns the middle of all ranges; where the bound does not hold there, the ends at which it is least."""
    own = floor.bound
    middle = {name: _middle(own.symbol(name), *ends) for name, ends in floor.inputs.items()}
    if not own.valid or number(own.valid, middle):
        return middle
    return {name: ends[own.symbol(name).way is Trend.FALLS] for name, ends in floor.inputs.items()}


def _middle(symbol: Symbol, low: Any, high: Any) -> Any:
    """Returns the middle of a range; a whole number for a whole symbol."""
    if symbol.way is Trend.LIST:
        return low
    return low + (high - low) // 2 if symbol.whole else (low + high) / 2


@dataclass(frozen=True)
class Worth:
    """Measuring `symbol` exactly narrows the interval of the result from `width` to `left`, in the worst case."""

    symbol: str
    width: Number
    left: Number

    @property
    def narrowed(self) -> Number:
        return self.width - self.left


def value_of_telemetry(result: Callable[[Mapping[str, Span]], Span], spans: Mapping[str, Span]) -> tuple[Worth, ...]:
    """Returns for each input that is a range how wide the result stays when it is known, best first.

    `result` maps ranges of inputs to the range of the result.  In the worst case over the two ends of the range, so
    that what is promised of a measurement holds whatever it shows.
    """
    low, high = result(spans)
    gains = []
    for name, (least, most) in spans.items():
        if least == most:
            continue
        widths = [end[1] - end[0] for end in (result({**spans, name: (x, x)}) for x in (least, most))]
        gains.append(Worth(name, high - low, max(widths)))
    return tuple(sorted(gains, key=lambda gain: (gain.left, gain.symbol)))


def value_of_floor(floor: Floor) -> tuple[Worth, ...]:
    """Returns the inputs of a floor that are ranges, the one that widens it most first."""
    scalar = {s.name: floor.inputs[s.name] for s in floor.bound.symbols if s.way is not Trend.LIST}

    def result(spans: Mapping[str, Span]) -> Span:
        found = over(floor.bound, {**floor.inputs, **spans})
        return found.low, found.high

    return value_of_telemetry(result, scalar) if any(low != high for low, high in scalar.values()) else ()
