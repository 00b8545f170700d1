"""Finds the factors that a design declares of measured signals, and what the telemetry says of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree, names

if TYPE_CHECKING:
    from coherence.causal.fitting.fit import Fitted, FittedNode
    from coherence.causal.session.context import Context

Reach = tuple[float, float]


@dataclass(frozen=True)
class DeclaredStrength:
    """The factor of a cause in an expression: between which numbers it lies, and where that is written.

    `constants`: the names in it; `per_unit`: where there is one, the factor for each unit of it, if proportional.
    """

    cause: str
    effect: str
    reach: Reach
    constants: tuple[str, ...]
    per_unit: float | None


def declared_strengths(context: Context) -> Iterator[DeclaredStrength]:
    """Every factor of a measured signal in the expression of another, where constants alone say what it is."""
    from coherence.causal.attribution.mechanism_formulas import affine, without_past
    from coherence.language.expressions.tree import rename

    model, seen = context.model, set(context.fitted.signals)
    ranges = constant_ranges(context)
    for effect, expression in model.outputs.items():
        if effect not in seen:
            continue
        plain = rename(without_past(expression), model.resolve)
        factors = affine(plain, seen & set(names(plain))) or {}
        for cause, tree in factors.items():
            reach = _reach(tree, ranges) if cause and cause != effect else None
            if reach is not None:
                constants = tuple(dict.fromkeys(names(tree)))
                yield DeclaredStrength(cause, effect, reach, constants, _per_unit(tree, constants))


def _per_unit(tree: Tree, constants: tuple[str, ...]) -> float | None:
    if len(constants) != 1:
        return None
    at = [_reach(tree, {constants[0]: (number, number)}) for number in (0.0, 1.0, 2.0)]
    nothing, single, double = (reach[0] if reach is not None else math.nan for reach in at)
    return single if single and nothing == 0 and double == 2 * single else None


def constant_ranges(context: Context) -> Mapping[str, Reach]:
    """Returns between which numbers each constant of the design lies, in the units of the model."""
    from coherence.causal.attribution.mechanisms import constants_of

    known = constants_of(context.model).items()
    return {path: value if isinstance(value, tuple) else (value, value) for path, value in known}


def _reach(tree: Tree, ranges: Mapping[str, Reach]) -> Reach | None:
    """Between which numbers an expression of constants lies; None where something else is in it, or a 0 divides."""
    match tree:
        case Number(value=value):
            return float(value), float(value)
        case Name(path=path):
            return ranges.get(path)
        case Arithmetic(op=op, left=left, right=right):
            first, second = _reach(left, ranges), _reach(right, ranges)
            if first is None or second is None or (op == "/" and second[0] <= 0 <= second[1]):
                return None
            return _combined(op, first, second)
    return None


def _combined(op: str, first: Reach, second: Reach) -> Reach | None:
    pairs = [(former, latter) for former in first for latter in second]
    match op:
        case "+":
            corners = [former + latter for former, latter in pairs]
        case "-":
            corners = [former - latter for former, latter in pairs]
        case "*":
            corners = [former * latter if former and latter else 0.0 for former, latter in pairs]
        case "/":
            corners = [former / latter for former, latter in pairs]
        case _:
            return None
    return None if any(map(math.isnan, corners)) else (min(corners), max(corners))


def equation_for(fitted: Fitted, factor: DeclaredStrength) -> FittedNode | None:
    """The equation that tells the strength; None where it is not told, or stands for something else."""
    node = fitted.nodes.get(factor.effect)
    if node is None or node.equation.exact or node.equation.replaced or node.equation.refused:
        return None
    mine = [column for column in node.equation.columns if column[0] == factor.cause]
    return node if mine and all(map(node.identifies, mine)) else None


def lasting_strength(node: FittedNode, cause: str, level: float) -> tuple[float, float, float]:
    """(strength over all delays, its interval at a level)."""
    from coherence.causal.answers.intervals import jackknife

    mine = [index for index, (name, _) in enumerate(node.equation.columns) if name == cause]
    sums = node.coefficients[:, mine].sum(axis=1)
    low, high, _ = jackknife(sums[0], sums[1:], level=1 - level)
    return float(sums[0]), float(low), float(high)
