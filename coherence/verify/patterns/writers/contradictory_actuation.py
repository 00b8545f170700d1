"""contradictory actuation: two loops act on one signal in opposite directions in the same state.

## What
Reads each loop as moves up and down, each under its condition, and asks a solver for a state in which two
loops move one signal in opposite directions, or in which two commands push one signal, that both loops read,
in opposite directions.  Where the part of the design is complete it is executed: it is a conflict where the two
still act against each other on the recurring lap and the signal stands still between them.  Elsewhere it is a
possible conflict in the state that was found.  Conditions that exclude each other, a band of hysteresis, stated
ranks, and writers of mode `once` keep two loops apart; up and down rules of one loop are one policy.

Boundary: two loops that set or scale the field are `no-common-fixed-point`; loops in feedback that swing are
`sustained-oscillation`; two loops that take turns, never at once, are `livelock`; two that hold one
reading at targets that do not overlap are `unmet-target`; loops with declared mathematics that settle are right.

## Why it hurts
Each log shows a loop at work and nothing happens: what one adds the other takes away, in every period.  When one
of them is switched off for an hour, the other one runs to its bound.

## Example
```yaml
coherence: 1
loops:
  saver: {trigger: rack.power > 80 kW, actuation: {signal: batch.running, law: step, by: -5, bounds: [0, 64]}}
  filler: {trigger: batch.queued > 0, actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}}
```

## Instead
One of them waits for the other.
```yaml
coherence: 1
loops:
  saver: {trigger: rack.power > 80 kW, actuation: {signal: batch.running, law: step, by: -5, bounds: [0, 64]}}
  filler:
    trigger: not saver and batch.queued > 0
    actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}
```

## Source
The list of general conflicts: both triggers reachable, effects of opposite sign on one variable.  Rules of one
instant: the one model, rule 1 (ranks) and rule 6 (bounds).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from coherence.base.clock import is_over, now
from coherence.findings.finding import Evidence, Finding, Grade, Repair
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions.evaluate import NotExactError
from coherence.verify.actions.loop_directions import Move, moves
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.writers import TRANSIENT, Writer, are_ranked
from coherence.verify.patterns.writers import _contradiction as found_by
from coherence.verify.patterns.writers._contradiction import Apart, Clash
from coherence.verify.patterns.writers._pair import Numbers, pairs_not_looked_at

if TYPE_CHECKING:
    from coherence.simulate.execute.exact import Instant
    from coherence.simulate.execute.orbits import LongRun

QUESTION = Question(
    "COH230", "contradictory-actuation", "ai.04 runtime control coherence", regardless=frozenset({"members"})
)
QUESTIONS = (QUESTION,)
MOST_PAIRS = 2_000  # of one signal
ONE_PROGRAM = ("cluster_autoscaler", "cluster_autoscaler_scale_down")
ONE_PROGRAM_RULE = "it removes nothing in a scan that added a node, nor for scale-down-delay-after-add (not modelled)"
LEAST_TAIL = 20  # instants without a recurrence that count as lasting


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of loops that step one signal, then per pair that pushes one reading two ways."""
    if len(subject.design.loops) < 2:
        return
    facts, deadline = known(subject), now() + subject.time_limit
    for signal, writers in _present(facts):
        yield from pairs_not_looked_at(QUESTION, signal, writers, MOST_PAIRS)
    for signal, first, second in _pairs(facts):
        if is_over(deadline):
            yield QUESTION.undecided("the time limit", (first.place, second.place), (first.name, second.name))
            return
        yield from _pair(subject, facts, signal, first, second)
    from coherence.verify.patterns.writers import _opposed_readings

    yield from _opposed_readings.answers(QUESTION, subject, facts)


def _present(facts: DesignFacts) -> Iterator[tuple[str, list[Writer]]]:
    for signal, writers in facts.written.items():
        yield signal, [writer for writer in writers if writer.kind not in ("ignore", "unset")]


def _pairs(facts: DesignFacts) -> Iterator[tuple[str, Writer, Writer]]:
    for signal, present in _present(facts):
        for first, second in itertools.islice(itertools.combinations(present, 2), MOST_PAIRS):
            if ours(first, second):
                yield signal, first, second


def ours(first: Writer, second: Writer) -> bool:
    """Returns whether the pair is this question's.  What sets or scales alone is decided by its maps, what is written
    once passes."""
    if "step" not in (first.kind, second.kind) or first.mode in TRANSIENT or second.mode in TRANSIENT:
        return False
    if are_ranked(first, second):
        return False
    return not any(w.kind == "set" and w.condition is None and not w.loop.rules for w in (first, second))


def _pair(subject: Subject, facts: DesignFacts, signal: str, first: Writer, second: Writer) -> Iterator[Finding]:
    mine, theirs = moves(facts, first), moves(facts, second)
    pairs = list(found_by.opposed(mine, theirs))
    if not pairs:
        return
    if {writer.loop.part.text for writer in (first, second) if writer.loop.part is not None} == set(ONE_PROGRAM):
        message = f"{first.name} and {second.name} are one program: {ONE_PROGRAM_RULE}"
        places, names = found_by.places(*pairs[0]), (first.name, second.name)
        yield QUESTION.note(message, places, names, arithmetic({"loops of one program": (2, "")}))
        return
    untold = next((m.name for pair in pairs for m in pair if _untold(m)), None)
    if untold is not None:
        yield QUESTION.undecided(
            f"needs the trigger of {untold}", found_by.places(*pairs[0]), (first.name, second.name)
        )
        return
    try:
        clash = found_by.clash(facts, signal, pairs)
    except NotExactError as error:
        yield QUESTION.undecided(f"not encoded: {error}", found_by.places(*pairs[0]), (first.name, second.name))
        return
    match clash:
        case Apart(unclear=""):
            yield found_by.proved(QUESTION, clash, *pairs[0], signal)
        case Apart():
            needs = f"{clash.unclear}: {first.name} and {second.name} on {signal}"
            yield QUESTION.undecided(needs, found_by.places(*pairs[0]), (first.name, second.name))
        case Clash():
            yield from _reached(subject, clash)


def _untold(move: Move) -> bool:
    """Returns whether the design does not say when the loop acts.  (Its part may say `always`.)"""
    loop = move.writer.loop
    return loop.trigger is None and not loop.rules and move.writer.kind != "scale"


def _reached(subject: Subject, clash: Clash) -> Iterator[Finding]:
    """Answers whether a run comes there.  Executed where the part is complete, else by what is open."""
    from coherence.verify.promises import exact_runs

    part = exact_runs.closed(subject, (clash.signal,))
    places = found_by.places(clash.first, clash.second)
    if part.runs:
        yield from _run(subject, clash, part)
    elif clash.first.when is None and clash.second.when is None:
        yield conflict(subject, clash, certain=True)
    elif thing := found_by.one_thing(subject, clash):
        names = " and ".join(sorted(_open(subject, clash)))
        needs = f"needs how {names} go together (`components: {{{thing}: ..}}` with one as an expression of the other)"
        yield QUESTION.undecided(needs, places, clash.names)
    elif states := _states(subject, clash):
        yield QUESTION.undecided(
            f"whether {' and '.join(states)} comes where both act: needs {part.missing}", places, clash.names
        )
    else:
        yield conflict(subject, clash, certain=False)


def _open(subject: Subject, found: Clash) -> set[str]:
    from coherence.language.expressions import names as used

    trees = (found.first.when, found.second.when)
    return {name for tree in trees if tree is not None for name in found_by.outside(subject, used(tree))}


def _states(subject: Subject, clash: Clash) -> list[str]:
    """States and computed readings in the conditions: where they go is dynamics."""
    from coherence.language.expressions import names as used

    model = subject.model
    kinds = ("state", "output")
    trees = (clash.first.when, clash.second.when)
    return sorted({n for tree in trees if tree is not None for n in used(tree) if model.kind(n) in kinds})


def _run(subject: Subject, clash: Clash, part: object) -> Iterator[Finding]:
    from coherence.simulate.execute.exact import replay
    from coherence.simulate.execute.timeline import timeline
    from coherence.verify.promises import exact_runs

    assert isinstance(part, exact_runs.ClosedRuns)
    places = found_by.places(clash.first, clash.second)
    swinging = any(exact_runs.swings(run, (clash.signal,)) for run in part.runs)
    if swinging and exact_runs.in_feedback(subject.model, clash.names):
        return  # sustained-oscillation
    if swinging:
        yield conflict(subject, clash, certain=clash.first.when is None and clash.second.when is None)
        return
    standing = [run for run in part.runs if exact_runs.against(_last(run), *clash.names)]
    if not standing:
        bound = f"{len(part.runs)} runs from the ends of the ranges do not stay there"
        both = " and ".join(clash.names)
        needs = f"a state lets {both} act against each other on {clash.signal}; no run seen stays there"
        yield QUESTION.undecided(needs, places, clash.names, bound=bound)
        return
    run = standing[0]
    if not replay(part.model, run.choices, list(run.instants[:400])):
        yield QUESTION.undecided("the witness does not replay", places, clash.names)
        return
    level = run.instants[-1].after[clash.signal]
    numbers: Numbers = {"stands at": (level, "")}
    numbers = {**numbers, "period": (run.orbit.period, "s")} if run.orbit is not None else numbers
    steps = timeline(part.model, run.instants[-40:])
    method = "exact execution to a recurrence" if run.orbit is not None else "exact execution, not to a recurrence"
    evidence = Evidence(Grade.PROVED, method, steps, numbers=numbers, replayed=True)
    message = f"{_sentence(clash)}, in every period: {clash.signal} stands still between them"
    sure = exact_runs.in_every_run(subject, part, partial(_stands, clash.names))
    yield QUESTION.conflict(
        message, places, clash.names, evidence, certain=sure.certain, assumptions=sure.assumptions,
        repairs=_repairs(subject, clash),
    )  # fmt: skip


def _stands(names: tuple[str, str], run: LongRun) -> bool:
    """Decides whether the two act against each other on the lap with which a run recurs."""
    from coherence.verify.promises import exact_runs

    return run.orbit is not None and exact_runs.against(run.orbit.lap, *names) is not None


def _last(run: LongRun) -> tuple[Instant, ...]:
    """Returns the recurring lap; where the run only closes in on one, its last quarter if the two act against each
    other there at every instant at which a loop acts.
    """
    if run.orbit is not None:
        return run.orbit.lap
    tail = tuple(instant for instant in run.instants[-len(run.instants) // 4 :] if instant.actions)
    return tail if len(tail) > LEAST_TAIL and all(len(instant.actions) > 1 for instant in tail) else ()


def _sentence(found: Clash) -> str:
    one, other = found.first, found.second
    return (
        f"{one.name} {found_by.verb(one)} {found.signal} and {other.name} {found_by.verb(other)} it in the same state"
    )


def conflict(subject: Subject, clash: Clash, *, certain: bool) -> Finding:
    """Returns the finding for a state in which both act."""
    assert clash.at is not None
    values = found_by.shown(clash.at, (clash.first.when, clash.second.when), subject.design.loops)
    numbers = {
        name: (value, "") for name, value in sorted(clash.at.at.items())
        if name in values and not isinstance(value, bool)
    }  # fmt: skip
    steps = [move for move in (clash.first, clash.second) if move.by is not None]
    numbers |= {f"step of {move.name}": (move.by or Fraction(0), "") for move in steps}
    at = ", ".join(f"{name} = {text}" for name, text in values.items())
    message = _sentence(clash) + (f": {at}" if at else "")
    free = found_by.outside(subject, values)
    return QUESTION.conflict(
        message, found_by.places(clash.first, clash.second), clash.names,
        arithmetic(numbers, witness=found_by.state_steps(clash, values)), certain=certain,
        assumptions=[f"{name} may take any value" for name in free],
        repairs=_repairs(subject, clash),
    )  # fmt: skip


def _repairs(subject: Subject, found: Clash) -> Iterator[Repair]:
    yield from found_by.apart_repairs(subject, found)
    yield from found_by.exclusive_repairs(subject, found)
