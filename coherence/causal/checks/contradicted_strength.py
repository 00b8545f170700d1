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
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.causal.session.declared_strengths import (
    DeclaredStrength,
    Reach,
    declared_strengths,
    equation_for,
    lasting_strength,
)
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.session.context import Context

QUESTION = Question("COH405", "contradicted-strength", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
LEVEL = 0.01
MATERIAL = 0.02  # of the measured strength: declared numbers are rounded
POWER = 0.1  # of a decade: how near to a power of ten a ratio is one of units


def ask(context: Context) -> Iterator[Finding]:
    """One error for each influence whose fitted strength lies outside of the declared one."""
    fitted = context.fitted
    declared = [
        (factor, node) for factor in declared_strengths(context) if (node := equation_for(fitted, factor)) is not None
    ]
    for factor, node in declared:
        strength, low, high = lasting_strength(node, factor.cause, LEVEL / len(declared))
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


def _units(strength: float, reach: Reach) -> str:
    """What a ratio near a power of ten mostly means."""
    middle = (reach[0] + reach[1]) / 2
    if not middle or not math.isfinite(middle) or strength / middle <= 0:
        return ""
    decades = math.log10(strength / middle)
    if round(decades) and abs(decades - round(decades)) <= POWER and abs(round(decades)) % 3 == 0:
        return f": 10^{round(decades)} times as much, so that a column may be in other units"
    return ""


def _places(context: Context, factor: DeclaredStrength, words: str) -> list[Place]:
    constants = context.model.constants
    stated = [constants[path].place for path in factor.constants if path in constants]
    expression = context.graph.places.get(factor.effect, Place(context.design.file, 1, 1, 1, 1))
    return [place.labelled(f"{words} of {factor.cause}") for place in dict.fromkeys([*stated, expression])]
