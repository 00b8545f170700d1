"""sensor saturation: the measured value stops at or below the point from which the loop would act upward.

## What
Bounds what a loop measures: by a limit on the very thing that it counts, by the constants and parts that
the signal is made of.  An autoscaler acts upward only while y / setpoint - 1 > tolerance, so it never does
when the largest measurable y is at most setpoint * (1 + tolerance).  `sees queued requests` in the sensor
chain says that the waiting ones are counted too: then the limit does not bound the measurement.

A total that the loop divides by its members (`type: average`) is at most the cap of a limit on all of them by the
fewest members.  A limit of each member bounds a mean; of one number that is not said to be a mean (no `type`) the
conflict is possible where all members together may have more.  Of a limit `per: zone` it is asked how many there are.

## Why it hurts
Under overload the metric stands at its cap, exactly on target, and the loop is content.  Nothing is broken,
nothing scales, and the queue grows.

## Example
```yaml
coherence: 1
limits: {slots: {counts: model.ongoing, at_most: 1, per: replica, when_full: wait}}
loops:
  serve:
    uses: ray_serve
    target: {signal: model.ongoing, setpoint: 1}
    actuation: {signal: model.desired, bounds: [1, 100]}
```

## Instead
A target clearly below the cap (64 of 128), or a sensor that sees the queue.
```yaml
coherence: 1
limits: {slots: {counts: model.ongoing, at_most: 2, per: replica, when_full: wait}}
loops:
  serve:
    uses: ray_serve
    target: {signal: model.ongoing, setpoint: 1}
    actuation: {signal: model.desired, bounds: [1, 100]}
```

## Source
ray-project/ray#24793; ray-service.llm-serve.yaml of ray-project/kuberay (64 of 128, consistent).  Kubernetes
documentation, Horizontal Pod Autoscaling, Algorithm details: no action while |ratio - 1| <= tolerance.  CPU
utilization is a share of the request and may pass 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Limit, Target
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree, rebuilt
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.words import MEMBER, MEMBERS
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, is_domain, place_of
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Values, enclosure
from coherence.verify.facts.writers import Writer
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH221", "sensor-saturation", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per proportional loop whose measurement is bounded above."""
    if not any(loop.target for loop in subject.design.loops.values()):
        return
    facts = known(subject)
    for writer in (writer for writers in facts.written.values() for writer in writers if writer.kind == "scale"):
        target = writer.loop.target
        if target and target.signal and target.setpoint and writer.values.low != writer.values.high:
            yield from _answer(subject, facts, writer)


def _answer(subject: Subject, facts: DesignFacts, writer: Writer) -> Iterator[Finding]:
    target = writer.loop.target
    assert target is not None
    assert target.signal is not None
    if any(link.kind == "sees" for link in target.sensor):
        return
    measured = facts.tree(target.signal.tree)
    caps = {path: limit for path in used(target.signal.tree) for limit in _limits_on(facts, path)}
    shared = _divided(writer, target, measured)
    tree = _of_one_member(measured if shared is None else shared, caps)
    most, surely = (enclosure(tree, _saturated(facts, tree, caps, end)).high for end in ("high", "low"))
    setpoint = _setpoint(facts, target)
    if setpoint is None or setpoint.low is None or setpoint.low <= 0:
        return
    highest = setpoint.high if setpoint.high is not None else setpoint.low
    least, tolerance = _tolerances(target)
    if most is None or surely is None:
        yield from _of_domains(facts, writer, measured, highest * (1 + tolerance))
        return
    fewest = facts.range(shared.right).low if shared is not None and tree == shared else None
    case = SaturationCase(writer, target, caps, highest, tolerance, surely, fewest or Fraction(1))
    if setpoint.low * (1 + least) >= most:
        yield _conflict(subject, case, certain=setpoint.low * (1 + least) >= _of_all(facts, case, measured, most))
    elif case.point >= surely:
        yield _conflict(subject, case, certain=False)
    elif isinstance(tree, Name) or (tree == shared and isinstance(measured, Name)):
        yield _proved(case)


def _divided(writer: Writer, target: Target, measured: Tree) -> Arithmetic | None:
    """Returns a total that all members share divided by them, where the loop does that and the text does not."""
    thing = writer.signal.rpartition(".")[0]
    counting = {writer.signal, *(f"{thing}.{word}" for word in MEMBERS)}
    if target.kind is None or target.kind.text != "average" or counting & set(used(measured)):
        return None
    return Arithmetic("/", measured, Name(f"{thing}.copies"))


def _of_domains(facts: DesignFacts, writer: Writer, measured: Tree, point: Fraction) -> Iterator[Finding]:
    """Yields what has to be known of a limit for each of some places or callers where one alone stays at the target."""
    path = measured.path if isinstance(measured, Name) else ""
    for limit in facts.counted.get(path, ()):
        bound = cap(facts, limit)
        high = facts.range(bound).high if bound is not None and limit.during is None else None
        if high is not None and high <= point and not _bounds(facts, path, limit):
            needs = f"needs how much {path} can be in all: {limit.name} is at most {limit.at_most} in each {limit.per}"
            yield QUESTION.undecided(needs, (place_of(limit.at_most, limit),), (writer.name, limit.name))


def _of_all(facts: DesignFacts, case: SaturationCase, measured: Tree, most: Fraction) -> float | Fraction:
    """Returns the most that is measured where a number that each member's limit bounds may be that of all members."""
    if not case.may_be_of_all or not isinstance(measured, Name):
        return most
    members = facts.range(Name(f"{measured.path.rpartition('.')[0]}.copies")).high
    return math.inf if members is None else most * max(members, Fraction(1))


def _of_one_member(tree: Tree, caps: dict[str, Limit]) -> Tree:
    """Returns a measurement with what all members have, divided by their number, as what one of them has."""
    match tree:
        case Arithmetic("/", Name(path=path), Name(path=members)) if path in caps and caps[path].per is not None:
            return Name(path) if members == f"{path.rpartition('.')[0]}.copies" else tree
    return rebuilt(tree, lambda part: _of_one_member(part, caps))


@dataclass(frozen=True)
class SaturationCase:
    """A loop whose measurement is bounded: its largest setpoint and tolerance, and the most that it can measure."""

    writer: Writer
    target: Target
    caps: dict[str, Limit]
    setpoint: Fraction
    tolerance: Fraction
    most: Fraction
    fewest: Fraction = Fraction(1)  # members by which the loop divides what the limits bound

    @property
    def may_be_of_all(self) -> bool:
        """Decides whether one number is measured that each member's limit bounds, and nothing calls it a mean."""
        signal, kind = self.target.signal, self.target.kind.text if self.target.kind is not None else ""
        limits = self.caps.values() if signal is not None and isinstance(signal.tree, Name) else ()
        return kind not in ("average", "utilization") and any(limit.per is not None for limit in limits)

    @property
    def point(self) -> Fraction:
        """It acts upward above this."""
        return self.setpoint * (1 + self.tolerance)

    @property
    def of(self) -> tuple[str, ...]:
        return (self.writer.name, *(limit.name for limit in self.caps.values()))

    @property
    def places(self) -> tuple[Place, ...]:
        """Returns the setpoint, and what bounds the measurement."""
        assert self.target.setpoint is not None
        assert self.target.signal is not None
        acts = self.target.setpoint.place.labelled(
            f"{self.writer.name} acts upward above this, by more than its tolerance"
        )
        stops = [
            place_of(limit.at_most, limit).labelled(f"the measured value stops here ({limit.name})")
            for limit in self.caps.values()
        ]
        made_of = self.target.signal.place.labelled("the measured value stops by what it is made of")
        return (acts, *(stops or [made_of]))


def _limits_on(facts: DesignFacts, path: str) -> Iterator[Limit]:
    """Yields limits that count exactly this signal: the smallest cap last, so that it wins."""
    limits = [limit for limit in facts.counted.get(path, ()) if limit.during is None and _bounds(facts, path, limit)]
    caps = [(facts.range(tree).high, limit) for limit in limits if (tree := cap(facts, limit)) is not None]
    bounded = [(high, limit) for high, limit in caps if high is not None]
    yield from (limit for _, limit in sorted(bounded, key=lambda item: item[0], reverse=True))


def _bounds(facts: DesignFacts, path: str, limit: Limit) -> bool:
    """Decides whether a limit is of all members or of each one, and not of each of some places or callers."""
    per = limit.per.text if limit.per is not None else ""
    return not per or per == path.rpartition(".")[0] or (per in MEMBER and not is_domain(facts.design, per))


def _saturated(facts: DesignFacts, tree: Tree, caps: dict[str, Limit], end: str) -> Values:
    """Every signal may grow without bound, except that a capped count stops at the `high` or `low` end of its cap.

    What then still bounds the measurement is its own form, not a load that happens to be small; and a share that may
    be anything up to the whole, which no load takes further.
    """
    values = {path: _unbounded(facts, path) for path in used(tree) if path in facts.values}
    for path, limit in caps.items():
        bound = cap(facts, limit)
        high = getattr(facts.range(bound), end) if bound is not None else None
        if limit.per is not None and not isinstance(tree, Name):  # of each member
            most = facts.range(Name(f"{path.rpartition('.')[0]}.copies")).high
            high = high * most if high is not None and most is not None else None
        values[path] = Interval(values[path].low if path in values else Fraction(0), high)
    return values


def _unbounded(facts: DesignFacts, path: str) -> Interval:
    """Returns the values of a signal under any load."""
    stated, values = facts.quantities.get(path), facts.values[path]
    share = stated is not None and stated.text.endswith("%") and values.low != values.high == 1
    return values if share else Interval(values.low, None)


def _setpoint(facts: DesignFacts, target: Target) -> Interval | None:
    stated = target.setpoint
    if isinstance(stated, Quantity):
        return Interval(stated.low, stated.high)
    setpoint = facts.range(stated.tree) if isinstance(stated, Formula) else None
    return setpoint if setpoint and setpoint.low is not None and setpoint.high is not None else None


def _tolerances(target: Target) -> tuple[Fraction, Fraction]:
    """Returns the least and the largest tolerance; zeros where none is stated."""
    stated = target.tolerance
    return (stated.low, stated.high) if stated else (Fraction(0), Fraction(0))


def _proved(case: SaturationCase) -> Finding:
    script = claimed(Compare("<", Number(case.point), Number(case.most)), {})
    evidence = arithmetic({"acts above": (case.point, ""), "largest measurable": (case.most, "")}, certificate=script)
    return QUESTION.proved(
        f"{case.writer.name} can measure more than its setpoint and tolerance", case.places, case.of, evidence
    )


def _conflict(subject: Subject, case: SaturationCase, *, certain: bool) -> Finding:
    stated = case.target.setpoint
    dimension = stated.dimension if isinstance(stated, Quantity) else ONE
    most, point, setpoint = (render_quantity(value, dimension) for value in (case.most, case.point, case.setpoint))
    message = (
        f"{case.writer.name} never acts upward: it measures at most {most} and acts above {point} "
        f"(setpoint {setpoint}, tolerance {render_quantity(case.tolerance * 100)} %)"
    )
    witness = (
        Step(Fraction(0), "the load is far above what the members can carry"),
        Step(
            None,
            f"the measured value stands at {most}, {render_quantity(case.most / case.setpoint)} times the "
            "setpoint: no action",
        ),
        Step(None, f"{case.writer.signal} stays as it is, however long the overload lasts"),
    )
    numbers: Numbers = {
        "largest measurable": (case.most, ""), "setpoint": (case.setpoint, ""),
        "tolerance": (case.tolerance, ""), "acts above": (case.point, ""),
    }  # fmt: skip
    return QUESTION.conflict(
        message, case.places, case.of, arithmetic(numbers, witness=witness), certain=certain,
        assumptions=_assumptions(case, certain=certain),
        repairs=_repairs(subject, case),
    )  # fmt: skip


def _assumptions(case: SaturationCase, *, certain: bool) -> tuple[str, ...]:
    counts = ("the sensor counts only what the limit lets in (no `sees` in its chain)",) if case.caps else ()
    mean = f"{case.writer.name} measures what one member has (`type: utilization` says so)"
    if case.fewest > 1:
        return (*counts, f"{case.writer.name} divides by {render_quantity(case.fewest)} members at least")
    return (*counts, mean) if case.may_be_of_all and not certain else counts


def _repairs(subject: Subject, case: SaturationCase) -> Iterator[Repair]:
    """Yields a cap above the point of action, or a setpoint below the cap with a tenth to spare."""
    edits, point = [], case.point * case.fewest
    for stated in (limit.at_most for limit in case.caps.values()):
        if isinstance(stated, Quantity) and stated.exact:
            whole = stated.low.denominator == 1
            higher = Fraction(math.floor(point) + 1) if whole else repairs.upward_round(point * Fraction(11, 10))
            edits.append(repairs.change(subject, stated, higher))
    stated = case.target.setpoint
    lower = repairs.downward_round(case.most / (1 + case.tolerance) * Fraction(9, 10))
    if isinstance(stated, Quantity) and stated.exact and lower > 0:
        edits.append(repairs.change(subject, stated, lower))
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)
