"""misspecified influence: the telemetry shows a declared influence at another delay, or along another line.

## What
Beside each equation that is fitted, its causes are laid at delays that are not declared, squared, bent at their
quantiles, and multiplied by each other.  A term that explains at least 2 % of what the equation leaves, with errors
held below 1 % for all terms of all equations together, is told with the words that a design would have for it.
Equations in a circle, those whose expression is already bent, means over a time and streams are not tested.

## Why it hurts
A straight line through a bend has strengths that hold in one place alone, and its remainder is large and of the wrong
sign; a cause sought at the wrong delay is told as weak.

## Example
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 0 .. 10}}   # the telemetry: it follows src.a after 45 s
```

## Instead
```yaml
coherence: 1
components: {job: {loss: "delayed(src.a, 45 s) * k", k: 0 .. 10}}
```

## Source
Rao (1948), Wooldridge (1991): score tests; Bonferroni.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.session.context import Context
    from coherence.causal.session.specification import Misfit

QUESTION = Question("COH406", "misspecified-influence", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
ASSUMED = (
    "declared causes are measured as they act: noise in a sensor, or another clock, looks like a further delay",
    "a cause that neither the design nor the telemetry has may bend what is seen",
)
SAYS = {
    "delay": "{effect} follows {cause} at a delay that the design does not declare",
    "bend": "{effect} follows {cause} along no straight line",
    "together": "{effect} follows {cause} together, beyond what each does alone",
}


def ask(context: Context) -> Iterator[Finding]:
    """One warning for each term that an equation lacks."""
    for misfit in context.specification.misfits:
        message = (
            f"{SAYS[misfit.kind].format(effect=misfit.effect, cause=' and '.join(misfit.causes))}: the term "
            f"`{misfit.term} * c` with c = {render_number(misfit.slope, 3)} ({render_number(misfit.low, 3)} .. "
            f"{render_number(misfit.high, 3)}) explains {100 * misfit.explains:.0f} % of what is left"
        )
        numbers = {
            "slope": (misfit.slope, ""), "p, family-wise": (misfit.p, ""),
            "share of the rest that is explained": (misfit.explains, ""),
            "terms tested": (context.specification.tests, ""),
        }  # fmt: skip
        evidence = Evidence(Grade.ESTIMATED, "score test over batches, Bonferroni", numbers=numbers)
        yield QUESTION.conflict(
            message, [_place(context, misfit)], (*misfit.causes, misfit.effect), evidence, certain=False,
            assumptions=ASSUMED,
        )  # fmt: skip


def _place(context: Context, misfit: Misfit) -> Place:
    file = Place(context.design.file, 1, 1, 1, 1)
    return context.graph.places.get(misfit.effect, file).labelled(f"{misfit.effect} has its declared causes here")
