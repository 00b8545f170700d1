"""unseen influence: a declared influence leaves no trace in the telemetry, and how large it could still be.

## What
Of all declared influences those that the data show are told at a false-discovery rate of 5 %; this names the others.
It is no contradiction: the interval says how strong the influence could be without being seen.

## Why it hurts
A loop whose action changes nothing is a loop that is not in control: its actuator may be disconnected, its effect
capped, or the telemetry too short.

## Example
```yaml
coherence: 1
components: {cache: {misses: cache.size * effect + load.requests * rate, effect: -10 .. 0, rate: 0 .. 1}}
```

## Instead
A longer record, or one in which `cache.size` changes more.

## Source
Benjamini and Hochberg (1995).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, Verdict
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.fitting.fit import Fitted, FittedNode
    from coherence.causal.fitting.gram import Column
    from coherence.causal.session.context import Context

QUESTION = Question("COH404", "unseen-influence", "ai.04 runtime control coherence", fires=Verdict.NOTE, proves=False)
QUESTIONS = (QUESTION,)


def ask(context: Context) -> Iterator[Finding]:
    """One note for each declared influence between measured signals that the data do not show."""
    fitted = context.fitted
    file = Place(context.design.file, 1, 1, 1, 1)
    for (cause, effect), seen in context.seen.items():
        node = fitted.nodes[effect]
        tied = {name for group in node.groups for name, _ in group}
        if seen or cause == effect or node.equation.exact or node.equation.lost or cause in tied:
            continue
        reach = _reach(node, cause)
        size = f": {render_number(reach)} per unit at most"
        if reach * _spread(fitted, (cause, 0)) >= _spread(fitted, (effect, 0)):
            size = f", nor that it does not: {effect} hardly moves by itself here, or {cause} does not"
        message = f"{cause} is declared to act on {effect}, and the telemetry shows nothing of it{size}"
        places = [place for one in fitted.graph.into(effect) if one.cause == cause for place in one.places]
        evidence = Evidence(Grade.ESTIMATED, "least squares, jackknife", numbers={"at most": (reach, "")})
        yield QUESTION.note(message, places[:1] or [context.graph.places.get(effect, file)], (cause, effect), evidence)


def _spread(fitted: Fitted, column: Column) -> float:
    """The standard deviation of a column among the rows that are fitted; 0 where it rests."""
    whole, (place,) = fitted.grams.whole, fitted.grams.index([column])
    rows = max(float(whole[0, 0]), 1.0)
    return math.sqrt(max(float(whole[place, place] - whole[0, place] ** 2 / rows) / rows, 0.0)) * float(
        fitted.grams.scale[place - 1]
    )


def _reach(node: FittedNode, cause: str) -> float:
    ends = [
        max(abs(float(node.low[index])), abs(float(node.high[index])))
        for index, (name, _) in enumerate(node.equation.columns)
        if name == cause
    ]
    return max(ends, default=float("nan"))
