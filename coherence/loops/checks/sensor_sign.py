"""sensor sign: a loop whose own action moves what it reads further from the setpoint.

## What
Follows every way from the command to the reading through outputs, states and delays, with the sign of each partial
derivative over the declared ranges.  Where all agree, the sign of the whole is certain: times the direction of the
law it is negative feedback (proved) or positive.  Positive feedback with a setpoint is a conflict where an exact run
shows it: the loop acts again and again in one direction while its reading gets further off.  Where the ways disagree
nothing is claimed.

## Why it hurts
The loop does what it was told, ever harder, until it stands at a bound: all replicas, or none.  A sign is easily lost
where the metric is a share of what is free, or is counted per replica on one side only.

## Example
```yaml
coherence: 1
components: {pool: {used: 60, free: 1 - pool.used / pool.replicas}}
loops:
  scaler:
    timescale: {period: 30 s}
    target: {signal: pool.free, setpoint: 0.2}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 1000], from: 100}
```

## Instead
Measure what falls when replicas are added: `signal: pool.used / pool.replicas`, `setpoint: 0.8`.

## Source
Angeli and Sontag 2003, Monotone Control Systems, IEEE Transactions on Automatic Control 48(10): where every way has
one sign, runs stay ordered.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question(
    "COH307",
    "sensor-sign",
    "ai.04 runtime control coherence",
    slow=True,
    regardless=frozenset({"time", "end", "members", "rate", "room"}),
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop with a setpoint that moves what it reads in one direction."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._sensor_sign import answers  # the engine, only where loops can see their own effect

    yield from answers(QUESTION, subject)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each loop without a proportional law that acts against what it reads."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._sensor_sign import against_readings

    yield from against_readings(QUESTION, subject)
