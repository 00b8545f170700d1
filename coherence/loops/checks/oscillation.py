"""sustained oscillation: loops that sample each other's effect and never come to rest.

## What
Takes every group of sampled loops that influence each other (or themselves) through what they
write.  The model is executed exactly, over rationals, from the ends of its ranges: a run that
recurs, or that closes in on a periodic orbit on which a command keeps changing direction, is a
conflict, with period and amplitude.  Beside it stands the linear verdict with exact delays: the
spectral radius of one hyperperiod and the period of its dominant mode.

Loops that step or set one command are proved to come to rest where what some make of it, before they see that, never
wakes the others: the dead band between their conditions is wider than the steps made within the age of a reading.
Of several loops every value that they can give their commands is followed, whoever acts when: where no change can come
again they come to rest in any order and with any phases; where some loop goes on at each of them, none ever does, and
the conflict is certain.  A run in another order or phase that swings is a possible conflict.

Where flows bend (first-order lags, products, delays in a flow) no run is exact.  There, and for flows that feed back
without a loop, every operating point inside the bounds must be unstable by its exact-delay roots, and a run in floats
from the design's own start must keep swinging: a conflict by simulation.  Flows that switch are solved for their
cycle, which an execution confirms.

## Why it hurts
An autoscaler that multiplies by `metric / setpoint` is an integrator of gain one in the logarithm:
with a metric that is one period old it is exactly marginal and swings for ever with a period of six
samples, at every load; with two periods it grows until it hits its limits.

## Example
```yaml
coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: "delayed(web.usage, 15 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
```

## Instead
Hold decreases for longer than the loop's delay: `timescale: {period: 15 s, hold_down: 15 s}`.
A loop that is meant to go on and off for ever, as a cleaner between two marks is under what fills it all the time, says
so: `intended: why`.  Where each loop of a cycle does, the cycle is a note; promises say how far it may go (COH220).

## Source
Kubernetes documentation, Horizontal Pod Autoscaling, algorithm details; discrete integrator with d
steps of delay: critical gain 2 sin(pi / (2 (2 d + 1))).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Loop
from coherence.language.schema_kinds import Word
from coherence.loops.checks._coupling import feeds_back, flows_feed_back

QUESTION = Question("COH301", "sustained-oscillation", "ai.04 runtime control coherence", slow=True)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group of loops in feedback."""
    loops, flows = feeds_back(subject.design), flows_feed_back(subject.design)
    if not (loops or flows):
        return
    from coherence.loops.checks._oscillation import flow_findings, loop_findings  # the engine

    if loops:
        yield from loop_findings(QUESTION, subject)
    if flows:
        yield from flow_findings(QUESTION, subject)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields each proof that loops settle as one about them beside the loops that leave alone what they would set."""
    idle = [loop.name for loop in subject.design.loops.values() if _writes_nothing(loop)]
    for finding in ask(subject) if idle else ():
        if finding.verdict is Verdict.PROVED:
            beside = f"{finding.message}; {' and '.join(idle)} {'write' if len(idle) > 1 else 'writes'} nothing"
            yield replace(finding, message=beside, of=(*finding.of, *idle))


def _writes_nothing(loop: Loop) -> bool:
    to = loop.actuation.to if loop.actuation is not None else None
    return isinstance(to, Word) and to.text == "unset"
