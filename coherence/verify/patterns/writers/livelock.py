"""livelock: two loops undo each other in turn, for ever, while the world stands still.

## What
Takes two loops that write one signal, never in the same state, each under a condition that the other one's write can
bring about.  A solver looks for one unchanging state of everything else in which the first loop's write makes the
second one act and the second one's write the first; the two maps are then iterated exactly in turns until the signal
comes back to where it was.  A cycle in which both acted is a livelock: action without progress.  What is complete is
executed: a lap in whose instants one takes back what the other one has just written is one too.  Where no such state
exists each comes to rest after the other, and that is proved.  So it is of loops that look back in time, where what one
makes of the signal before it sees that never wakes the other one.  Where two that step a signal read of its thing what
nothing in the design drives (a utilization, of loops that choose members), it is asked how that follows from it.

Boundary: loops that act in one state are `contradictory-actuation`; a pair in feedback whose every value is stated is
executed by `sustained-oscillation`; maps without conditions are `no-common-fixed-point`; jobs, places and evictions
are relations of their own.  Up and down rules of one loop are one policy.

## Why it hurts
Both logs are full of successes.  The job is stopped because it is idle, started because it is stopped, and is idle
again while it loads: it never works, and it never stops either.

## Example
```yaml
coherence: 1
loops:
  reaper: {trigger: job.running == 1 and job.idle, actuation: {signal: job.running, law: set, to: 0, bounds: [0, 1]}}
  controller: {trigger: job.running == 0, actuation: {signal: job.running, law: set, to: 1, bounds: [0, 1]}}
```

## Instead
The controller starts only what has work: `trigger: job.running == 0 and not job.idle`.

## Source
The list of general conflicts: a reachable cycle with action and no progress.  Condition of two writers: for every
state of the world some value is left alone by both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction

from coherence.base.clock import is_over, now
from coherence.base.places import Place
from coherence.base.solver import joined
from coherence.findings import repairs
from coherence.findings.finding import Edit, Evidence, Finding, Grade, Repair, Step
from coherence.findings.intended_cycles import as_intended
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as used
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Quantity
from coherence.language.words import MEMBERS
from coherence.model.model import EVERYTHING, Interval, interval
from coherence.verify.actions.loop_directions import Move, loop_trigger, moves
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.satisfiability import SatState
from coherence.verify.facts.state_ranges import whole
from coherence.verify.facts.writers import TRANSIENT, Writer
from coherence.verify.patterns.writers import _contradiction as told
from coherence.verify.patterns.writers._pair import Numbers, pairs_not_looked_at
from coherence.verify.patterns.writers._turns import TurnCycle, cycle, executed

QUESTION = Question("COH232", "livelock", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
MOST_PAIRS, MOST_TURNS = 2_000, 400


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of conditional loops that write one signal and never at once."""
    if len(subject.design.loops) < 2:
        return
    facts, deadline = known(subject), now() + subject.time_limit
    for signal, writers in facts.written.items():
        present = [w for w in writers if w.kind in ("set", "step") and w.mode not in TRANSIENT and _conditional(w)]
        for first, second in itertools.islice(itertools.combinations(present, 2), MOST_PAIRS):
            if is_over(deadline):
                yield QUESTION.undecided("the time limit", (first.place, second.place), (first.name, second.name))
                return
            for finding in _pair(subject, facts, signal, first, second):
                yield as_intended(QUESTION, subject.design, finding)
        yield from pairs_not_looked_at(QUESTION, signal, present, MOST_PAIRS)


def _undriven(subject: Subject, signal: str, pairs: list[tuple[Move, Move]]) -> Iterator[Finding]:
    """Asks how what two loops read of a thing follows from what they step up and down (utilization from members)."""
    if not all(move.by is not None for pair in pairs for move in pair):
        return
    thing = signal.partition(".")[0]
    own = sorted(path for path in _read(subject, pairs) if path.partition(".")[0] == thing)
    undriven = [path for path in own if path != signal and subject.model.kind(path) == "input"]
    if undriven:
        names = (pairs[0][0].name, pairs[0][1].name)
        key = undriven[0].partition(".")[2]
        needs = f"needs what drives {' and '.join(undriven)} (for example `{key}: expression` of {thing})"
        needs += f": whether {names[0]} and {names[1]} undo each other on {signal} in turn depends on it"
        yield QUESTION.undecided(needs, told.places(*pairs[0]), names, lacks_number=True)


def _conditional(writer: Writer) -> bool:
    return bool(writer.loop.rules) or writer.condition is not None


def _pair(subject: Subject, facts: DesignFacts, signal: str, left: Writer, other: Writer) -> Iterator[Finding]:
    if any(len(_plain_moves(facts, writer)) < len(moves(facts, writer)) for writer in (left, other)):
        return
    pairs = list(told.opposed(_plain_moves(facts, left), _plain_moves(facts, other)))
    if not pairs or not _reads(pairs, signal):
        yield from _undriven(subject, signal, pairs)
        return
    if states := _states(subject, pairs):
        yield from _dynamics(subject, signal, pairs, states)
        return
    if left.period is not None and other.period is not None:
        told_ = list(executed(QUESTION, subject, signal, pairs))
        yield from told_
        if told_ or _settled_elsewhere(subject, facts, pairs, signal):
            return
    turns = _on_lattice(facts, signal, pairs) or _in_turns(facts, signal, pairs)
    names, places = (left.name, other.name), told.places(*pairs[0])
    if isinstance(turns, TurnCycle):
        yield _in_between(signal, turns) if turns.between else _conflict(subject, signal, turns)
    elif isinstance(turns, str):
        yield _at_rest(subject, signal, names, places) or QUESTION.undecided(
            f"{left.name} and {other.name} may undo each other on {signal}: {turns}", places, names
        )
    else:
        message = f"{left.name} and {other.name} never wake each other on {signal} while all else stands still"
        yield QUESTION.proved(message, places, names, arithmetic({}, certificate=joined(turns)))


def _at_rest(subject: Subject, signal: str, names: tuple[str, str], places: tuple[Place, ...]) -> Finding | None:
    """Returns the proof that a signal comes to rest under all who write it, where both loops can be run."""
    from coherence.simulate.execute.slices import blocked, sliced
    from coherence.verify.convergence.command_rests import HOW, command_rests

    model = sliced(subject.model, (signal,))
    loops = tuple(loop for loop in model.loops if loop.signal == signal)
    if not set(names) <= {loop.name for loop in loops} or blocked(subject.model, (signal,)):
        return None
    rests, _ = command_rests(model, loops, now() + subject.time_limit / 4)
    if not rests:
        return None
    message = f"{names[0]} and {names[1]} never undo each other for ever: {rests[0].render(model)}"
    evidence = Evidence(Grade.PROVED, HOW, certificate=rests[0].script, numbers=rests[0].numbers(model))
    return QUESTION.proved(message, places, names, evidence, assumptions=(*model.abstractions, *rests[0].assumptions))


def _on_lattice(facts: DesignFacts, signal: str, pairs: list[tuple[Move, Move]]) -> TurnCycle | list[str] | None:
    """Decides by following every value of a finite lattice; None where the moves have none, or it does not decide."""
    from coherence.verify.actions.step_cycles import StepLap, decide, decide_between, step_system

    both = tuple(dict.fromkeys(move for pair in pairs for move in pair))
    alone = {writer.name for writer in facts.written[signal]} == {move.name for move in both}
    start = _start([move.writer for move in both]) if alone else EVERYTHING
    system = step_system(facts, signal, both, start=start, conditions=[told.effective(move) for move in both])
    members = signal in facts.whole and signal.rpartition(".")[2] in MEMBERS
    decided = decide if members or signal in whole(facts) else decide_between
    outcome = decided(system) if system is not None else None
    if isinstance(outcome, StepLap):
        writing = {name for name, *_ in outcome.writes}
        first = next(move for move in both if move.name in writing)
        second = next(move for move in both if move.name in writing - {first.name})
        between = system is not None and system.whole and any(x.denominator > 1 for _, x, _ in outcome.writes)
        state = SatState({**outcome.at})
        return TurnCycle(first, second, state, outcome.writes, between, everywhere=outcome.everywhere)
    return list(outcome.scripts) if outcome is not None else None


def _start(writers: Iterable[Writer]) -> Interval:
    """The value that the signal begins with, where all who write it state the same; else any."""
    stated = {writer.loop.actuation.initial for writer in writers if writer.loop.actuation is not None} - {None}
    only = stated.pop() if len(stated) == 1 else None
    return interval(only) if isinstance(only, Quantity) else EVERYTHING


def _in_turns(facts: DesignFacts, signal: str, pairs: list[tuple[Move, Move]]) -> TurnCycle | list[str] | str:
    """Asks a solver whether two moves wake each other: a cycle, scripts that exclude one, or why neither."""
    scripts: list[str] = []
    for first, second in pairs:
        try:
            swing = cycle(facts, signal, first, second)
        except NotExactError as error:
            return str(error)
        if isinstance(swing, TurnCycle):
            return swing
        if not swing:
            return "each can wake the other once, and whether that goes on for ever was not decided"
        scripts += swing
    if any(move.writer.loop.rules for pair in pairs for move in pair):
        return "no two of their rules wake each other, and a cycle through more of them was not excluded"
    return scripts


def _plain_moves(facts: DesignFacts, writer: Writer) -> tuple[Move, ...]:
    """Returns moves whose step or value is one number."""
    return tuple(move for move in moves(facts, writer) if move.by is not None or move.to is not None)


def _reads(pairs: list[tuple[Move, Move]], signal: str) -> bool:
    """Returns whether the signal decides who acts by what it makes true; comparing with the value set is no
    condition."""
    return any(_own_condition(move, signal) for pair in pairs for move in pair)


def _own_condition(move: Move, signal: str) -> bool:
    tree = move.when
    count = sum(1 for term in getattr(tree, "terms", (tree,)) if term is not None and signal in used(term))
    return count > (1 if move.to is not None else 0)


def _read(subject: Subject, pairs: list[tuple[Move, Move]]) -> set[str]:
    found = {name for pair in pairs for move in pair if move.when is not None for name in used(move.when)}
    return found - set(subject.design.loops)


def _states(subject: Subject, pairs: list[tuple[Move, Move]]) -> list[str]:
    return sorted(name for name in _read(subject, pairs) if subject.model.kind(name) == "state")


def _dynamics(subject: Subject, signal: str, pairs: list[tuple[Move, Move]], states: list[str]) -> Iterator[Finding]:
    """Conditions on states that move are executed, where both loops have a period."""
    first, second = (move.writer for move in pairs[0])
    timeless = next((writer.name for writer in (first, second) if writer.period is None), None)
    if timeless is None:
        yield from executed(QUESTION, subject, signal, pairs)
        return
    needs = f"needs the period of {timeless}: {' and '.join(states)} moves between two writes"
    yield QUESTION.undecided(needs, told.places(*pairs[0]), (first.name, second.name))


def _settled_elsewhere(subject: Subject, facts: DesignFacts, pairs: list[tuple[Move, Move]], signal: str) -> bool:
    """Returns whether the loops' questions execute it (everything is stated), or find them swinging already."""
    from coherence.verify.promises import exact_runs

    spans = [facts.values.get(name) for name in _read(subject, pairs) - {signal}]
    if _start(move.writer for pair in pairs for move in pair).exact and all(
        span is not None and span.exact for span in spans
    ):
        return True
    return any(exact_runs.swings(run, (signal,)) for run in exact_runs.closed(subject, (signal,)).runs)


def _in_between(signal: str, cycle: TurnCycle) -> Finding:
    """Answers that steps and bounds are whole numbers and the start is not said: whole numbers do not cycle, others
    do.
    """
    first, second = cycle.first, cycle.second
    _, before, after = cycle.lap[0]
    return QUESTION.undecided(
        f"needs what {signal} begins with (`from`): {first.name} and {second.name} never undo each other at whole "
        f"numbers, and do at others (from {float(before):g} to {float(after):g} and back)",
        told.places(first, second), (first.name, second.name),
    )  # fmt: skip


def _conflict(subject: Subject, signal: str, cycle: TurnCycle) -> Finding:
    first, second = cycle.first, cycle.second
    whens = (first.when, second.when)
    values = {name: text for name, text in told.shown(cycle.at, whens, subject.design.loops).items() if "@" not in name}
    values.pop(signal, None)
    state = ", ".join(f"{name} = {text}" for name, text in values.items())
    levels = [level for _, before, after in cycle.lap for level in (before, after)]
    low, high = min(levels), max(levels)
    message = (
        f"{first.name} and {second.name} undo each other in turn for ever: {signal} goes from {low} to {high} and back"
        + (f" while {state}" if state else "")
    )
    steps = [Step(Fraction(0), state or "any state")]
    steps += [Step(None, f"{name} writes {signal} {before} -> {after}") for name, before, after in cycle.lap]
    steps.append(Step(None, f"{signal} is {cycle.lap[0][1]} again, and nothing else has changed"))
    numbers: Numbers = {
        f"{signal} lowest": (low, ""), f"{signal} highest": (high, ""), "writes per lap": (len(cycle.lap), ""),
    }  # fmt: skip
    evidence = Evidence(Grade.PROVED, "exact iteration to a recurrence", tuple(steps), numbers=numbers)
    free = told.outside(subject, values)
    fixed = [f"{name} stays as it is, whatever {signal} is" for name in free]
    return QUESTION.conflict(
        message, told.places(first, second), (first.name, second.name), evidence, certain=not free and cycle.everywhere,
        assumptions=fixed, repairs=_repairs(subject, cycle),
    )  # fmt: skip


def _repairs(subject: Subject, cycle: TurnCycle) -> Iterator[Repair]:
    """A loop does not act in the state in which the other one has just undone it."""
    for mine, theirs in ((cycle.first, cycle.second), (cycle.second, cycle.first)):
        trigger, rival = loop_trigger(mine.writer.loop), loop_trigger(theirs.writer.loop)
        if trigger is None or rival is None:
            continue
        signal = mine.writer.signal
        for term in getattr(rival.tree, "terms", (rival.tree,)):
            if signal in used(term) or not isinstance(term, Name):
                continue
            old = repairs.text_at(subject.sources, trigger.place)
            if old and " or " not in old:
                yield Repair((Edit(trigger.place, old, f"{old} and not {term.path}"),), "")
