"""Finds two commands that push one reading in opposite directions, by loops that both regulate it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as used
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.names import loop_formulas
from coherence.verify.actions.loop_directions import Move, loop_trigger, moves
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.signs import DOWN, UP, flipped, sign, spread
from coherence.verify.facts.writers import TRANSIENT, Writer, are_ranked
from coherence.verify.patterns.writers import _contradiction as found_by
from coherence.verify.patterns.writers._contradiction import Apart, Clash
from coherence.verify.patterns.writers._pair import pairs_not_looked_at
from coherence.verify.promises import exact_runs
from coherence.verify.promises.exact_runs import ClosedRuns

if TYPE_CHECKING:
    from coherence.simulate.execute.orbits import LongRun
    from coherence.verify.promises.certainty import Certainty

MOST_PAIRS = 500


@dataclass(frozen=True)
class Regulator:
    """A loop that reads `reading` and answers a rise of it by pushing it down (or a fall by pushing it up)."""

    writer: Writer
    move: Move
    reading: str
    pushes: int


def answers(ask: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per reading and pair of loops with different commands that act against each other on it."""
    shared = _shared(facts)
    if not shared:
        return
    from coherence.verify.facts.disjoint_targets import disjoint_targets  # no policy check without such readings

    apart = {frozenset(pair.names) for pair in disjoint_targets(subject) if pair.always}  # `unmet-target` answers
    for reading, writers in shared.items():
        regulators = [r for writer in writers for r in _regulators(subject, facts, writer, reading)]
        pairs = itertools.islice(itertools.combinations(regulators, 2), MOST_PAIRS)
        reported = set(apart)
        for first, second in pairs:
            names = frozenset((first.writer.name, second.writer.name))
            opposite = first.pushes == flipped(second.pushes) and first.writer.signal != second.writer.signal
            if opposite and len(names) == 2 and names not in reported and not are_ranked(first.writer, second.writer):
                reported.add(names)
                yield from _answer(ask, subject, facts, first, second)
        yield from pairs_not_looked_at(ask, reading, [r.writer for r in regulators], MOST_PAIRS)


def _shared(facts: DesignFacts) -> dict[str, list[Writer]]:
    """Declared readings that at least two loops with different commands read."""
    readers: dict[str, list[Writer]] = {}
    for writers in facts.written.values():
        for writer in writers:
            if writer.kind in ("ignore", "unset") or writer.mode in TRANSIENT:
                continue
            names = {facts.bare.get(n, n) for f in loop_formulas(writer.loop) for n in used(f.tree)}
            for name in sorted(names - {writer.signal}):
                if name.partition(".")[0] in facts.design.components:
                    readers.setdefault(name, []).append(writer)
    return {name: writers for name, writers in readers.items() if len({w.signal for w in writers}) > 1}


def _regulators(subject: Subject, facts: DesignFacts, writer: Writer, reading: str) -> Iterator[Regulator]:
    pushed = spread(subject.model, facts.values, writer.signal).get(reading, 0)
    if pushed not in (UP, DOWN):
        return
    for move in moves(facts, writer):
        condition = _condition(writer, move, reading, facts)
        effect = pushed if move.way == UP else flipped(pushed)
        if condition == flipped(effect):
            yield Regulator(writer, move, reading, effect)


def _condition(writer: Writer, move: Move, reading: str, facts: DesignFacts) -> int:
    """Returns whether the loop acts while the reading is high (UP) or low (DOWN)."""
    if writer.kind == "scale":
        target = writer.loop.target
        same = target and target.signal and facts.bare.get(str(target.signal), str(target.signal)) == reading
        return (UP if move.way == UP else DOWN) if same else 0
    trees = [rule.when.tree for rule in writer.loop.rules if rule.when and rule.when.place == move.place]
    formula = loop_trigger(writer.loop)
    trees = trees or ([formula.tree] if formula is not None else [])
    signs = {reading: UP, **{bare: UP for bare, full in facts.bare.items() if full == reading}}
    return sign(trees[0], signs, facts.values) if trees else 0


def _answer(
    ask: Question, subject: Subject, facts: DesignFacts, first: Regulator, second: Regulator
) -> Iterator[Finding]:
    names = (first.writer.name, second.writer.name)
    places = found_by.places(first.move, second.move)
    try:
        clash = found_by.clash(facts, first.reading, [(first.move, second.move)])
    except NotExactError as error:
        message = (
            f"whether one state lets {names[0]} and {names[1]} push {first.reading} in opposite directions: {error}"
        )
        yield ask.undecided(message, places, names)
        return
    if isinstance(clash, Apart):
        return
    part = exact_runs.closed(subject, (first.writer.signal, second.writer.signal))
    if not part.runs:
        yield ask.undecided(
            f"{names[0]} and {names[1]} push {first.reading} in opposite directions in one state: "
            f"whether a run comes there needs {part.missing}", places, names,
        )  # fmt: skip
        return
    standing = [run for run in part.runs if _stuck(run, names)]
    if standing:
        sure = exact_runs.in_every_run(subject, part, lambda run: _stuck(run, names))
        yield _conflict(ask, subject, clash, part, standing[0], (first, second), sure=sure)
    elif (starts := exact_runs.start_count(part.model)) > len(part.runs):
        yield ask.undecided(
            f"whether {names[0]} and {names[1]}, which push {first.reading} in opposite directions in one state, rest "
            f"there: {starts} ends of the ranges are too many",
            places, names, bound=f"{len(part.runs)} of {starts} ends of the ranges",
        )  # fmt: skip
    elif any(run.orbit is None for run in part.runs):
        longest = max(len(run.instants) for run in part.runs)
        yield ask.undecided(
            f"{names[0]} and {names[1]} push {first.reading} in opposite directions in one state: whether they rest "
            f"there needs a run that recurs within the {longest} instants that were executed", places, names,
        )  # fmt: skip


def _stuck(run: LongRun, names: tuple[str, str]) -> bool:
    """Returns whether the run rests where both are still triggered: each has gone as far as it can."""
    return run.orbit is not None and run.orbit.still and all(run.orbit.lap[-1].after[name] is True for name in names)


def _conflict(
    ask: Question, subject: Subject, clash: Clash, part: ClosedRuns, run: LongRun, both: tuple[Regulator, Regulator],
    *, sure: Certainty,
) -> Finding:  # fmt: skip
    from coherence.simulate.execute.exact import replay
    from coherence.simulate.execute.timeline import shown, timeline

    assert run.orbit is not None
    names, places = clash.names, found_by.places(clash.first, clash.second)
    if not replay(part.model, run.choices, list(run.instants[:400])):
        return ask.undecided("the witness does not replay", places, names)
    ends = {r.writer.signal: run.orbit.range_of(r.writer.signal)[0] for r in both}
    rest = " and ".join(f"{signal} at {shown(part.model, signal, end)}" for signal, end in ends.items())
    reading = both[0].reading
    message = (
        f"{names[0]} and {names[1]} push {reading} against each other until neither can go on: they rest with {rest}, "
        "both still triggered"
    )
    evidence = Evidence(
        Grade.PROVED, "exact execution to a recurrence", timeline(part.model, run.instants[-60:]),
        numbers={signal: (end, "") for signal, end in ends.items()}, replayed=True,
    )  # fmt: skip
    edits = (*found_by.apart_repairs(subject, clash), *found_by.exclusive_repairs(subject, clash))
    return ask.conflict(
        message, places, names, evidence, certain=sure.certain, assumptions=sure.assumptions, repairs=edits
    )
