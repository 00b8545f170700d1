"""negative remainder: the declared causes would make more than the whole loss.

## What
Shares of a loss are told against every cause at 0.  Where the line that is fitted meets 0 of its causes far below 0
of the loss, the causes get more than the whole, and what is unexplained is negative.  It is told where at least 5 %
of the loss are below 0, at 1 %, and the expression has no negative constant.

## Why it hurts
The causes were never measured at 0: the shares are read off a line beyond its data.  Mostly the line is wrong (a
threshold, a square, a cause that always acts together with another).

## Example
```yaml
coherence: 1
components: {job: {loss: src.a * k, k: 0 .. 10}}   # the telemetry: nothing below src.a = 2, then 5 for each unit
```

## Instead
```yaml
coherence: 1
components: {job: {loss: "max(src.a - 2, 0) * k", k: 0 .. 10}}   # or a reference: fit --reference src.a=2
```

## Source
Student's t over the batches of the filtered equation.
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

QUESTION = Question("COH407", "negative-remainder", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)


def ask(context: Context) -> Iterator[Finding]:
    """One warning where the causes of the loss that is asked for make more than all of it."""
    from coherence.causal.session.remainders import negative_remainder

    remainder = negative_remainder(context)
    if remainder is None:
        return
    loss = remainder.loss
    words = {name: render_number(value, 3) for name, value in vars(remainder).items() if name != "loss"}
    message = (
        f"the causes of {loss} make more than all of it: {words['measured']} is measured, and with every cause at 0 "
        f"the fitted line is at {words['level']} ({words['low']} .. {words['high']}), where nothing was measured"
    )
    numbers = {name: (value, "") for name, value in vars(remainder).items() if name != "loss"}
    place = context.graph.places.get(loss, Place(context.design.file, 1, 1, 1, 1))
    evidence = Evidence(Grade.ESTIMATED, "filtered regression, t over batches", numbers=numbers)
    yield QUESTION.conflict(
        message, [place.labelled(f"{loss} has its declared causes here")], (loss,), evidence, certain=False
    )
