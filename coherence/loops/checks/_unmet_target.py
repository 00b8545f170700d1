"""Answers of `unmet-target`: readings of loops that rest at their upper bounds, by exact execution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.number_text import figure_unit, render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.tree import Tree, rename
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._groups import Numbers, groups, runs, settled, tried, witnessed
from coherence.loops.designs.groups import Group, place
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.orbits import LongRun
from coherence.simulate.execute.timeline import shown, told_choices
from coherence.verify.facts.satisfiability import plain as steady
from coherence.verify.promises.exact_runs import every_run

SHOWN = 60  # instants of a run


def answers(question: Question, subject: Subject, but: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yields a conflict per loop, but for these, that rests at its upper bound while it reads more than it wants."""
    for group in groups(subject):
        every = runs(subject, group)
        still = [run for run in every if settled(run)]
        for loop in group.loops if but.isdisjoint(group.names) else ():
            unmet = [(run, reading) for run in still if (reading := tried(_unmet, group.model, loop, run)) is not None]
            if unmet and (finding := _answer(question, subject, group, loop, every, unmet[0])) is not None:
                yield finding


def _unmet(model: Model, loop: SampledLoop, run: LongRun) -> tuple[Fraction, Fraction] | None:
    """Returns (reading, setpoint), where the command rests at its upper bound and the reading is above the target."""
    assert run.orbit is not None
    if loop.law != "proportional" or loop.measured is None or loop.setpoint is None:
        return None
    after = run.orbit.lap[-1].after
    if plain(after[loop.signal]) != loop.bounds.high:
        return None
    world = Constants({**{path: c.range.low for path, c in model.constants.items()}, **run.choices.values, **after})
    measured = _at_rest(model, loop.measured)
    reading, setpoint = (plain(evaluate(tree, world)) for tree in (measured, _at_rest(model, loop.setpoint)))
    higher = Constants({**world.at, loop.signal: 2 * loop.bounds.high})
    away = plain(evaluate(measured, higher)) > reading  # its own action is to blame: `sensor-sign`
    above = setpoint > 0 and reading > setpoint * (1 + loop.tolerance)
    return (reading, setpoint) if above and not away else None


def _is_unmet(model: Model, loop: SampledLoop, run: LongRun) -> bool:
    return settled(run) and tried(_unmet, model, loop, run) is not None


def _at_rest(model: Model, tree: Tree) -> Tree:
    """Returns the expression with its outputs, where nothing changes: the past is the present."""

    def inlined(path: str) -> Tree | str:
        return _at_rest(model, model.outputs[path]) if path in model.outputs else path

    return rename(steady(tree, steady=True), inlined)


def _answer(
    question: Question, subject: Subject, group: Group, loop: SampledLoop,
    every: Sequence[LongRun], unmet: tuple[LongRun, tuple[Fraction, Fraction]],
) -> Finding | None:  # fmt: skip
    (run, reading), bound = unmet, loop.bounds.high
    assert bound is not None
    target = subject.design.loops[loop.name].target
    dimension = target.setpoint.dimension if target is not None and isinstance(target.setpoint, Quantity) else ONE
    unit, (reads, wanted) = figure_unit(dimension), (render_quantity(value, dimension) for value in reading)
    numbers: Numbers = {"reading": (reading[0], unit), "wanted": (reading[1], unit), "upper bound": (bound, "")}
    evidence = witnessed(group.model, run.choices, tuple(run.instants[:SHOWN]), "exact execution to rest", numbers)
    if evidence is None:
        return None
    names = " and ".join(group.names)
    message = (
        f"{names} come{'s' * (len(group.loops) == 1)} to rest with {loop.signal} at its upper bound "
        f"{shown(group.model, loop.signal, bound)} and the target of {loop.name} unmet: "
        f"it reads {reads}, wanted {wanted}"
    )
    certainty = every_run(group.model, every, lambda one: _is_unmet(group.model, loop, one), subject.time_limit)
    assumptions = (*told_choices(group.model, run.choices), *certainty.assumptions)
    return question.conflict(
        message, (place(loop), *_bounds(loop)), group.names, evidence, certain=certainty.certain,
        assumptions=assumptions, repairs=_room(subject, loop, reading[0] / reading[1]),
    )  # fmt: skip


def _room(subject: Subject, loop: SampledLoop, times: Fraction) -> Iterator[Repair]:
    """Yields an upper bound so many times as high: enough where the reading falls with what is written."""
    ends = loop.source.actuation.bounds if loop.source.actuation is not None else ()
    end = ends[-1] if len(ends) > 1 else None
    if isinstance(end, Quantity) and end.exact:
        repair = repairs.proposal(repairs.change(subject, end, Fraction(math.ceil(end.high * times))))
        yield from [repair] if repair is not None else []


def _bounds(loop: SampledLoop) -> Iterator[Place]:
    ends = loop.source.actuation.bounds if loop.source.actuation is not None else ()
    yield from (end.place.labelled("the bound at which it rests") for end in ends[-1:])
