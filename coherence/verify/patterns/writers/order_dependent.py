"""order dependence: the order in which two loops decide chooses where the design comes to rest.

## What
Takes loops of equal rank that meet at some instants and of which each reads, or writes, what the other one writes.
Where the part of the design is complete it is executed exactly in both orders from the ends of the ranges.  Both
runs settle, and at different values (by more than a fifth, which is more than dead bands explain): then the order is
part of the behaviour and nothing in the design states it.  It is a conflict where a promise holds in one order and
breaks in the other, a warning otherwise; both outcomes are replayed.

Boundary: runs that keep swinging are `sustained-oscillation`; loops that only set one field are
`no-common-fixed-point`; a stated `rank` or phase is an answer.

## Why it hurts
A restart, an upgrade or a slower node changes who is first, and the same load rests at other sizes than last week.
Nobody can say which of the two is meant.

## Example
```yaml
coherence: 1
components:
  pod: {load: 40, usage: pod.load / (pod.replicas * pod.request)}
loops:
  horizontal:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 1}
    actuation: {signal: pod.replicas, law: proportional, bounds: [1, 64], from: 4}
  vertical:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 1}
    actuation: {signal: pod.request, law: proportional, bounds: [1, 64], from: 5}
```

## Instead
A stated order (`rank: 1` and `rank: 2`), or one of the two on a signal that the other one does not move.

## Source
gardener/gardener#7410 (an HPA and a VPA: whichever acts first moves the state off the intended line).  Non-commuting
maps have several fixed points; orders of equal rank: the one model, rule 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.clock import is_over, now
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Loop
from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Name, Tree, rename
from coherence.model.model import Model, SampledLoop, unit_of
from coherence.simulate.execute.slices import feedback_groups, influences, reads
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.promises import exact_runs
from coherence.verify.promises.exact_runs import ClosedRuns, closed

if TYPE_CHECKING:
    from coherence.simulate.execute.orbits import LongRun
    from coherence.verify.promises.certainty import Certainty

QUESTION = Question("COH234", "order-dependent", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
MOST_PAIRS = 50
LEAST_DIFFERENCE = Fraction(1, 5)  # two rests of one load this far apart are two sizes, not one dead band


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of loops whose order is open and matters."""
    yield from _unrelated(subject)
    timed = [loop for loop in subject.design.loops.values() if loop.timescale and loop.timescale.period]
    if len(timed) < 2:
        return
    model = subject.model
    pairs = (pair for pair in _meeting(model) if _open(model, *pair))
    deadline = now() + subject.time_limit
    for number, (first, second) in enumerate(pairs):
        if number == MOST_PAIRS or is_over(deadline):
            why, bound = ("too many pairs", f"{MOST_PAIRS} pairs") if number == MOST_PAIRS else ("the time limit", "")
            yield QUESTION.undecided(why, (_place(first), _place(second)), (first.name, second.name), bound=bound)
            return
        yield from _pair(subject, first, second)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each pair whose order the design states by two ranks, though it would matter."""
    ranked = [loop for loop in subject.design.loops.values() if loop.rank is not None]
    model = subject.model if len(ranked) > 1 else None
    for first, second in itertools.islice(itertools.combinations(model.loops if model else (), 2), MOST_PAIRS):
        if model is not None and first.rank != second.rank and _see_each_other(model, first, second):
            early, late = sorted((first, second), key=lambda loop: loop.rank)
            claim = f"(< {rational(early.rank)} {rational(late.rank)})"
            evidence = arithmetic({}, certificate=Certificate(claim=claim).script())
            message = f"{early.name} comes before {late.name} wherever both decide"
            yield QUESTION.absent(message, (_place(first), _place(second)), (first.name, second.name), evidence)


def _unrelated(subject: Subject) -> Iterator[Finding]:
    """Two loops steer one reading by two settings of the thing that is read, and the design does not say how."""
    steering = [loop for loop in subject.design.loops.values() if _steers(loop)]
    if len(steering) < 2:
        return
    facts = known(subject)
    by_reading: dict[str, list[tuple[str, Loop]]] = {}
    for loop in steering:
        read, written = _steered(facts, loop)
        if read.partition(".")[0] == written.partition(".")[0]:
            by_reading.setdefault(read, []).append((written, loop))
    for read, own in by_reading.items():
        if read not in facts.outputs and read not in facts.values:
            yield from _unranked(read, own)


def _unranked(read: str, steering: Sequence[tuple[str, Loop]]) -> Iterator[Finding]:
    """Yields an answer for each two loops that hold one reading by two settings, and of which none acts first."""
    for (first, left), (second, other) in itertools.combinations(steering, 2):
        ranked = left.rank is not None and other.rank is not None and left.rank.low != other.rank.low
        if first == second or ranked:
            continue
        places = (left.place.labelled(f"moves {first} by {read}"), other.place.labelled(f"moves {second} by {read}"))
        needs = f"needs {read} as an expression of {first} and {second}: who acts first may decide where both rest"
        yield QUESTION.undecided(needs, places, (left.name, other.name))


def _steers(loop: Loop) -> bool:
    """Returns whether it holds one signal at a setpoint by another one."""
    actuation, target = loop.actuation, loop.target
    if actuation is None or actuation.signal is None or target is None or target.signal is None:
        return False
    return actuation.law is not None and actuation.law.text == "proportional" and isinstance(target.signal.tree, Name)


def _steered(facts: DesignFacts, loop: Loop) -> tuple[str, str]:
    """(what it reads, what it writes)."""
    assert loop.actuation is not None
    assert loop.actuation.signal is not None
    assert loop.target is not None
    assert loop.target.signal is not None
    paths = loop.actuation.signal.text, loop.target.signal.text
    written, read = (facts.bare.get(path.strip(), path.strip()) for path in paths)
    return read, written


def _meeting(model: Model) -> Iterator[tuple[SampledLoop, SampledLoop]]:
    """Yields each two loops that write one signal, or that each see what the other one has written."""
    by_signal: dict[str, list[SampledLoop]] = {}
    for loop in model.loops:
        if loop.signal:
            by_signal.setdefault(loop.signal, []).append(loop)
    seen: set[tuple[str, str]] = set()
    for own in (*by_signal.values(), *feedback_groups(model)):
        for first, second in itertools.combinations(own, 2):
            if (first.name, second.name) not in seen:
                seen.add((first.name, second.name))
                yield first, second


def _open(model: Model, first: SampledLoop, second: SampledLoop) -> bool:
    """Returns whether they have one rank, instants in common, and each sees what the other one has written."""
    if first.rank != second.rank or (first.phase or 0) != (second.phase or 0):
        return False
    return _see_each_other(model, first, second)


def _see_each_other(model: Model, first: SampledLoop, second: SampledLoop) -> bool:
    """Returns whether each of them sees what the other one has written."""
    if not first.signal or not second.signal or {first.law, second.law} == {"set"}:
        return False
    if first.signal == second.signal:
        return True
    return first.signal in influences(model, reads(second)) and second.signal in influences(model, reads(first))


def _pair(subject: Subject, left: SampledLoop, other: SampledLoop) -> Iterator[Finding]:
    signals = (left.signal, other.signal)
    part = closed(subject, signals)
    names = {loop.name for loop in part.model.loops}
    if not part.runs or not {left.name, other.name} <= names:
        return
    for run in part.runs:
        first, second = (_ordered(part, run, a, b) for a, b in ((left, other), (other, left)))
        if first is None or second is None or not (_rests(first) and _rests(second)):
            return  # it swings in one order: sustained-oscillation, or another question
        if _differ(subject, part, first, second, signals):
            yield from _answer(subject, part, left, other, first, second)
            return
    if (starts := exact_runs.start_count(part.model)) > len(part.runs):
        message = f"whether the order of {left.name} and {other.name} matters: {starts} ends of the ranges are too many"
        bound = f"{len(part.runs)} of {starts} ends of the ranges, in both orders"
        yield QUESTION.undecided(message, (_place(left), _place(other)), (left.name, other.name), bound=bound)


def _ordered(part: ClosedRuns, run: LongRun, first: SampledLoop, second: SampledLoop) -> LongRun | None:
    """Returns the run with these two in this order, the others where they are."""
    from coherence.simulate.execute.exact import Choices

    order = [loop.name for loop in part.model.loops]
    places = sorted(order.index(loop.name) for loop in (first, second))
    order[places[0]], order[places[1]] = first.name, second.name
    chosen = Choices(run.choices.values, run.choices.phases, tuple(order))
    return exact_runs.run_with(part.model, chosen)


def _rests(run: LongRun) -> bool:
    return run.orbit is not None and run.orbit.still and not any(i.actions for i in run.orbit.lap)


def _levels(run: LongRun, signals: tuple[str, ...]) -> dict[str, Fraction]:
    from coherence.simulate.execute.affine import plain

    assert run.orbit is not None
    return {signal: plain(run.orbit.lap[-1].after[signal]) for signal in signals}


def _differ(subject: Subject, part: ClosedRuns, first: LongRun, second: LongRun, signals: tuple[str, ...]) -> bool:
    """Further apart than a dead band explains, or told apart by a promise."""
    a, b = _levels(first, signals), _levels(second, signals)
    far = any(abs(a[s] - b[s]) > LEAST_DIFFERENCE * max(abs(a[s]), abs(b[s])) for s in signals)
    return far or (a != b and _torn(subject, part, first, second) is not None)


def _answer(
    subject: Subject, part: ClosedRuns, left: SampledLoop, other: SampledLoop, first: LongRun, second: LongRun
) -> Iterator[Finding]:
    from coherence.simulate.execute.exact import replay
    from coherence.simulate.execute.timeline import told_choices
    from coherence.verify.promises.certainty import POSSIBLE

    names = (left.name, other.name)
    places: tuple[Place, ...] = (_place(left), _place(other))
    if not all(replay(part.model, run.choices, list(run.instants[:400])) for run in (first, second)):
        yield QUESTION.undecided("the witness does not replay", places, names)
        return
    signals = tuple(dict.fromkeys((left.signal, other.signal)))
    steps = [
        Step(None, f"{a.name} before {b.name}: it rests with {_shown(part.model, run, signals)}")
        for a, b, run in ((left, other, first), (other, left, second))
    ]
    numbers = {
        f"{signal}, {a.name} first": (level, "")
        for a, run in ((left, first), (other, second)) for signal, level in _levels(run, signals).items()
    }  # fmt: skip
    torn = _torn(subject, part, first, second)
    message = (
        f"the order of {left.name} and {other.name} decides where they rest: {_shown(part.model, first, signals)}, "
        f"or {_shown(part.model, second, signals)}"
    )
    if torn is not None:
        message += f"; {torn[0]} holds in one order only"
        places += (torn[1].labelled("kept in one order, broken in the other"),)
    evidence = Evidence(Grade.PROVED, "exact execution in both orders", tuple(steps), numbers=numbers, replayed=True)
    sure = _torn_whatever_is_open(subject, part, left, other) if torn is not None else POSSIBLE
    yield QUESTION.conflict(
        message, places, (*names, *((torn[0],) if torn else ())), evidence, certain=sure.certain,
        assumptions=(*told_choices(part.model, first.choices), *sure.assumptions, *part.model.abstractions),
        repairs=_repairs(subject, left, other),
    )  # fmt: skip


def _torn_whatever_is_open(subject: Subject, part: ClosedRuns, left: SampledLoop, other: SampledLoop) -> Certainty:
    """Returns whether a promise is kept in one order and broken in the other from every start and at all phases."""

    def differs(run: LongRun) -> bool:
        first, second = (_ordered(part, run, a, b) for a, b in ((left, other), (other, left)))
        if first is None or second is None or not (_rests(first) and _rests(second)):
            return False
        return _torn(subject, part, first, second) is not None

    return exact_runs.in_every_run(subject, part, differs)


def _place(loop: SampledLoop) -> Place:
    target = loop.source.target
    where = target.signal.place if target is not None and target.signal is not None else loop.source.place
    return where.labelled(f"{loop.name} decides at the same instants, in no stated order")


def _shown(model: Model, run: LongRun, signals: tuple[str, ...]) -> str:
    from coherence.base.number_text import render_quantity

    return ", ".join(f"{s} at {render_quantity(v, unit_of(model, s))}" for s, v in _levels(run, signals).items())


def _torn(subject: Subject, part: ClosedRuns, first: LongRun, second: LongRun) -> tuple[str, Place] | None:
    """Returns a promise about lasting states that one rest keeps and the other one breaks."""
    from coherence.language.expressions import names as used

    for promise in subject.design.promises.values():
        if promise.kind not in ("always", "never", "eventually_always") or promise.condition is None:
            continue
        tree = rename(promise.condition.tree, part.model.resolve)
        if any(part.model.kind(name) == "input" for name in used(tree)):
            continue
        try:
            truths = {_holds(part.model, run, tree) for run in (first, second)}
        except exact_runs.not_carried():
            continue
        if len(truths) == 2:
            return promise.name, promise.place
    return None


def _holds(model: Model, run: LongRun, tree: Tree) -> bool:
    from coherence.simulate.execute.exact import Execution, View

    assert run.orbit is not None
    execution = Execution(model, run.choices)
    last = execution.advance()
    for _ in run.instants[1:]:
        last = execution.advance()
    return bool(evaluate(tree, View(execution, last.time, dict(last.after))))


def _repairs(subject: Subject, first: SampledLoop, second: SampledLoop) -> Iterator[Repair]:
    """State the order that the declaration suggests."""
    from coherence.findings import repairs

    edits = []
    for rank, loop in enumerate((first, second), 1):
        if loop.source.rank is not None:
            return
        edits.append(repairs.insert_first(subject, loop.source.place, "rank", str(rank)))
    repair = repairs.proposal(*edits)
    yield from [repair] if repair else []
