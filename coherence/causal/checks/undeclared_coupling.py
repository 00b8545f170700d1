"""undeclared coupling: the telemetry insists on an influence that the design does not have.

## What
The design says what acts on each signal.  Given these causes, everything else must have nothing to do with it; that
is tested for each pair of signals, with errors held below 1 % for the whole family of tests and signals that
remember their past, trends and the day accounted for.  What comes first is told first, and that is no proof that it
acts: something that nobody measures may act on both, on one of them later.

## Why it hurts
A verdict about a design holds for the influences in it.  A coupling that is not declared (a shared disk, a proxy that
two services have in common, a loop that nobody wrote down) is where proved designs fail.

## Example
```yaml
coherence: 1
components:
  trainer: {step_time: loader.wait * weight, weight: 0 .. 10}      # telemetry: it follows backup.bandwidth too
```

## Instead
```yaml
coherence: 1
components:
  trainer: {step_time: loader.wait * weight + backup.bandwidth * cost, weight: 0 .. 10, cost: 0 .. 10}
```

## Source
Pearl, Causality (2009), 1.2.2 (local Markov property); Holm (1979).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.number_text import render_number
from coherence.base.places import Place
from coherence.causal.answers.answer import render_interval
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.session.context import Context
    from coherence.causal.session.couplings import Tested, UndeclaredCoupling

QUESTION = Question("COH401", "undeclared-coupling", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)


def ask(context: Context) -> Iterator[Finding]:
    """One warning for each coupling that was found."""
    tested = context.couplings
    for coupling in tested.couplings:
        yield QUESTION.conflict(
            _message(context, coupling), _places(context, coupling), (coupling.cause, coupling.effect),
            _evidence(coupling, tested), certain=False, assumptions=_assumptions(context),
        )  # fmt: skip


def _message(context: Context, one: UndeclaredCoupling) -> str:
    late = render_number(one.lag * context.whole.step)
    when = f"{late} s after it" if one.lag else "in the same step, so which of the two acts cannot be seen"
    per = f"{render_number(one.strength.value)} per unit ({render_interval(one.strength)})"
    return f"{one.effect} follows {one.cause} {when}: {per}; the design declares neither this nor a common cause"


def _places(context: Context, coupling: UndeclaredCoupling) -> list[Place]:
    """Where the effect is declared, then where the cause is, if it is."""
    places = context.graph.places
    file = Place(context.design.file, 1, 1, 1, 1)
    first = places.get(coupling.effect, file).labelled(f"{coupling.effect} has its declared causes here")
    second = places.get(coupling.cause)
    same = second is None or (second.file, second.line, second.column) == (first.file, first.line, first.column)
    return [first] if same or second is None else [first, second.labelled(f"{coupling.cause} is not among them")]


def _evidence(coupling: UndeclaredCoupling, tested: Tested) -> Evidence:
    numbers = {
        "strength": (coupling.strength.value, ""), "p, family-wise": (coupling.p, ""),
        "share of the variance left that is explained": (coupling.explains, ""), "pairs tested": (tested.tests, ""),
    }  # fmt: skip
    return Evidence(Grade.ESTIMATED, "partial regression, jackknife over batches, Holm", numbers=numbers)


def _assumptions(context: Context) -> tuple[str, ...]:
    del context
    return (
        "a cause that neither the design nor the telemetry has may act on both",
        "declared causes are measured as they act: noise in a sensor makes what drives it look like a coupling",
    )
