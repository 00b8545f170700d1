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
    plain = target is not None and target.signal is not None and (target.kind is None or target.kind.text != "average")
    bounded = actuation is not None and len(actuation.bounds) == 2
    return always and plain and bounded and law_of(loop) == "proportional"


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
    reading, most = facts.range(tree).low, setpoint.high * (1 + slack)
    if reading is None or most <= 0 or reading <= most:
        return None
    shown, wanted = (render_quantity(value, setpoint.dimension) for value in (reading, setpoint.high))
    written = loop.written
    message = (
        f"{loop.name} reads {target.signal} = {shown} or more, which nothing in the design moves, and wants {wanted}: "
        f"{written} goes to its upper bound {render_quantity(end.high, ONE)} and stays there"
    )
    places = [
        setpoint.place.labelled("wanted"),
        *(facts.places[path].labelled(f"{path}, whatever {written} is") for path in paths if path in facts.places),
        end.place.labelled("the bound at which it rests"),
    ]
    witness = (
        Step(Fraction(0), f"{target.signal} is {shown}, above {render_quantity(most, setpoint.dimension)}"),
        Step(None, f"{loop.name} raises {written}; {target.signal} stays"),
        Step(None, f"{written} is {render_quantity(end.high, ONE)}: it can do no more"),
    )
    unit = figure_unit(setpoint.dimension)
    figures = {"reading": (reading, unit), "acts above": (most, unit), "upper bound": (end.high, "")}
    return question.conflict(message, places, (loop.name,), arithmetic(figures, witness=witness))
