"""unbounded actuation: a loop may raise what it writes for ever.

## What
Looks for loops that step a signal upward without an upper bound: none on the loop, none in the signal's own range,
no limit on it, no claim on a capacity, no other loop that lowers it; under a trigger that holds always, or that reads
only what the design computes without the signal, so that the loop's own action never makes it false.  A trigger that
reads outside things may depend on the signal: then the bound, or the relation, is asked for by name.  A limit of
`unlimited` on a run's steps, where nothing says how many there may be, is the same as a cost without a bound.

Boundary: tries without an end are `budget-containment`; two loops that undo each other are
`contradictory-actuation`.

## Why it hurts
The cause lies elsewhere and does not go away, so every period adds more: replicas, spend, tokens.  The first bound
that is met is somebody else's quota, or the invoice.

## Example
```yaml
coherence: 1
workload: {jobs: {rate: 10 req/s}}
components:
  spool: {backlog: "max(0 req/s, jobs.rate - 5 req/s)"}
  fleet: {note: what takes from another spool}
loops:
  scaler: {timescale: {period: 30 s}, trigger: spool.backlog > 0, actuation: {signal: fleet.desired, law: step, by: 5}}
```

## Instead
A bound: `actuation: {signal: fleet.desired, law: step, by: 5, bounds: [1, 64]}`.

## Source
The list of general conflicts: unbounded actuation.  bytedance/deer-flow#55: step limits of agents are what bounds the
cost of a run; later versions default to a limit that no run meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language import names as paths
from coherence.language.design import Limit
from coherence.language.expressions import names as used
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Logic, Name, Tree
from coherence.language.schema_kinds import Word
from coherence.simulate.execute.slices import influences
from coherence.verify.actions.loop_directions import DOWN, UP, Move, moves
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap
from coherence.verify.facts.satisfiability import SatState, opposite, sat_query, solve_query
from coherence.verify.facts.writers import TRANSIENT, Writer

QUESTION = Question("COH233", "unbounded-actuation", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
PERIODS = (1, 10, 1000)  # after which the witness tells where the signal is


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that nothing stops, then one per limit that does not limit."""
    design = subject.design
    if design.loops:
        facts = known(subject)
        for signal, writers in facts.written.items():
            for writer in writers:
                yield from _loop(subject, facts, signal, writer)
    for limit in design.limits.values():
        yield from _unlimited(subject, limit)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof per loop that raises a signal step by step, to an upper bound and no further."""
    facts = known(subject) if subject.design.loops else None
    for signal, writers in facts.written.items() if facts is not None else ():
        for writer in writers:
            if writer.kind == "step" and writer.values.high is not None:
                message = f"{writer.name} raises {signal} to its upper bound, and no further"
                high = rational(writer.values.high)
                claim = f"(<= (ite (< (+ value step) {high}) (+ value step) {high}) {high})"
                script = Certificate({"value": "Real", "step": "Real"}, claim=claim).script()
                evidence = arithmetic({"upper bound": (writer.values.high, "")}, certificate=script)
                yield QUESTION.absent(message, (writer.place,), (writer.name,), evidence)


def _loop(subject: Subject, facts: DesignFacts, signal: str, writer: Writer) -> Iterator[Finding]:
    if writer.kind != "step" or writer.mode in TRANSIENT or writer.values.high is not None:
        return
    up = [move for move in moves(facts, writer) if move.way == UP]
    if not up or _bounded(subject, facts, signal, writer):
        return
    for move in up:
        lasting = _lasts(subject, facts, signal, move)
        if lasting is not None:
            yield lasting
            return


def _bounded(subject: Subject, facts: DesignFacts, signal: str, writer: Writer) -> bool:
    """Returns whether anything else ends the rise."""
    command = subject.model.commands.get(signal)
    if command is not None and command.range.high is not None:
        return True
    if any(cap(facts, limit) is not None for limit in facts.counted.get(signal, ())):
        return True
    if any(signal in used(facts.tree(formula.tree)) for formula in subject.design.claims.values()):
        return True
    counted = [x.counts.tree for x in subject.design.limits.values() if x.counts and x.at_most is not None]
    if any(signal in used(facts.tree(tree)) for tree in counted):
        return True
    others = [w for w in facts.written[signal] if w is not writer and w.kind not in ("ignore", "unset")]
    lowered = any(w.kind != "step" or any(m.way == DOWN for m in moves(facts, w)) for w in others)
    return lowered or any(move.way == DOWN for move in moves(facts, writer))


def _lasts(subject: Subject, facts: DesignFacts, signal: str, move: Move) -> Finding | None:
    """Answers whether the condition holds for ever, whatever the loop does."""
    if move.when is None and move.writer.loop.trigger is None:
        places = (move.writer.loop.place.labelled("without a trigger"), _where(move))
        return QUESTION.undecided(f"needs the trigger or the bounds of {move.name}", places, (move.name,))
    if move.when is None:
        return _conflict(subject, move, signal, SatState({}), certain=True)
    model = subject.model
    read = set(used(move.when)) - set(subject.design.loops)
    behind = influences(model, read)
    if signal in behind:
        return None  # its own action may end it: a matter of dynamics
    declared = paths.things(subject.design)
    outside = sorted(name for name in behind if "." in name and name.partition(".")[0] not in declared)
    places = (move.place.labelled(f"{move.name} acts while this holds"), _where(move))
    if outside:
        thing = f"what {signal} does to {outside[0]}"
        return QUESTION.undecided(f"needs bounds of {move.name}, or {thing}", places, (move.name,))
    try:
        state = solve_query(sat_query(facts, [move.when], steady=True))
    except NotExactError:
        return None
    if not isinstance(state, SatState):
        return None
    if any(model.kind(name) == "state" for name in behind):
        return QUESTION.undecided(
            f"needs bounds of {move.name}: whether {move.text} ends by itself is not decided", places, (move.name,)
        )
    always = solve_query(sat_query(facts, [_not(move)], steady=True))
    certain = not isinstance(always, SatState) and always.unsat and signal.partition(".")[0] in declared
    return _conflict(subject, move, signal, state, certain=certain)


def _not(move: Move) -> Tree:
    tree = move.when
    if isinstance(tree, Logic) and tree.op == "and" and tree.terms[-1] == Name(move.name):
        tree = tree.terms[0] if len(tree.terms) == 2 else Logic("and", tree.terms[:-1])
    assert tree is not None
    return opposite(tree)


def _where(move: Move) -> Place:
    actuation = move.writer.loop.actuation
    assert actuation is not None
    assert actuation.signal is not None
    return actuation.signal.place.labelled(f"{move.name} raises this, with no upper bound")


def _conflict(subject: Subject, move: Move, signal: str, at: SatState, *, certain: bool) -> Finding:
    from coherence.verify.patterns.writers._contradiction import shown

    values = shown(at, (move.when,), subject.design.loops)
    state = ", ".join(f"{name} = {text}" for name, text in values.items())
    actuation = move.writer.loop.actuation
    by = actuation.by if actuation is not None else None
    size = str(by) if by is not None else "its step"
    message = f"{move.name} raises {signal} by {size} again and again, and nothing ends it"
    steps = [Step(Fraction(0), f"{move.text} holds" + (f" ({state})" if state else ""))]
    if move.by is not None:
        unit = getattr(by, "dimension", units.ONE)
        period = move.writer.period
        for count in PERIODS:
            time = period * count if period is not None else None
            steps.append(Step(time, f"after {count} writes: {render_quantity(move.by * count, unit)} more of {signal}"))
    steps.append(Step(None, f"{signal} has no part in {move.text}: it still holds"))
    numbers = {"step": (move.by, "")} if move.by is not None else {}
    evidence = Evidence(Grade.PROVED, "exact arithmetic", tuple(steps), numbers=numbers)
    places = (move.place.labelled(f"{move.name} acts while this holds"), _where(move))
    return QUESTION.conflict(
        message, places, (move.name,), evidence, certain=certain,
        assumptions=() if certain else (f"{state or move.text} lasts, whatever {signal} is",),
        repairs=_repairs(subject, move),
    )  # fmt: skip


def _repairs(subject: Subject, move: Move) -> Iterator[Repair]:
    """Yields an upper bound: a hundred steps are a start."""
    actuation = move.writer.loop.actuation
    if move.by is None or actuation is None or actuation.by is None or actuation.bounds:
        return
    unit = getattr(actuation.by, "dimension", units.ONE)
    low, high = (render_quantity(move.by * count, unit) for count in (0, 100))
    repair = repairs.proposal(repairs.insert(subject, actuation.by.place, "bounds", f"[{low}, {high}]"))
    yield from [repair] if repair else []


def _unlimited(subject: Subject, limit: Limit) -> Iterator[Finding]:
    """Yields a limit of `unlimited` on what a run counts, where no range says how much that is."""
    if not isinstance(limit.at_most, Word) or limit.counts is None or limit.per is None:
        return
    facts = known(subject)
    high = facts.range(limit.counts.tree).high
    places = (limit.at_most.place.labelled("no limit"), limit.counts.place.labelled("what it counts"))
    if high is None:
        message = f"{limit.counts} per {limit.per} has no bound: {limit.name} is {limit.at_most.text}"
        steps = (Step(None, f"one {limit.per} goes on: {limit.name} never ends it"),)
        priced = bool(subject.design.prices)
        evidence = arithmetic({}, witness=steps)
        if priced:
            yield QUESTION.conflict(message, places, (limit.name,), evidence, certain=False)
        else:
            yield QUESTION.note(f"{message}: its cost is unbounded", places, (limit.name,), evidence)
