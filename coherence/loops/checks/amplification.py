"""amplification: a loop that settles, and yet makes a disturbance of its reading larger.

## What
Takes every group of loops with a smooth law that settles, linearises one lap exactly (phases, sensor chains and
several rates included), adds a disturbance to what a loop reads and asks for the largest gain over all frequencies
from there to the reading: the peak of the sensitivity.  The peak is enclosed by exact arithmetic.  Above 2 it is
noted with its period.  It is a conflict only where an input that is declared `varies` breaks a promise by moving
within its range, and keeps it at either end: that run is replayed.

## Why it hurts
A load that swings at just this period is not damped but driven: the loop adds its own swing.  No test with a
constant load or a single step shows it.

## Example
```yaml
coherence: 1
workload: {web: {rate: "varies: 90 req/s .. 110 req/s"}}
components: {pool: {usage: web.attempts / (pool.replicas * 1 req/s)}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: pool.usage, setpoint: 50 %, sensor: [mean 30 s]}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 1000], from: 190}
promises: {room: always pool.replicas <= 240}
```

## Instead
A metric no older than one decision: `sensor: [mean 15 s]`, and room for what is left.

## Source
Skogestad and Postlethwaite, Multivariable Feedback Control, 2nd ed., 2.4.3: a peak of the sensitivity above 2
(6 dB) means a poor and little robust loop.  Rounding, tolerance, windows and bounds have no derivative: they are
left out of the gain, never out of the run.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question("COH302", "amplification", "ai.04 runtime control coherence", slow=True, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that settles and amplifies."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._amplification import answers  # the engine, only where loops can see their own effect

    yield from answers(QUESTION, subject)
