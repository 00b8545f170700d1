"""Conditions that must last longer than the burst that makes them true."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Loop
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Held, Tree
from coherence.language.schema_kinds import Formula
from coherence.language.workloads import Workload
from coherence.model.model import Interval
from coherence.verify.actions.loop_directions import loop_trigger, seen
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import Values, truth


def answers(ask: Question, subject: Subject, facts: DesignFacts, values: Values) -> Iterator[Finding]:
    """Yields one answer per `for` window that no burst fills."""
    bursts = [w for w in subject.design.workload.values() if w.burst and w.burst.lasts and w.rate]
    for workload in bursts:
        for loop in subject.design.loops.values():
            for formula in _conditions(loop):
                held = _held(seen(facts, loop, formula.tree))
                if held is not None and _only_in_bursts(held, workload, values):
                    yield _answer(ask, loop, formula, held, workload)


def _conditions(loop: Loop) -> Iterator[Formula]:
    trigger = loop_trigger(loop)
    yield from (trigger,) if trigger is not None else ()
    yield from (rule.when for rule in loop.rules if rule.when is not None)


def _held(tree: Tree) -> Held | None:
    return tree if isinstance(tree, Held) else None


def _only_in_bursts(held: Held, workload: Workload, values: Values) -> bool:
    """Returns whether it is read at once from the rate alone, false in calm, true in a burst, and needed for longer."""
    burst, rate = workload.burst, workload.rate
    assert burst is not None
    assert rate is not None
    if burst.lasts is None or burst.rate is None or (burst.every is not None and burst.every.low <= burst.lasts.high):
        return False
    path = f"{workload.name}.rate"
    inner = held.condition
    if path not in used(inner) or any(type(node).__name__ in ("Call", "Held") for node in walk(inner)):
        return False
    if any(name != path and not values.get(name, Interval(None, None)).exact for name in used(inner)):
        return False
    if values[path].high is None:  # retries: the rate may stay up after the burst
        return False
    calm = truth(inner, {**values, path: Interval(rate.low, rate.high)})
    high = truth(inner, {**values, path: Interval(burst.rate.low, burst.rate.high)})
    return calm is False and high is not False and burst.lasts.high < held.duration


def _answer(ask: Question, loop: Loop, formula: Formula, held: Held, workload: Workload) -> Finding:
    burst = workload.burst
    assert burst is not None
    assert burst.lasts is not None
    lasts, needed = burst.lasts.high, held.duration
    message = (
        f"{formula} never holds: {workload.name} bursts last {render_seconds(lasts)}, "
        f"it must last {render_seconds(needed)}"
    )
    places = (formula.place.labelled("must last longer"), burst.lasts.place.labelled("than the burst that causes it"))
    steps = (Step(Fraction(0), f"a burst of {workload.name} begins"), Step(lasts, "it is over: the window starts anew"))
    numbers = {"burst lasts": (lasts, "s"), "needed": (needed, "s")}
    certificate = Certificate(claim=f"(< {rational(lasts)} {rational(needed)})").script()
    evidence = arithmetic(numbers, witness=steps, certificate=certificate)
    return ask.conflict(message, places, (loop.name,), evidence, certain=False)
