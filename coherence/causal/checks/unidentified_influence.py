"""unidentified influence: no amount of this telemetry can say how strong a declared influence is.

## What
Two signals with a common cause that nobody measures, signals that act on each other within one step, or causes that
always move together: a regression gives a number, and the number means nothing.  Each declared influence is tried on
systems with the same graph and known coefficients; where no estimator returns them, the influence is refused, and the
signals that would lift the refusal are named.

## Why it hurts
A share of a loss that rests on such a number blames the wrong cause, with a narrow interval.

## Example
```yaml
coherence: 1
components:                                  # demand.real acts on both and is not in the telemetry
  scaler: {wanted: demand.real * gain, gain: 0 .. 10}
  queue: {wait: scaler.wanted * effect + demand.real * load, effect: -10 .. 10, load: 0 .. 10}
```

## Instead
```yaml
coherence: 1
components:
  scaler: {wanted: demand.real * gain, gain: 0 .. 10}
  queue: {wait: scaler.wanted * effect + demand.real * load, effect: -10 .. 10, load: 0 .. 10}
telemetry: {demand.real: offered_requests}   # measured
```

## Source
Pearl, Causality (2009), 3.3 and 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.base.places import Place
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question

if TYPE_CHECKING:
    from coherence.causal.session.context import Context

QUESTION = Question(
    "COH403", "unidentified-influence", "ai.04 runtime control coherence", fires=Verdict.UNDECIDED, proves=False
)
QUESTIONS = (QUESTION,)


def ask(context: Context) -> Iterator[Finding]:
    """One `undecided` for each effect with influences that cannot be told, naming what to measure."""
    file = Place(context.design.file, 1, 1, 1, 1)
    for effect, node in context.fitted.nodes.items():
        place = context.graph.places.get(effect, file)
        equation = node.equation
        if equation.lost and {cause for cause, _ in equation.columns} != {
            effect
        }:  # its own past alone: no share depends on it
            causes = tuple(dict.fromkeys(cause for cause, _ in equation.lost))
            does = "do" if len(causes) > 1 else "does"
            what = (
                f"what {' and '.join(causes)} {does} to {effect}" if causes != (effect,) else f"how much {effect} keeps"
            )
            needs = f"cannot tell {what}: {equation.refused}; " + _measure(equation.measure)
            yield QUESTION.undecided(needs, [place], (*causes, effect))
        for group in node.groups:
            names = tuple(dict.fromkeys(cause for cause, _ in group))
            if len(names) > 1:
                needs = (
                    f"cannot tell {' and '.join(names)} apart in what they do to {effect}: they move together; "
                    f"needs a stretch of time in which one of them changes alone"
                )
                yield QUESTION.undecided(needs, [place], (*names, effect))


def _measure(what: tuple[str, ...]) -> str:
    return f"needs {' or '.join(what)}" if what else "needs another experiment"
