"""Loops in feedback, as the checks share them: the groups that can run, their exact runs, their linear verdict.

A group that needs a fact which the design does not state is left out: sustained-oscillation names the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from coherence.base.reads import with_changes
from coherence.findings.finding import Evidence, Grade
from coherence.findings.question_input import Subject
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Call, Tree, rename, walk
from coherence.language.sentences import Promise
from coherence.loops.designs.groups import LAPS, MOST_INSTANTS, Group, middle, needs
from coherence.loops.designs.groups import groups as every_group
from coherence.loops.designs.groups import runs as exact_runs
from coherence.loops.designs.linear import Linear, linearise
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError, View, replay
from coherence.simulate.execute.lookback import LOOK_BACK
from coherence.simulate.execute.orbits import LongRun, long_run
from coherence.simulate.execute.starts import corners, fixed_at
from coherence.simulate.execute.timeline import timeline

# what a run, or the arithmetic on its linearisation (numbers of a million bits), cannot carry out
NOT_CARRIED = (NotExactError, MissingValueError, ZeroDivisionError, OverflowError, ValueError)
SMOOTH = ("proportional", "set")
Numbers = dict[str, tuple[Fraction | float | int, str]]
T = TypeVar("T")


def groups(subject: Subject) -> tuple[Group, ...]:
    """Returns loops in feedback that the executor can run, in order of declaration."""
    return tuple(
        group for group in every_group(subject) if not needs(subject, group) and any(x.signal for x in group.loops)
    )


def runs(subject: Subject, group: Group) -> tuple[LongRun, ...]:
    """Returns the exact run from each end of the ranges; empty where one leaves the rationals."""
    return tried(exact_runs, subject, group) or ()


def runs_of(model: Model, laps: int = LAPS) -> tuple[LongRun, ...]:
    """Returns the exact run from each end of the ranges.  Raises NotExactError, MissingValueError."""
    return tuple(long_run(model, choices, laps=laps, most=MOST_INSTANTS) for choices in corners(model))


def tried(compute: Callable[..., T], *arguments: Any) -> T | None:
    """Returns the result, or None where a run cannot be carried out."""
    try:
        return compute(*arguments)
    except NOT_CARRIED:
        return None


def swings(group: Group, run: LongRun) -> bool:
    """Returns whether a command of the group keeps changing on the orbit."""
    return run.orbit is not None and any(run.orbit.turns(loop.signal) for loop in group.loops if loop.signal)


def settled(run: LongRun) -> bool:
    """Returns whether the run comes to rest (or closes in on a point)."""
    return run.orbit is not None and run.orbit.still


def smooth(loop: SampledLoop) -> bool:
    """Returns whether its law has a derivative once rounding, windows and bounds are taken out."""
    return loop.law in SMOOTH and not loop.relay and loop.trigger is None and not loop.rules


def linear_at(subject: Subject, group: Group, choices: Choices | None = None) -> Linear | None:
    """Returns the linear verdict near where the first run ends, of the constants of these choices or of that run;
    None for other laws and where there is none.
    """
    if not all(smooth(loop) for loop in group.loops):
        return None
    values = tuple(choices.values.items()) if choices is not None else ()
    query = (linear_at, *group.names, *values)
    return subject.queries.get(query, lambda: tried(lambda: _linear(subject, group, choices)))


def _linear(subject: Subject, group: Group, choices: Choices | None) -> Linear | None:
    found = runs(subject, group)
    model = fixed_at(group.model, choices or found[0].choices) if found else group.model
    return linearise(model, middle(group.model, found[0])) if found else None


def without(model: Model, stopped: tuple[SampledLoop, ...], spans: dict[str, Interval] | None = None) -> Model:
    """Returns the model in which these loops do not act; their commands stand somewhere in `spans` (where they
    began)."""
    names = {loop.name for loop in stopped}
    commands = {p: with_changes(c, initial=(spans or {}).get(p, c.initial)) for p, c in model.commands.items()}
    return replace(model, loops=tuple(loop for loop in model.loops if loop.name not in names), commands=commands)


def altered(model: Model, loop: SampledLoop, **changes: Any) -> Model:
    """Returns the model in which one loop is different."""
    loops = tuple(with_changes(one, **changes) if one.name == loop.name else one for one in model.loops)
    return replace(model, loops=loops)


def reading(run: Execution, loop: SampledLoop, tree: Tree) -> Fraction:
    """Returns a tree as the loop's sample of the present instant saw it."""
    seen: Fraction = plain(evaluate(tree, View(run, run.time, run.seen, loop.name)))
    return seen


@dataclass(frozen=True)
class Broken:
    """A run that breaks an `always` or `never` promise: its text, the choices, the instants up to there."""

    promise: Promise
    choices: Choices
    instants: tuple[Instant, ...]


def breaks(subject: Subject, model: Model, choices: Choices, until: Fraction) -> Broken | None:
    """Returns the first `always` or `never` promise that the run breaks up to a time, of those about the present."""
    written = [(p, c, p.kind == "always") for p, c in promises(subject, model) if not _looks_back(c)]
    run, instants = Execution(model, choices), list[Instant]()
    while written and run.next_time() <= until and run.count < MOST_INSTANTS:
        instants.append(run.advance())
        for promise, condition, wanted in written:
            for values in (instants[-1].sampled, instants[-1].after):
                if bool(evaluate(condition, View(run, run.time, dict(values)))) is not wanted:
                    return Broken(promise, choices, tuple(instants))
    return None


def _looks_back(condition: Tree) -> bool:
    """Returns whether a condition needs a past that a run of the loops alone does not keep."""
    return any(isinstance(node, Call) and node.function in LOOK_BACK for node in walk(condition))


def promises(subject: Subject, model: Model) -> Iterator[tuple[Promise, Tree]]:
    """`always` and `never` promises about what this part of the model computes, with full paths."""
    for promise in subject.model.promises.values():
        if promise.kind in ("always", "never") and promise.condition is not None:
            condition = rename(promise.condition.tree, subject.model.resolve)
            kinds = {model.kind(path) for path in names_of(condition)}
            if kinds & {"state", "command", "output", "loop"} and "input" not in kinds:
                yield promise, condition


def witnessed(
    model: Model, choices: Choices, instants: tuple[Instant, ...], method: str, numbers: Numbers
) -> Evidence | None:
    """Evidence by a run that replays exactly; None where it does not."""
    if not replay(model, choices, list(instants)):
        return None
    return Evidence(Grade.PROVED, method, timeline(model, instants), numbers=numbers, replayed=True)
