"""Two loops that wake each other: the cycle of their maps in one state of the world, or as the executor runs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Name, Number, Tree, Truth, rename
from coherence.verify.actions.loop_directions import Move
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.satisfiability import SatQuery as Conditions
from coherence.verify.facts.satisfiability import SatState, both, plain, sat_query, solve_query
from coherence.verify.facts.state_ranges import stated, whole
from coherence.verify.patterns.writers import _contradiction as told
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.promises import exact_runs
from coherence.verify.promises.exact_runs import ClosedRuns
from coherence.verify.systems.literals import contradiction

if TYPE_CHECKING:
    from coherence.simulate.execute.orbits import LongRun
    from coherence.verify.promises.certainty import Certainty

MOST_TURNS = 400

Lap = tuple[tuple[str, Fraction, Fraction], ...]  # (loop, value before, value after)


@dataclass(frozen=True)
class TurnCycle:
    """A state of the world in which two moves follow each other: (loop, before, after) of one lap.

    `between`: steps and bounds are whole, and only values between whole numbers (a start that is not said) cycle.
    `everywhere`: from no value do they come to rest.
    """

    first: Move
    second: Move
    at: SatState
    lap: tuple[tuple[str, Fraction, Fraction], ...]
    between: bool = False
    everywhere: bool = False


def cycle(facts: DesignFacts, signal: str, first: Move, second: Move) -> TurnCycle | list[str]:
    """Returns a cycle, the scripts that exclude one, or nothing where neither is shown."""
    if signal not in facts.whole:
        return _cycle(facts, signal, first, second, frozenset())
    counted = frozenset({signal, *(f"{signal}@{move.name}" for move in (first, second))})
    back_and_forth = _cycle(facts, signal, first, second, counted)
    if isinstance(back_and_forth, TurnCycle) or signal in whole(facts):
        return back_and_forth
    anywhere = _cycle(facts, signal, first, second, frozenset())
    return replace(anywhere, between=True) if isinstance(anywhere, TurnCycle) and back_and_forth else anywhere


def _cycle(
    facts: DesignFacts, signal: str, first: Move, second: Move, counted: frozenset[str]
) -> TurnCycle | list[str]:
    """Returns the same where the `counted` names take whole numbers only."""
    wakes = _wakes(facts, signal, first, second)
    back = _wakes(facts, signal, second, first)
    conditions = _counting(sat_query(facts, [wakes, back], steady=False), counted)
    state = solve_query(conditions)
    if not isinstance(state, SatState):
        return [conditions.script()] if state.unsat else []
    lasting = solve_query(_counting(sat_query(facts, [wakes, back], steady=True), counted))
    if not isinstance(lasting, SatState) or any(_split(lasting.at.get(name)) for name in counted):
        return []
    lap = _iterate(facts, signal, first, second, lasting)
    if not lap or _both_act(facts, signal, lasting, lap, (first, second)):
        return []
    return TurnCycle(first, second, lasting, lap)


def _both_act(facts: DesignFacts, signal: str, at: SatState, lap: Lap, moves: tuple[Move, Move]) -> bool:
    """Returns whether both change some value of a lap.  Then it is a contradiction, and another question's."""
    rivals = ((move, before) for name, before, _ in lap for move in moves if move.name != name)
    return any(_step(facts, signal, move, before, at) not in (None, before) for move, before in rivals)


def _counting(asked: Conditions, counted: frozenset[str]) -> Conditions:
    return replace(asked, whole=asked.whole | counted)


def _split(found: Fraction | bool | None) -> bool:
    return found is not None and Fraction(found).denominator != 1


def _together(facts: DesignFacts, first: Move, second: Move) -> bool:
    """Returns whether both can act at once.  Then it is a contradiction, and another question's."""
    trees = [tree for tree in (told.effective(first), told.effective(second)) if tree is not None]
    if len(trees) == 2 and contradiction(trees[0], trees[1]) is not None:
        return False
    state = solve_query(sat_query(facts, trees, steady=True))
    return isinstance(state, SatState) or not state.unsat


def _wakes(facts: DesignFacts, signal: str, mover: Move, woken: Move) -> Tree:
    """`mover` acts at some value of the signal, and after it `woken` acts; the value has a name of its own."""
    start = f"{signal}@{mover.name}"
    at = rename(told.effective(mover) or Truth(True), lambda path: start if path == signal else path)
    after = _after(mover, Name(start))
    then = rename(told.effective(woken) or Truth(True), lambda path: after if path == signal else path)
    without = frozenset(facts.design.loops)
    inside = _range(facts, signal, start)
    return both(rename_flags(at, without, mover.name), rename_flags(then, without, woken.name), *inside) or at


def _range(facts: DesignFacts, signal: str, name: str) -> list[Tree]:
    span = stated(facts).get(signal)
    low = [Compare(">=", Name(name), Number(span.low))] if span and span.low is not None else []
    high = [Compare("<=", Name(name), Number(span.high))] if span and span.high is not None else []
    return [*low, *high]


def rename_flags(tree: Tree, loops: frozenset[str], actor: str) -> Tree:
    """Returns the loops' own names at the time at which `actor` acts."""
    return rename(tree, lambda path: f"{path}@{actor}" if path in loops else path)


def _after(move: Move, here: Tree) -> Tree:
    """Returns what the move writes, within its bounds."""
    span = move.writer.values
    if move.to is not None:
        return Number(span.clip(move.to))
    value: Tree = Arithmetic("+", here, Number(move.by or Fraction(0)))
    if span.high is not None:
        value = Call("min", (value, Number(span.high)))
    return Call("max", (value, Number(span.low))) if span.low is not None else value


def _iterate(
    facts: DesignFacts, signal: str, first: Move, second: Move, at: SatState
) -> tuple[tuple[str, Fraction, Fraction], ...]:
    """Returns the lap of the two maps in turns from the solver's state; empty where they come to rest."""
    start = at.at.get(f"{signal}@{first.name}")
    if start is None or isinstance(start, bool):
        return ()
    x, seen, steps = Fraction(start), dict[Fraction, int](), list[tuple[str, Fraction, Fraction]]()
    for _ in range(MOST_TURNS):
        if x in seen:
            lap = tuple(steps[seen[x] :])
            return lap if {name for name, *_ in lap} == {first.name, second.name} else ()
        seen[x] = len(steps)
        before = len(steps)
        for move in (first, second):
            after = _step(facts, signal, move, x, at)
            if after is not None and after != x:
                steps.append((move.name, x, after))
                x = after
        if len(steps) == before:
            return ()
    return ()


def _step(facts: DesignFacts, signal: str, move: Move, x: Fraction, at: SatState) -> Fraction | None:
    """Returns what the loop writes at this value; None where it does not act."""
    here = {**at.at, **dict.fromkeys(facts.design.loops, False), signal: x, move.name: True}
    tree = told.effective(move)
    if tree is not None and not SatState(here).holds(plain(facts.tree(tree), steady=True)):
        return None
    if move.to is not None:
        return move.writer.values.clip(move.to)
    return move.writer.values.clip(x + (move.by or Fraction(0)))


def executed(ask: Question, subject: Subject, signal: str, pairs: list[tuple[Move, Move]]) -> Iterator[Finding]:
    """Runs that end in a lap on which one writes and the other one, later in the same instant, takes it back."""
    names = (pairs[0][0].name, pairs[0][1].name)
    part = exact_runs.closed(subject, (signal,))
    standing = [run for run in part.runs if _stands(run, signal, names)]
    if standing and not _at_once(subject, pairs):
        sure = exact_runs.in_every_run(subject, part, lambda run: _stands(run, signal, names))
        finding = _standing(ask, part, standing[0], signal, pairs[0], sure=sure)
        periods = [scale.period for name in names if (scale := subject.design.loops[name].timescale)]
        where = (period.place.labelled("when it acts") for period in periods if period is not None)
        yield replace(finding, places=(*finding.places, *where))


def _stands(run: LongRun, signal: str, names: tuple[str, str]) -> bool:
    """Decides whether the signal stands still on the lap with which a run recurs, and both write there."""
    orbit = run.orbit
    return orbit is not None and not orbit.turns(signal) and exact_runs.against(orbit.lap, *names) is not None


def _at_once(subject: Subject, pairs: list[tuple[Move, Move]]) -> bool:
    """Returns whether one state lets both act.  Then it is a contradiction, and another question's."""
    return any(_together(known(subject), first, second) for first, second in pairs)


def _standing(
    ask: Question, part: ClosedRuns, run: LongRun, signal: str, pair: tuple[Move, Move], *, sure: Certainty
) -> Finding:
    from coherence.simulate.execute.exact import replay
    from coherence.simulate.execute.timeline import timeline, told_choices

    assert run.orbit is not None
    first, second = pair
    names, places = (first.name, second.name), told.places(first, second)
    if not replay(part.model, run.choices, list(run.instants[:400])):
        return ask.undecided("the witness does not replay", places, names)
    numbers: Numbers = {"period": (run.orbit.period, "s"), "stands at": (run.orbit.range_of(signal)[0], "")}
    evidence = Evidence(
        Grade.PROVED, "exact execution to a recurrence", timeline(part.model, run.instants[-40:]),
        numbers=numbers, replayed=True,
    )  # fmt: skip
    message = f"what one of {first.name} and {second.name} writes wakes the other one in the same instant, for ever"
    return ask.conflict(
        f"{message}: {signal} stands still", places, names, evidence, certain=sure.certain,
        assumptions=(*told_choices(part.model, run.choices), *sure.assumptions),
    )  # fmt: skip
