"""sensor saturation: the measured value stops at or below the point from which the loop would act upward.

## What
Bounds what a loop measures: by a limit on the very thing that it counts, by the constants and parts that
the signal is made of.  An autoscaler acts upward only while y / setpoint - 1 > tolerance, so it never does
when the largest measurable y is at most setpoint * (1 + tolerance).  `sees queued requests` in the sensor
chain says that the waiting ones are counted too: then the limit does not bound the measurement.

## Why it hurts
Under overload the metric stands at its cap, exactly on target, and the loop is content.  Nothing is broken,
nothing scales, and the queue grows.

## Example
```yaml
coherence: 1
limits: {slots: {counts: model.ongoing, at_most: 1, per: replica, when_full: wait}}
loops:
  serve: {uses: ray_serve, target: {signal: model.ongoing, setpoint: 1}, actuation: {signal: model.desired, bounds: [1, 100]}}
```

## Instead
A target clearly below the cap (64 of 128), or a sensor that sees the queue.
```yaml
coherence: 1
limits: {slots: {counts: model.ongoing, at_most: 2, per: replica, when_full: wait}}
loops:
  serve: {uses: ray_serve, target: {signal: model.ongoing, setpoint: 1}, actuation: {signal: model.desired, bounds: [1, 100]}}
```

## Source
ray-project/ray#24793; ray-service.llm-serve.yaml of ray-project/kuberay (64 of 128, consistent).  Kubernetes
documentation, Horizontal Pod Autoscaling, Algorithm details: no action while |ratio - 1| <= tolerance.  CPU
utilization is a share of the request and may pass 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.design import Limit, Loop, Target
from coherence.expressions import names as used
from coherence.expressions.tree import Arithmetic, Compare, Name, Number, Tree
from coherence.finding import Finding, Repair, Step
from coherence.model import Interval
from coherence.places import Place
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import ONE, show
from coherence.verify.known import Known, known
from coherence.verify.limits import cap, place_of
from coherence.verify.patterns._pair import Numbers
from coherence.verify.range_claims import claimed
from coherence.verify.ranges import Values, enclosure
from coherence.verify.writers import Writer, tree_of

QUESTION = Question("COH221", "sensor-saturation", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """One answer per proportional loop whose measurement is bounded above."""
    scalers = [loop for loop in subject.design.loops.values() if loop.target and loop.target.signal and loop.target.setpoint]
    if not scalers:
        return
    facts = known(subject)
    for writers in facts.written.values():
        for writer in writers:
            if writer.kind == "scale" and writer.loop in scalers and writer.values.low != writer.values.high:
                yield from _answer(subject, facts, writer)


def _answer(subject: Subject, facts: Known, writer: Writer) -> Iterator[Finding]:
    target = writer.loop.target
    assert target is not None
    assert target.signal is not None
    if any(link.kind == "sees" for link in target.sensor):
        return
    caps = {path: limit for path in used(target.signal.tree) for limit in _limits_on(facts, path)}
    values = _bounded(facts, caps)
    tree = facts.tree(target.signal.tree)
    most = enclosure(tree, values).high
    setpoint = _setpoint(facts, target)
    if most is None or setpoint is None or setpoint.low is None or setpoint.low <= 0:
        return
    place = setpoint_place(target)
    places = (place.labelled(f"{writer.name} acts upward above this, by more than its tolerance"), *_bounding(facts, target, caps))
    of = (writer.name, *(limit.name for limit in caps.values()))
    if (setpoint.high or setpoint.low) * (1 + _tolerance(target)) < most:
        yield _proved(target, tree, values, setpoint, most, places, of)
    else:
        certain = setpoint.low * (1 + _tolerance(target)) >= most
        yield _conflict(subject, writer, caps, setpoint, most, places, of, certain=certain)


def _limits_on(facts: Known, path: str) -> Iterator[Limit]:
    """Limits that count exactly this signal: the smallest cap last, so that it wins."""
    found = [limit for limit in facts.design.limits.values() if limit.counts and limit.counts.tree == Name(path) and not limit.during]
    caps = [(bound.high, limit) for limit in found if (tree := cap(facts, limit)) and (bound := facts.range(tree)).high is not None]
    yield from (limit for _, limit in sorted(caps, key=lambda item: item[0] or 0, reverse=True))


def _bounded(facts: Known, caps: dict[str, Limit]) -> Values:
    """The known ranges, with every capped count at most its cap."""
    values = dict(facts.values)
    for path, limit in caps.items():
        tree = cap(facts, limit)
        high = facts.range(tree).high if tree is not None else None
        known_high = values.get(path, Interval(None, None)).high
        least = min((end for end in (high, known_high) if end is not None), default=None)
        values[path] = Interval(values.get(path, Interval(Fraction(0), None)).low, least)
    return values


def _setpoint(facts: Known, target: Target) -> Interval | None:
    stated = target.setpoint
    if isinstance(stated, Quantity):
        return Interval(stated.low, stated.high)
    found = facts.range(stated.tree) if isinstance(stated, Formula) else None
    return found if found and found.low is not None and found.high is not None else None


def setpoint_place(target: Target) -> Place:
    """Where the setpoint stands."""
    assert target.setpoint is not None
    return target.setpoint.place


def _tolerance(target: Target) -> Fraction:
    return target.tolerance.high if target.tolerance else Fraction(0)


def _bounding(facts: Known, target: Target, caps: dict[str, Limit]) -> tuple[Place, ...]:
    """What bounds the measurement."""
    assert target.signal is not None
    found = [place_of(limit.at_most, limit).labelled(f"the measured value stops here ({limit.name})") for limit in caps.values()]
    return tuple(found or [target.signal.place.labelled("the measured value stops by what it is made of")])


def _proved(
    target: Target, tree: Tree, values: Values, setpoint: Interval, most: Fraction, places: tuple[Place, ...], of: tuple[str, ...]
) -> Finding:
    tolerance = _tolerance(target)
    point = (setpoint.high or Fraction(0)) * (1 + tolerance)
    script = claimed(Compare("<", Number(point), Number(most)), {})
    numbers: Numbers = {"acts above": (point, ""), "largest measurable": (most, "")}
    return QUESTION.proved(f"{of[0]} can measure more than its setpoint and tolerance", places, of, arithmetic(numbers, certificate=script))


def _conflict(
    subject: Subject, writer: Writer, caps: dict[str, Limit], setpoint: Interval, most: Fraction,
    places: tuple[Place, ...], of: tuple[str, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    target = writer.loop.target
    assert target is not None
    tolerance, dimension = _tolerance(target), target.setpoint.dimension if isinstance(target.setpoint, Quantity) else ONE
    worst = setpoint.high if setpoint.high is not None else most
    point = worst * (1 + tolerance)
    message = (
        f"{writer.name} never acts upward: it measures at most {show(most, dimension)} and acts above "
        f"{show(point, dimension)} (setpoint {show(worst, dimension)}, tolerance {show(tolerance * 100)} %)"
    )
    witness = (
        Step(Fraction(0), "the load is far above what the members can carry"),
        Step(None, f"the measured value stands at {show(most, dimension)}; {show(most / worst)} times the setpoint is within the tolerance"),
        Step(None, f"{writer.signal} stays as it is, however long the overload lasts"),
    )
    numbers: Numbers = {"largest measurable": (most, ""), "setpoint": (worst, ""), "tolerance": (tolerance, ""), "acts above": (point, "")}
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=certain,
        assumptions=("the sensor counts only what the limit lets in (no `sees` in its chain)",) if caps else (),
        repairs=_repairs(subject, target, caps, point, most, tolerance),
    )  # fmt: skip


def _repairs(
    subject: Subject, target: Target, caps: dict[str, Limit], point: Fraction, most: Fraction, tolerance: Fraction
) -> Iterator[Repair]:
    """A cap above the point of action, or a setpoint below the cap with a tenth to spare."""
    for limit in caps.values():
        if isinstance(limit.at_most, Quantity):
            whole = limit.at_most.low.denominator == 1
            higher = repairs.change(subject, limit.at_most, Fraction(math.floor(point) + 1) if whole else repairs.upward_round(point * Fraction(11, 10)))
            made = repairs.proposal(higher)
            yield from [made] if made else []
    if isinstance(target.setpoint, Quantity) and target.setpoint.exact:
        lower = repairs.downward_round(most / (1 + tolerance) * Fraction(9, 10))
        made = repairs.proposal(repairs.change(subject, target.setpoint, lower)) if lower > 0 else None
        yield from [made] if made else []


__all__ = ["QUESTION", "QUESTIONS", "Arithmetic", "Loop", "ask", "tree_of"]
