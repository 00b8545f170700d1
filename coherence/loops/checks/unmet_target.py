"""unmet target: loops that come to rest while one stands at its upper bound and reads too much, or disagree for ever.

## What
Executes each group of loops in feedback exactly, from the ends of its ranges.  Where it comes to rest, a proportional
loop whose command stands at its upper bound and whose reading is still above its target, by more than the tolerance,
has done all that it may, and it was not enough: certain where every start ends so.  (At the lower bound with little to
do is how a quiet system looks.) A reading that the design states, and that nothing in it moves, needs no run: above
the target it drives the loop to its bound, and so does a stated total that is above it for each of so many.  Two loops
that move one reading, by different signals and at all times, and hold it at setpoints whose tolerances do not overlap
are a conflict as well: no value of the reading suits both, whatever they write.  Where one yields (`rank`), waits for
a trigger, or moves something else, it is noted.

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

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import figure_unit, render_quantity
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._coupling import feeds_back
from coherence.verify.facts.disjoint_targets import TargetBand, disjoint_targets

QUESTION = Question("COH308", "unmet-target", "ai.04 runtime control coherence", slow=True, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields an answer per pair of disjoint targets, and per other loop that rests at its bound with its unmet."""
    pairs = list(_disjoint(subject))
    yield from pairs
    if any(loop.target for loop in subject.design.loops.values()):
        from coherence.loops.checks._fixed_reading import fixed_readings

        yield from fixed_readings(QUESTION, subject)
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._unmet_target import answers  # the engine, only where there is feedback

    yield from answers(
        QUESTION, subject, frozenset(name for pair in pairs if pair.verdict is Verdict.CONFLICT for name in pair.of)
    )


def _disjoint(subject: Subject) -> Iterator[Finding]:
    for pair in disjoint_targets(subject):
        bands, names = (pair.first, pair.second), pair.names
        message = (
            f"{names[0]} and {names[1]} hold {pair.first.reading} at targets that do not overlap: no value suits both"
        )
        places = [
            setpoint.place.labelled(f"{band.loop.name} wants it here")
            for band in bands
            if (setpoint := _setpoint(band)) is not None
        ]
        dimension = next((q.dimension for band in bands if (q := _setpoint(band)) is not None), ONE)
        figures = {
            f"{band.loop.name} {end}": (value, figure_unit(dimension))
            for band in bands
            for end, value in (("from", band.low), ("to", band.high))
        }
        if not pair.always:
            yield QUESTION.note(message, places, names, arithmetic(figures))
            continue
        steps = tuple(_acts(band, where, render_quantity(end, dimension)) for band, where, end in _acting(*bands))
        alone = (repairs.proposal(repairs.without(subject, band.loop.place)) for band in bands)
        yield QUESTION.conflict(
            message,
            places,
            names,
            arithmetic(figures, witness=steps),
            repairs=filter(None, alone),
        )


def _acts(band: TargetBand, where: str, end: str) -> Step:
    return Step(None, f"{band.reading} is {where} {end}: {band.loop.name} acts on {band.loop.written}")


def _setpoint(band: TargetBand) -> Quantity | None:
    setpoint = band.loop.target.setpoint if band.loop.target is not None else None
    return setpoint if isinstance(setpoint, Quantity) else None


def _acting(*bands: TargetBand) -> Iterator[tuple[TargetBand, str, Fraction]]:
    """Yields the loop that acts on every value below the upper band, and the one on every value above the lower."""
    lower, upper = sorted(bands, key=lambda band: band.low)
    yield upper, "below", upper.low
    yield lower, "above", lower.high
