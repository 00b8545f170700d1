"""Answers of `sensor-sign`: the direction of the plant times the direction of the law, and a run that runs away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import now
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Tree
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._groups import Numbers, groups, reading, tried, witnessed
from coherence.loops.checks._law_signs import law_sign
from coherence.loops.checks._sign_certificates import certificate
from coherence.loops.designs.groups import LAPS, Group, place
from coherence.model.model import AIM, Model, SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Execution, Instant
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.orbits import hyperperiod
from coherence.simulate.execute.slices import sliced
from coherence.simulate.execute.starts import corners
from coherence.simulate.execute.timeline import shown, told_choices
from coherence.verify.facts.signs import BOTH, NONE, plant_sign
from coherence.verify.promises.certainty import POSSIBLE, Certainty, certainty

ENOUGH = 3  # actions in one direction, each after a reading that is further off


@dataclass(frozen=True)
class Away:
    """A run in which a loop acts again and again in one direction while its reading gets further off."""

    choices: Choices
    instants: tuple[Instant, ...]
    readings: tuple[Fraction, ...]
    commands: tuple[Fraction, ...]
    setpoint: Fraction


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop with a setpoint whose effect on its own reading has one direction."""
    for group, loop, judged, same in _with_one_sign(subject):
        if same:
            yield _positive(question, subject, group, loop)
        elif loop.law == "proportional":
            yield _negative(question, group, loop, judged)


def against_readings(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields a proof per loop without a proportional law that acts against what it reads."""
    for group, loop, judged, same in _with_one_sign(subject):
        if not same and loop.law != "proportional":
            yield _negative(question, group, loop, judged)


def _with_one_sign(subject: Subject) -> Iterator[tuple[Group, SampledLoop, Tree, bool]]:
    """Yields each loop with a setpoint, and what it reads, where its effect and its law have one direction each, with
    whether it is the same.
    """
    for group in (_with_aims(subject, group) for group in groups(subject)):
        for loop in group.loops:
            if loop.measured is None or loop.setpoint is None or not loop.signal:
                continue
            judged = loop.measured
            if loop.law == "proportional":
                judged = loop.recommendations[0].read or judged
            plant, law = plant_sign(group.model, loop.signal, judged), law_sign(loop, group.model)
            if not ({NONE, BOTH} & {plant, law}):
                yield group, loop, judged, plant == law


def _with_aims(subject: Subject, group: Group) -> Group:
    """Returns a group whose model has what its loops aim at, too, which only a proportional law compares."""
    others = [loop for loop in group.loops if loop.law != "proportional"]
    trees = {f"{name} of {loop.name}": getattr(loop, name) for loop in others for name in AIM}
    aims = {path: tree for path, tree in trees.items() if tree is not None}
    written = {loop.signal for loop in group.loops if loop.signal}
    model = sliced(subject.model, written | {name for tree in aims.values() for name in names_of(tree)})
    return replace(group, model=replace(model, outputs={**model.outputs, **aims})) if aims else group


def _negative(question: Question, group: Group, loop: SampledLoop, judged: Tree) -> Finding:
    script = certificate(group.model, loop.signal, judged)
    evidence = Evidence(Grade.PROVED, "one sign along every way from the command to the reading", certificate=script)
    alone = "of this loop alone, all others standing still"
    others = " and ".join(name for name in group.names if name != loop.name)
    message = f"{loop.name} acts against what it reads" + (f", as long as {others} does not act" if others else "")
    return question.proved(message, _places(loop, "lowers"), (loop.name,), evidence, assumptions=(alone,))


def _places(loop: SampledLoop, does: str) -> tuple[Place, ...]:
    places = [place(loop)]
    actuation = loop.source.actuation
    if actuation is not None and actuation.signal is not None:
        places.append(
            actuation.signal.place.labelled(f"raising this never {'raises' if does == 'lowers' else 'lowers'} it")
        )
    return tuple(places)


def _positive(question: Question, subject: Subject, group: Group, loop: SampledLoop) -> Finding:
    steps = tried(lambda: _aways(group.model, loop)) or []
    shown_runs = [step for step in steps if step is not None]
    evidence = _evidence(group, loop, shown_runs[0]) if shown_runs else None
    places = _places(loop, "raises")
    if evidence is None:
        return question.undecided(
            f"{loop.name} acts with what it reads, not against it; no run from the ends of the ranges moves away",
            places, (loop.name,),
        )  # fmt: skip
    away, model = shown_runs[0], group.model
    way = "raises" if away.commands[-1] > away.commands[0] else "lowers"
    message = (
        f"{loop.name} {way} {loop.signal} from {shown(model, loop.signal, away.commands[0])} to "
        f"{shown(model, loop.signal, away.commands[-1])}, and each step moves its reading further from the setpoint: "
        f"{_figure(away.readings[0])} to {_figure(away.readings[-1])}, wanted {_figure(away.setpoint)}"
    )
    comes = _certainty(model, loop, steps, now() + subject.time_limit)
    assumptions = (*told_choices(model, away.choices), *comes.assumptions, *model.abstractions)
    return question.conflict(
        message, places, (loop.name,), evidence,
        certain=comes.certain, assumptions=assumptions, repairs=_repairs(subject, loop),
    )  # fmt: skip


def _figure(number: Fraction) -> str:
    return f"{float(number):.4g}"


def _evidence(group: Group, loop: SampledLoop, away: Away) -> Evidence | None:
    numbers: Numbers = {
        "setpoint": (away.setpoint, ""),
        "first reading": (away.readings[0], ""),
        "last reading": (away.readings[-1], ""),
        f"{loop.signal} before": (away.commands[0], ""),
        f"{loop.signal} after": (away.commands[-1], ""),
    }
    return witnessed(group.model, away.choices, away.instants, "one sign along every way, and exact execution", numbers)


def _certainty(model: Model, loop: SampledLoop, steps: Sequence[Away | None], deadline: float) -> Certainty:
    """Returns whether the loop acts away from its setpoint whatever the design leaves open."""
    if one_ended(model) or None in steps:
        return POSSIBLE

    def moved(choices: Choices) -> int:
        moving_away = tried(away, model, loop, choices)
        return len(moving_away.instants) if moving_away is not None else 0

    return certainty(model, moved, deadline)


def _aways(model: Model, loop: SampledLoop) -> list[Away | None]:
    return [away(model, loop, choices) for choices in corners(model)]


def away(model: Model, loop: SampledLoop, choices: Choices) -> Away | None:
    """Returns a run in which the loop acts several times in one direction while its reading gets further off."""
    run, end = Execution(model, choices), LAPS * hyperperiod(model)
    instants: list[Instant] = []
    steps: list[tuple[Fraction, Fraction, Fraction]] = []  # command before, after, reading
    while run.next_time() <= end:
        instants.append(run.advance())
        action = next((a for a in instants[-1].actions if a.loop == loop.name), None)
        if action is None or loop.measured is None or loop.setpoint is None:
            continue
        seen, wanted = reading(run, loop, loop.measured), reading(run, loop, loop.setpoint)
        step = (plain(action.before), plain(action.after), seen)
        steps = [*steps, step] if steps and _further(steps[-1], step, wanted) else [step]
        if len(steps) == ENOUGH:
            return Away(choices, tuple(instants), tuple(k[2] for k in steps), (steps[0][0], steps[-1][1]), wanted)
    return None


def _further(
    first: tuple[Fraction, Fraction, Fraction], next_: tuple[Fraction, Fraction, Fraction], wanted: Fraction
) -> bool:
    same = (first[1] > first[0]) == (next_[1] > next_[0])
    side = (first[2] > wanted) == (next_[2] > wanted)
    return same and side and abs(next_[2] - wanted) > abs(first[2] - wanted)


def _repairs(subject: Subject, loop: SampledLoop) -> list[Repair]:
    """Steps the other way round; a proportional law has no sign to change."""
    actuation = loop.source.actuation
    steps = [actuation.by if actuation else None, *(rule.by for rule in loop.source.rules)]
    edits = [repairs.change(subject, by, -by.low) for by in steps if isinstance(by, Quantity) and by.exact]
    repair = repairs.proposal(*edits)
    return [repair] if repair else []
