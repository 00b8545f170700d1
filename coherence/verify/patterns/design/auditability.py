"""an auditability gap: a loop that does not say what it wants, what it watches or whose it is.

## What
A loop is auditable when a reviewer can say, for each of its actions, which objective it served, what
it had read, when it acts and at which layer.  This lists the loops that leave some of it out.

## Why it hurts
When two loops fight, the first question is which one may yield; without an objective and a layer
nobody can answer it from the design.

## Example
```yaml
coherence: 1
loops: {backfill: {actuation: {signal: batch.running, law: step, by: 5}}}
```

## Instead
```yaml
coherence: 1
loops:
  backfill:
    layer: cluster
    objective: no idle accelerators
    target: {signal: pool.idle, setpoint: 0}
    timescale: {period: 30 s}
    trigger: pool.idle > 2
    actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}
```

## Source
Slides: a control loop is objective, target, timescale, trigger and actuation, on one of five layers.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Loop

QUESTION = Question("COH701", "auditability-gap", "auditability", fires=Verdict.NOTE, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one note per loop that leaves something out."""
    for loop in subject.design.loops.values():
        absent = missing(loop)
        if absent:
            place = loop.place.labelled(f"no {', no '.join(absent)}")
            yield QUESTION.note(
                f"{loop.name} does not state its {', '.join(absent)}", (place,), (loop.name,), arithmetic({})
            )


def missing(loop: Loop) -> list[str]:
    """Returns the attributes that the loop leaves out."""
    has = {
        "objective": loop.objective is not None,
        "layer": loop.layer is not None,
        "target": loop.target is not None or bool(loop.rules) or loop.trigger is not None,
        "timescale": loop.timescale is not None and loop.timescale.period is not None,
        "trigger": loop.trigger is not None or bool(loop.rules) or loop.target is not None,
    }
    return [name for name, present in has.items() if not present]
