"""Answers of `integer-cycling`: the same loop with and without whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from coherence.base.number_text import render_clock, render_decimal
from coherence.base.places import Place
from coherence.base.reads import rebuilt
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Tree
from coherence.loops.checks._groups import Numbers, groups, linear_at, runs, settled, smooth, swings, tried, witnessed
from coherence.loops.designs.groups import LAPS, MOST_INSTANTS, Group
from coherence.loops.designs.linear import Linear
from coherence.model.model import Model, SampledLoop, State, changed_outputs
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.lookback import parts_of
from coherence.simulate.execute.orbits import LongRun, hyperperiod
from coherence.simulate.execute.single_loop_runs import every_rest
from coherence.simulate.execute.timeline import shown, told_choices
from coherence.verify.promises.exact_runs import every_run

WHOLE, MOST_STARTS = ("ceil", "floor"), 200
TOLERANCES = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))
STILL, TAIL = 1e-6, 8  # relative change, over the last eighth of a run, below which it has come to rest


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group with a smooth law that is rounded to whole numbers."""
    for group in groups(subject):
        if not all(smooth(loop) for loop in group.loops) or not rounds(group.model):
            continue
        followed = runs(subject, group)
        swinging = [run for run in followed if swings(group, run)]
        if swinging:
            yield from _cycles(question, subject, group, followed, swinging)
        elif followed and all(settled(run) for run in followed):
            yield from _settles(question, group)


def rounds(model: Model) -> bool:
    """Returns whether anything is rounded to whole numbers or multiples."""
    return any(loop.integer and loop.law == "proportional" for loop in model.loops) or bool(
        parts_of(model, lambda part: isinstance(part, Call) and part.function in WHOLE)
    )


def unrounded(model: Model) -> Model:
    """Returns the model over the reals: laws that do not round up, expressions without ceil and floor."""
    states = {path: _real_state(state) for path, state in model.states.items()}
    return replace(
        model,
        loops=tuple(_real_loop(loop) for loop in model.loops),
        states=states,
        commands={path: rebuilt(command, integer=_no) for path, command in model.commands.items()},
        outputs=changed_outputs(model, real),
    )


def _real_state(state: State) -> State:
    return rebuilt(state, next=lambda: _maybe(state.next), flow=lambda: _maybe(state.flow), integer=_no)


def _real_loop(loop: SampledLoop) -> SampledLoop:
    names = ("trigger", "by", "to", "measured", "setpoint", "ready")
    trees = {name: partial(lambda name: _maybe(getattr(loop, name)), name) for name in names}
    return rebuilt(loop, integer=_no, **trees)


def _no() -> bool:
    return False


def _maybe(tree: Tree | None) -> Tree | None:
    return None if tree is None else real(tree)


def real(tree: Tree) -> Tree:
    """Returns the tree with every ceil(x) and floor(x) replaced by x."""
    match tree:
        case Call(function="ceil" | "floor", arguments=(part,)):
            return real(part)
        case Call(arguments=parts):
            return replace(tree, arguments=tuple(real(part) for part in parts))
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            return replace(tree, left=real(left), right=real(right))
        case Logic(terms=terms):
            return replace(tree, terms=tuple(real(term) for term in terms))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return replace(tree, condition=real(condition), then=real(then), otherwise=real(otherwise))
        case Held(condition=condition):
            return replace(tree, condition=real(condition))
    return tree


def rests(model: Model, choices: Choices) -> bool:
    """Returns whether the run in floating point comes to rest."""
    from coherence.simulate.execute.hybrid import execute

    until = hyperperiod(model) * LAPS
    instants = execute(model, choices, until=until, most=MOST_INSTANTS).instants
    last = instants[-max(2, len(instants) // TAIL) :]
    for path in (*model.commands, *model.states):
        values = [float(i.after[path]) for i in last]
        if max(values) - min(values) > STILL * max(map(abs, values)):
            return False
    return True


def _by_rounding(group: Group, unrounded_model: Model, run: LongRun) -> bool:
    return swings(group, run) and bool(tried(rests, unrounded_model, run.choices))


def _cycles(
    question: Question, subject: Subject, group: Group, runs: tuple[LongRun, ...], swinging: list[LongRun]
) -> Iterator[Finding]:
    linear = linear_at(subject, group, swinging[0].choices)
    if linear is None or not any(one.stable for _, one in linear.branches):
        return
    model = unrounded(group.model)
    if not tried(lambda: all(rests(model, run.choices) for run in runs)):
        return
    run = swinging[0]
    numbers = _numbers(group, run, linear)
    assert run.orbit is not None
    seen = [i for i in run.instants if i.time <= run.orbit.start + run.orbit.period]
    evidence = witnessed(group.model, run.choices, tuple(seen), "exact execution to a recurrence", numbers)
    if evidence is None:
        return
    names = " and ".join(group.names)
    message = (
        f"whole numbers alone keep {names} swinging: {_ranges(group, run)} every {render_clock(run.orbit.period)}; "
        f"without rounding every run comes to rest (linear growth {_growths(linear)} per lap)"
    )
    smooth_run = "that it rests without rounding was run in floating point, from the same starts"
    certainty = every_run(group.model, runs, lambda one: _by_rounding(group, model, one), subject.time_limit)
    chosen = told_choices(group.model, run.choices)
    yield question.conflict(
        message, _places(group), group.names, evidence, certain=certainty.certain,
        assumptions=(*chosen, smooth_run, *certainty.assumptions, *group.model.abstractions),
        repairs=_repairs(subject, group),
    )  # fmt: skip


def _growths(linear: Linear) -> str:
    """Returns the growth of each branch, smallest first."""
    return " or ".join(f"{growth:.4g}" for growth in sorted(one.modulus for _, one in linear.branches))


def _places(group: Group) -> tuple[Place, ...]:
    """Returns where each loop reads, and the commands that are rounded."""
    actuations = [(loop, loop.source.actuation) for loop in group.loops if loop.integer]
    rounded = [
        actuation.signal.place.labelled(f"{loop.name} rounds this up to a whole number")
        for loop, actuation in actuations
        if actuation is not None and actuation.signal is not None
    ]
    return (*group.places, *rounded)


def _repairs(subject: Subject, group: Group) -> Iterator[Repair]:
    """Yields a tolerance in which whole numbers have room, where there is none or a smaller one."""
    for loop in group.loops:
        target = loop.source.target
        if target is None or target.setpoint is None or loop.law != "proportional":
            continue
        for tolerance in TOLERANCES:
            if tolerance <= loop.tolerance:
                continue
            if target.tolerance is not None:
                repair = repairs.proposal(repairs.change(subject, target.tolerance, tolerance))
            else:
                text = f"{render_decimal(tolerance * 100)} %"
                repair = repairs.proposal(repairs.insert(subject, target.setpoint.place, "tolerance", text))
            if repair is not None:
                yield repair


def _signals(group: Group) -> tuple[str, ...]:
    return tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))


def _ranges(group: Group, run: LongRun) -> str:
    assert run.orbit is not None
    ranges = []
    for signal in _signals(group):
        low, high = run.orbit.range_of(signal)
        if low != high:
            ranges.append(f"{signal} between {shown(group.model, signal, low)} and {shown(group.model, signal, high)}")
    return ", ".join(ranges)


def _numbers(group: Group, run: LongRun, linear: Linear) -> Numbers:
    assert run.orbit is not None
    numbers: Numbers = {"period": (run.orbit.period, "s"), "linear growth per lap": (linear.verdict.modulus, "")}
    for signal in _signals(group):
        low, high = run.orbit.range_of(signal)
        numbers |= {f"{signal} lowest": (low, ""), f"{signal} highest": (high, "")}
        if signal in linear.point:
            numbers[f"{signal} smooth"] = (_short(linear.point[signal]), "")
    return numbers


def _short(x: Fraction) -> Fraction:
    return x if x.denominator < 10**6 else Fraction(f"{float(x):.8g}")


def _settles(question: Question, group: Group) -> Iterator[Finding]:
    """Proved where the starts are finitely many and few: each is run to an exact rest."""
    if len(group.loops) > 1 or group.model.states:
        return
    rests = tried(lambda: every_rest(group.model, laps=LAPS, most=MOST_INSTANTS, starts=MOST_STARTS))
    if rests is not None and (count := rests.starts):
        starts = "its only start" if count == 1 else f"all {count} starts"
        script = certificate(group.model, rests.runs, rest=True)
        evidence = Evidence(Grade.PROVED, f"exact execution of {starts} to a recurrence", certificate=script)
        message = f"whole numbers do not keep {group.names[0]} swinging: it comes to rest from {starts}"
        yield question.proved(message, group.places, group.names, evidence, assumptions=group.model.abstractions)
