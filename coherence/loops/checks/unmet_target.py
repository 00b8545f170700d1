"""unmet target: loops that come to rest while one stands at its upper bound and reads too much, or disagree for ever.

## What
Executes each group of loops in feedback exactly, from the ends of its ranges.  Where it comes to rest, a proportional
loop whose command stands at its upper bound and whose reading is still above its target, by more than the tolerance,
has done all that it may, and it was not enough: certain where every start ends so.  (At the lower bound with little to
do is how a quiet system looks.)  Two loops that move one reading, by different signals and at all times, and hold it at
setpoints whose tolerances do not overlap are a conflict as well: no value of the reading suits both, whatever they
write.  Where one yields (`rank`), waits for a trigger, or moves something else, it is noted.

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

from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Loop
from coherence.language.expressions import names as names_of
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._coupling import feeds_back
from coherence.model.laws import law_of

QUESTION = Question("COH308", "unmet-target", "ai.04 runtime control coherence", slow=True, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields an answer per pair of disjoint targets, and per other loop that rests at its bound with its unmet."""
    pairs = list(_disjoint(subject))
    yield from pairs
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._unmet_target import answers  # the engine, only where there is feedback

    yield from answers(
        QUESTION, subject, frozenset(name for pair in pairs if pair.verdict is Verdict.CONFLICT for name in pair.of)
    )


def _disjoint(subject: Subject) -> Iterator[Finding]:
    bands = [(loop, *band) for loop in subject.design.loops.values() if (band := _band(loop)) is not None]
    for (first, signal, low, high), (other, again, least, most) in itertools.combinations(bands, 2):
        if signal != again or max(low, least) <= min(high, most) or _signal(first) == _signal(other):
            continue  # two that write one signal are `no-common-fixed-point`
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
        figures = {name: (value, "") for name, value in numbers.items()}
        if not (_holds_always(subject, first) and _holds_always(subject, other) and first.rank == other.rank):
            yield QUESTION.note(message, places, (first.name, other.name), arithmetic(figures))
            continue
        steps = tuple(
            Step(None, f"{signal} is {where} {float(end):.4g}: {loop.name} acts on {_signal(loop)}")
            for loop, where, end in _acting((first, low, high), (other, least, most))
        )
        yield QUESTION.conflict(message, places, (first.name, other.name), arithmetic(figures, witness=steps))


def _acting(*bands: tuple[Loop, Fraction, Fraction]) -> Iterator[tuple[Loop, str, Fraction]]:
    """Yields the loop that acts on every value below the upper band, and the one on every value above the lower."""
    lower, upper = sorted(bands, key=lambda band: band[1])
    yield upper[0], "below", upper[1]
    yield lower[0], "above", lower[2]


def _signal(loop: Loop) -> str:
    signal = loop.actuation.signal if loop.actuation is not None else None
    return signal.text if signal is not None else ""


def _holds_always(subject: Subject, loop: Loop) -> bool:
    """Decides whether a loop moves what it reads, in both directions and at all times."""
    always = loop.trigger is None or getattr(loop.trigger, "text", "") == "always"
    if law_of(loop) != "proportional" or not always or loop.target is None or loop.target.signal is None:
        return False
    from coherence.simulate.execute.slices import influences

    model = subject.model
    read = [model.resolve(name) for name in names_of(loop.target.signal.tree)]
    return model.resolve(_signal(loop)) in influences(model, read)


def _band(loop: Loop) -> tuple[str, Fraction, Fraction] | None:
    """Returns what the loop reads, and the lowest and highest value with which it rests."""
    target = loop.target
    if target is None or target.signal is None or not isinstance(target.setpoint, Quantity):
        return None
    slack = target.tolerance.high if target.tolerance is not None else Fraction(0)
    return str(target.signal), target.setpoint.low * (1 - slack), target.setpoint.high * (1 + slack)
