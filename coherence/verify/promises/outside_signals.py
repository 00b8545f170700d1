"""Reads signals from outside a design that conditions compare with numbers: each sample finds any value.

What is only compared with numbers decides nothing but which of these comparisons hold.  A value that varies from below
the least of the numbers to above the greatest takes every such pattern, so that it stands for all values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.units import Dimension
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree
from coherence.language.sentences import Promise
from coherence.model.crossings import at_crossings
from coherence.model.model import Constant, Interval, Model, SampledLoop

BEYOND = Fraction(1)  # how far past the numbers that it is compared with
Compared = tuple[str, Number]


def prepared(model: Model, promise: Promise) -> Model:
    """Returns the model in which switches act at crossings and outside signals, for a promise of all times, vary."""
    whole = at_crossings(model)
    asked = promise.kind in ("always", "never") and whole.inputs and not any(map(_is_crossed, whole.loops))
    return _with_outside(whole, promise) if asked else whole


def _is_crossed(loop: SampledLoop) -> bool:
    """Decides whether the least command of a loop is above the greatest: its bounds say nothing."""
    low, high = loop.bounds.low, loop.bounds.high
    return low is not None and high is not None and low > high


def _with_outside(model: Model, promise: Promise) -> Model:
    """Returns the model with each outside signal that loops alone read, in comparisons alone, as one that varies."""
    decided = [tree for loop in model.loops for tree in loop.trees]
    others = [*model.outputs.values(), *(tree for state in model.states.values() for tree in state.trees)]
    others += [promise.condition.tree] if promise.condition is not None else []
    elsewhere = {model.resolve(name) for tree in others for name in names_of(tree)}
    compared: dict[str, list[Number]] = {}
    for tree in decided:
        for path, number in _comparisons(tree, elsewhere):
            compared.setdefault(path, []).append(number)
    varying = {
        path: _varying(model, path, compared[path])
        for path in model.inputs
        if path in compared and path not in elsewhere and _alike(model.inputs[path], compared[path])
    }
    left = {path: dimension for path, dimension in model.inputs.items() if path not in varying}
    return replace(model, constants={**model.constants, **varying}, inputs=left) if varying else model


def _comparisons(tree: Tree, elsewhere: set[str]) -> Iterator[Compared]:
    """Yields each comparison of a name with a number; names that stand in any other place are put into `elsewhere`."""
    match tree:
        case Logic():
            for part in tree.terms:
                yield from _comparisons(part, elsewhere)
        case Compare(left=Name(path=path), right=Number() as number):
            yield path, number
        case Compare(left=Number() as number, right=Name(path=path)):
            yield path, number
        case _:
            elsewhere.update(names_of(tree))


def _alike(dimension: Dimension | None, numbers: list[Number]) -> bool:
    """Decides whether all numbers are of one unit, that of the signal where it is known."""
    return {number.dimension for number in numbers} <= {dimension or numbers[0].dimension}


def _varying(model: Model, path: str, numbers: list[Number]) -> Constant:
    """Returns an input that takes any value, as far as comparisons with the numbers can tell."""
    least, most = min(number.value for number in numbers), max(number.value for number in numbers)
    reader = next(loop for loop in model.loops if any(path in names_of(tree) for tree in loop.trees))
    span = Interval(least - BEYOND, most + BEYOND)
    return Constant(path, span, varies=True, dimension=numbers[0].dimension, place=reader.source.place)
