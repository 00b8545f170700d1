"""contradicted influence: the telemetry shows a declared influence with the opposite sign.

## What
The sign of an influence follows from the design: more arrivals, more backlog; more replicas, less utilisation.  A
fitted coefficient whose interval, at 1 % over all declared influences, lies on the other side of zero contradicts it.

## Why it hurts
Every verdict about the loop rests on that sign: a loop that works against its own sensor drives to its limit.

## Example
```yaml
coherence: 1
components: {pool: {busy: load.offered - pool.ready * weight, weight: 0 .. 10}}   # telemetry: busy rises with ready
```

## Instead
```yaml
coherence: 1
components: {pool: {busy: load.offered + pool.ready * weight, weight: 0 .. 10}}   # busy while it warms up
```

## Source
Holm (1979); conditions.md, sensors first (at least 7 of 16 autoscaler conflicts are sensor faults, sign among them).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.fitting.fit import FittedNode
    from coherence.causal.session.context import Context

QUESTION = Question("COH402", "contradicted-influence", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
LEVEL = 0.01


def ask(context: Context) -> Iterator[Finding]:
    """One error for each influence whose fitted sign is the opposite of the declared one."""
    declared = _signs(context)
    tests = max(len(declared), 1)
    for (cause, effect), sign in declared.items():
        node = context.fitted.nodes.get(effect)
        strength = _strength(node, cause) if node is not None else None
        if node is None or strength is None or strength[0] * sign >= 0 or strength[1] * tests > LEVEL:
            continue
        word = "raises" if sign > 0 else "lowers"
        message = (
            f"the design says that {cause} {word} {effect}; the telemetry says {render_number(strength[0])} per unit"
        )
        numbers = {
            "strength": (strength[0], ""),
            "p, over all declared influences": (min(strength[1] * tests, 1.0), ""),
        }
        evidence = Evidence(Grade.ESTIMATED, f"least squares ({node.equation.method}), jackknife", numbers=numbers)
        yield QUESTION.conflict(message, _places(context, cause, effect, word), (cause, effect), evidence)


def _signs(context: Context) -> Mapping[tuple[str, str], int]:
    """(cause, effect) -> declared sign, where every declaration of the pair agrees on one."""
    signs_of: dict[tuple[str, str], set[int]] = {}
    for influence in context.fitted.graph.influences:
        if influence.cause != influence.effect:
            signs_of.setdefault((influence.cause, influence.effect), set()).add(influence.sign)
    return {pair: signs.pop() for pair, signs in signs_of.items() if len(signs) == 1 and 0 not in signs}


def _strength(node: FittedNode, cause: str) -> tuple[float, float] | None:
    """(lasting coefficient, p of its weakest delay); None where it was not told or its delays disagree."""
    mine = [index for index, (name, _) in enumerate(node.equation.columns) if name == cause]
    if not mine or node.equation.exact or any(node.equation.columns[index] in node.equation.lost for index in mine):
        return None
    parts = [float(node.coefficients[0, index]) for index in mine]
    if min(parts) < 0 < max(parts):
        return None
    return sum(parts), max(float(node.p[index]) for index in mine)


def _places(context: Context, cause: str, effect: str, word: str) -> list[Place]:
    declaring = [place for one in context.fitted.graph.into(effect) if one.cause == cause for place in one.places]
    found = declaring or [context.graph.places.get(effect, Place(context.design.file, 1, 1, 1, 1))]
    return [place.labelled(f"{cause} {word} {effect}") for place in dict.fromkeys(found)]
