"""contradicted strength: the telemetry shows a declared influence with another strength than the design says.

## What
Where a signal is declared as a sum of others, each with a factor, the factor is a number or a range of the design.  A
fitted coefficient whose interval, at 1 % over all declared factors, lies outside of it contradicts it.  A ratio of a
power of ten mostly means that a column is in other units than the design.

## Why it hurts
Gains, waiting times and bounds are computed from these numbers: every verdict is about another system.

## Example
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 0 .. 0.1}}   # the telemetry says 2.04 per unit
```

## Instead
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 1.9 .. 2.2}}   # as measured
```

## Source
Bonferroni; Student's t over the jackknife's batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree, names

if TYPE_CHECKING:
    from coherence.causal.fitting.fit import Fitted, FittedNode
    from coherence.causal.session.context import Context

QUESTION = Question("COH405", "contradicted-strength", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
LEVEL = 0.01
MATERIAL = 0.02  # of the measured strength: declared numbers are rounded
POWER = 0.1  # of a decade: how near to a power of ten a ratio is one of units
Reach = tuple[float, float]


@dataclass(frozen=True)
class _Declared:
    """The factor of a cause in an expression: between which numbers it lies, and where that is written."""

    cause: str
    effect: str
    reach: Reach
    constants: tuple[str, ...]


def ask(context: Context) -> Iterator[Finding]:
    """One error for each influence whose fitted strength lies outside of the declared one."""
    fitted = context.fitted
    declared = [(factor, node) for factor in _declared(context) if (node := _equation_for(fitted, factor)) is not None]
    for factor, node in declared:
        strength, low, high = _lasting(node, factor.cause, LEVEL / len(declared))
        lower, upper = factor.reach
        margin = MATERIAL * abs(strength)
        opposite = strength * (lower + upper) < 0 <= lower * upper  # COH402 says so
        if opposite or (low - margin <= upper and high + margin >= lower):
            continue
        words = render_number(lower) if lower == upper else f"{render_number(lower)} .. {render_number(upper)}"
        measured = f"{render_number(strength)} ({render_number(low)} .. {render_number(high)})"
        message = (
            f"the design says that {factor.effect} has {words} of {factor.cause}; the telemetry says {measured}"
            f"{_units(strength, factor.reach)}"
        )
        numbers = {"measured": (strength, ""), "low": (low, ""), "high": (high, "")}
        evidence = Evidence(Grade.ESTIMATED, f"least squares ({node.equation.method}), jackknife", numbers=numbers)
        yield QUESTION.conflict(message, _places(context, factor, words), (factor.cause, factor.effect), evidence)


def _declared(context: Context) -> Iterator[_Declared]:
    """Every factor of a measured signal in the expression of another, where constants alone say what it is."""
    from coherence.causal.attribution.mechanism_formulas import affine, without_past
    from coherence.language.expressions.tree import rename

    model, seen = context.model, set(context.fitted.signals)
    ranges = _ranges(context)
    for effect, expression in model.outputs.items():
        if effect not in seen:
            continue
        plain = rename(without_past(expression), model.resolve)
        factors = affine(plain, seen & set(names(plain))) or {}
        for cause, tree in factors.items():
            reach = _reach(tree, ranges) if cause and cause != effect else None
            if reach is not None:
                yield _Declared(cause, effect, reach, tuple(dict.fromkeys(names(tree))))


def _ranges(context: Context) -> Mapping[str, Reach]:
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


def _equation_for(fitted: Fitted, factor: _Declared) -> FittedNode | None:
    """The equation that tells the strength; None where it is not told, or stands for something else."""
    node = fitted.nodes.get(factor.effect)
    if node is None or node.equation.exact or node.equation.replaced or node.equation.refused:
        return None
    mine = [column for column in node.equation.columns if column[0] == factor.cause]
    return node if mine and all(map(node.identifies, mine)) else None


def _lasting(node: FittedNode, cause: str, level: float) -> tuple[float, float, float]:
    """(strength over all delays, its interval at a level)."""
    from coherence.causal.answers.intervals import jackknife

    mine = [index for index, (name, _) in enumerate(node.equation.columns) if name == cause]
    sums = node.coefficients[:, mine].sum(axis=1)
    low, high, _ = jackknife(sums[0], sums[1:], level=1 - level)
    return float(sums[0]), float(low), float(high)


def _units(strength: float, reach: Reach) -> str:
    """What a ratio near a power of ten mostly means."""
    middle = (reach[0] + reach[1]) / 2
    if not middle or not math.isfinite(middle) or strength / middle <= 0:
        return ""
    decades = math.log10(strength / middle)
    if round(decades) and abs(decades - round(decades)) <= POWER and abs(round(decades)) % 3 == 0:
        return f": 10^{round(decades)} times as much, so that a column may be in other units"
    return ""


def _places(context: Context, factor: _Declared, words: str) -> list[Place]:
    constants = context.model.constants
    stated = [constants[path].place for path in factor.constants if path in constants]
    expression = context.graph.places.get(factor.effect, Place(context.design.file, 1, 1, 1, 1))
    return [place.labelled(f"{words} of {factor.cause}") for place in dict.fromkeys([*stated, expression])]
