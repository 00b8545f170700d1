"""Answers of `unmet-target` about readings that nothing moves: what the loop writes leaves them above its target."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import figure_unit, render_quantity
from coherence.base.units import ONE
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Loop
from coherence.language.expressions import names as used
from coherence.language.schema_kinds import Quantity
from coherence.model.laws import law_of
from coherence.verify.facts.design_facts import DesignFacts, known


def fixed_readings(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields a conflict per proportional loop whose reading is stated as a value above its target."""
    loops = [loop for loop in subject.design.loops.values() if _is_driven(loop)]
    if loops:
        facts = known(subject)
        yield from (finding for loop in loops if (finding := _answer(question, facts, loop)) is not None)


def _is_driven(loop: Loop) -> bool:
    """Decides whether a loop moves a signal in proportion to one reading, at all times and between two bounds."""
    always = loop.trigger is None or getattr(loop.trigger, "text", "") == "always"
    target, actuation = loop.target, loop.actuation
    bounded = actuation is not None and len(actuation.bounds) == 2
    return always and target is not None and target.signal is not None and bounded and law_of(loop) == "proportional"


def _is_shared(loop: Loop) -> bool:
    """Decides whether a loop reads a total that its members share."""
    kind = loop.target.kind if loop.target is not None else None
    return kind is not None and kind.text == "average"


def _answer(question: Question, facts: DesignFacts, loop: Loop) -> Finding | None:
    target, actuation = loop.target, loop.actuation
    assert target is not None
    assert target.signal is not None
    assert actuation is not None
    setpoint, (start, end) = target.setpoint, actuation.bounds
    if not (isinstance(setpoint, Quantity) and isinstance(start, Quantity) and isinstance(end, Quantity)):
        return None
    if start.high >= end.high:
        return None
    tree = facts.tree(target.signal.tree)
    paths = used(tree)
    if not paths or facts.missing(tree) or any(path in facts.written for path in paths):
        return None
    if any(link.kind == "sees" for link in target.sensor):
        return None
    slack = target.tolerance.high if target.tolerance is not None else Fraction(0)
    total, most = facts.range(tree).low, setpoint.high * (1 + slack)
    members = end.high if _is_shared(loop) else Fraction(1)
    if total is None or most <= 0 or members <= 0 or total / members <= most:
        return None
    return _conflict(question, facts, loop, (setpoint, end), total, most)


def _conflict(
    question: Question, facts: DesignFacts, loop: Loop, stated: tuple[Quantity, Quantity], total: Fraction,
    most: Fraction,
) -> Finding:  # fmt: skip
    """Returns that a reading stays above what the loop acts on, each of the most members with its part of a total."""
    setpoint, end = stated
    signal = loop.target.signal if loop.target is not None else None
    reading = total / end.high if _is_shared(loop) else total
    shown, wanted, above = (render_quantity(value, setpoint.dimension) for value in (total, setpoint.high, most))
    written, bound = loop.written, render_quantity(end.high, ONE)
    each = f", {render_quantity(reading, setpoint.dimension)} or more for each of {bound}" if reading != total else ""
    message = (
        f"{loop.name} reads {signal} = {shown} or more{each}, which nothing in the design moves, and wants {wanted}: "
        f"{written} goes to its upper bound {bound} and stays there"
    )
    paths = used(facts.tree(signal.tree)) if signal is not None else ()
    places = [
        setpoint.place.labelled("wanted"),
        *(facts.places[path].labelled(f"{path}, whatever {written} is") for path in paths if path in facts.places),
        end.place.labelled("the bound at which it rests"),
    ]
    witness = (
        Step(Fraction(0), f"{signal} is {shown}{each}, above {above}"),
        Step(None, f"{loop.name} raises {written}; {signal} stays"),
        Step(None, f"{written} is {bound}: it can do no more"),
    )
    unit = figure_unit(setpoint.dimension)
    figures = {"reading": (reading, unit), "acts above": (most, unit), "upper bound": (end.high, "")}
    return question.conflict(message, places, (loop.name,), arithmetic(figures, witness=witness))
