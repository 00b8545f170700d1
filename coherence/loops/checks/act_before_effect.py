"""act before effect: a loop decides again before its last action shows in what it reads, and goes too far.

## What
Executes each group of loops in feedback exactly, from the ends of its ranges, and looks for a command that passes
the value at which it settles (or its operating point, where it never does) by more than the tolerance.  A loop of
steps rests anywhere between its conditions: what would do for it is where it settles if it waits.  The action
that passes is blind if the one before it, in the same direction, made no difference yet to anything that the loop
reads: both worlds, with and without that action, are executed and compared at the sample.  It is a conflict where
a cooldown until the effect is seen would remove it, and where the design promises nothing about the command or the
run breaks what it promises; else it is noted.

## Why it hurts
A proportional law multiplies.  Two decisions on one reading multiply twice: 120 replicas, measured at 167 %, become
200 and then 333, where 200 would do.

## Example
```yaml
coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s, hold_down: 1 min}
    target: {signal: "delayed(web.usage, 15 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
```

## Instead
Wait until the action shows: `timescale: {period: 15 s, hold_down: 1 min, cooldown: 15 s}`.

## Source
Kubernetes documentation, Horizontal Pod Autoscaling, Algorithm details: each sync multiplies current replicas; AWS
documentation, Cooldown periods for Application Auto Scaling: wait for the previous scaling activity to take effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question("COH304", "act-before-effect", "ai.04 runtime control coherence", slow=True, proves=False)
QUESTIONS = (QUESTION,)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each loop that no start makes pass where it settles before it sees what it did."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._act_before_effect import seen_in_time

    yield from seen_in_time(QUESTION, subject)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that passes where it settles before it sees what it did."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._act_before_effect import answers  # the engine, only where there is feedback

    yield from answers(QUESTION, subject)
