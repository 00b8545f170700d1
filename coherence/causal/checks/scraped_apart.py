"""scraped apart: a cause and its effect change at different moments of their scrapes and are never measured together.

## What
A signal that is scraped every two minutes and read every 15 s rests between its scrapes.  Where a cause and its
effect both do, with unequal periods or at different moments of one period, each sample compares values of different
ages.  What loops write rests between their turns, and is left out, as are moments that a declared delay explains.

## Why it hurts
Strengths come out too small, and their intervals do not hold the true value.

## Example
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 0 .. 10}}   # src.a scraped at 0, 120, 240 s; job.loss at 45, 165, 285 s
```

## Instead
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 0 .. 10}}   # both scraped at once, or fit --step 600 for slow signals
```

## Source
Epps (1979): comovement vanishes between values that are not measured together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.number_text import render_decimal
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.session.context import Context

QUESTION = Question("COH408", "scraped-apart", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)


def ask(context: Context) -> Iterator[Finding]:
    """One warning for each declared influence between signals that are never measured together."""
    from coherence.causal.session.scrapes import scraped_apart

    if context.chunks is not None:
        return
    step, file = context.series.step, Place(context.design.file, 1, 1, 1, 1)
    for cause, effect, first, second in scraped_apart(context.series, context.fitted.graph):
        held = [f"{render_decimal(scrape.every * step)} s" for scrape in (first, second)]
        apart = f" and {render_decimal((second.moment - first.moment) % first.every * step)} s later"
        message = (
            f"{cause} changes every {held[0]}, {effect} every {held[1]}{apart if first.every == second.every else ''}: "
            "they are never measured together, so what is told of the one acting on the other is too weak; scrape "
            "them at once, or compare means over a longer step (--step)"
        )
        numbers = {"cause's period": (first.every * step, "s"), "effect's period": (second.every * step, "s")}
        evidence = Evidence(Grade.ESTIMATED, "moments at which the signals change", numbers=numbers)
        place = context.graph.places.get(effect, file).labelled(f"{effect} has its declared causes here")
        yield QUESTION.conflict(message, [place], (cause, effect), evidence, certain=False)
