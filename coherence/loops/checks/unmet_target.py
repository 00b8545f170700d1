"""unmet target: loops that come to rest while one stands at its upper bound and reads too much, or disagree for ever.

## What
Executes each group of loops in feedback exactly, from the ends of its ranges.  Where it comes to rest, a proportional
loop whose command stands at its upper bound and whose reading is still above its target, by more than the tolerance,
is named: it has done all that it may, and it was not enough.  (At the lower bound with little to do is how a quiet
system looks.)  Two loops that hold one reading at setpoints whose tolerances do not overlap are named as well: no
value of the reading suits both, whatever they write.

## Why it hurts
Nothing swings and nothing fails a check, so it looks calm.  An autoscaler of replicas and one of requests that share
a utilisation drive each other to a bound: 4 replicas become 64, and the target is as far away as before.

## Example
```yaml
coherence: 1
components: {web: {used: 40, cpu: web.used / web.replicas}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: web.cpu, setpoint: 2, tolerance: 10 %}
    actuation: {signal: web.replicas, law: proportional, bounds: [1, 10], from: 4}
```

## Instead
An upper bound with room for the load: `bounds: [1, 30]`.

## Source
Kubernetes documentation, Vertical Pod Autoscaler, known limitations: not together with the Horizontal Pod Autoscaler
on the same resource metric.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Loop
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question(
    "COH308", "unmet-target", "ai.04 runtime control coherence", slow=True, fires=Verdict.NOTE, proves=False
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields a note per loop that rests at its upper bound with its target unmet, and per pair of disjoint targets."""
    yield from _disjoint(subject)
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._unmet_target import answers  # the engine, only where there is feedback

    yield from answers(QUESTION, subject)


def _disjoint(subject: Subject) -> Iterator[Finding]:
    bands = [(loop, *band) for loop in subject.design.loops.values() if (band := _band(loop)) is not None]
    for (first, signal, low, high), (other, again, least, most) in itertools.combinations(bands, 2):
        if signal != again or max(low, least) <= min(high, most):
            continue
        message = f"{first.name} and {other.name} hold {signal} at targets that do not overlap: no value suits both"
        places = [
            loop.target.setpoint.place.labelled(f"{loop.name} wants it here")
            for loop in (first, other)
            if loop.target is not None and isinstance(loop.target.setpoint, Quantity)
        ]
        numbers = {
            f"{first.name} from": low,
            f"{first.name} to": high,
            f"{other.name} from": least,
            f"{other.name} to": most,
        }
        evidence = arithmetic({name: (value, "") for name, value in numbers.items()})
        yield QUESTION.note(message, places, (first.name, other.name), evidence)


def _band(loop: Loop) -> tuple[str, Fraction, Fraction] | None:
    """Returns what the loop reads, and the lowest and highest value with which it rests."""
    target = loop.target
    if target is None or target.signal is None or not isinstance(target.setpoint, Quantity):
        return None
    slack = target.tolerance.high if target.tolerance is not None else Fraction(0)
    return str(target.signal), target.setpoint.low * (1 - slack), target.setpoint.high * (1 + slack)
