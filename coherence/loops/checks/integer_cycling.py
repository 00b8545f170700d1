"""integer cycling: a loop that would come to rest over the reals is kept swinging by rounding to whole numbers.

## What
Takes every group of loops with a smooth law whose command is rounded up to whole members, or whose signals are
rounded by ceil and floor (multiples).  Where an exact run never settles, the same loop is run without rounding from
the same starts: if it then comes to rest, and is linearly stable, whole numbers alone are to blame.  From a finite
range of starts rest is proved by running each.

## Why it hurts
No analysis of gains and delays shows it, and it depends on the load: at 47 requests a second it rests, at 53 it swings
for ever.  A describing function denies cycles that whole replicas do have.

## Example
```yaml
coherence: 1
workload: {web: {rate: 53 req/s}}
components: {pool: {usage: web.attempts / (pool.replicas * 10 req/s)}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: pool.usage, setpoint: 100 %, sensor: [mean 45 s]}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 40], from: 3}
```

## Instead
A tolerance (`tolerance: 5 %`), or a hold-down over one swing.

## Source
Kubernetes documentation, Horizontal Pod Autoscaling, Algorithm details: ceil of current * ratio.  Limit cycles from
quantisation: Astrom and Wittenmark, Computer-Controlled Systems, 3rd ed., 9.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question("COH305", "integer-cycling", "ai.04 runtime control coherence", slow=True)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group whose smooth law is rounded to whole numbers."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._integer_cycling import answers  # the engine, only where there is feedback

    yield from answers(QUESTION, subject)
