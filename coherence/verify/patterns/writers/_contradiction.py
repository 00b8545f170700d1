"""Finds a state in which two loops act against each other, and decides whether a run comes there."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.solver import joined
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language import names as paths
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Compare, Name, Number, Tree
from coherence.verify.actions.loop_directions import UP, Move, loop_trigger
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.satisfiability import SatQuery as Asked
from coherence.verify.facts.satisfiability import SatState, both, sat_query, solve_query
from coherence.verify.systems.literals import contradiction


@dataclass(frozen=True)
class Clash:
    """Two moves that undo each other on `signal`, and a state in which both are made (None: none was found)."""

    first: Move
    second: Move
    signal: str
    at: SatState | None

    @property
    def names(self) -> tuple[str, str]:
        return self.first.name, self.second.name


@dataclass(frozen=True)
class Apart:
    """No state lets both act: the scripts that show it; `unclear`: what kept the solver from it."""

    scripts: tuple[str, ...] = ()
    unclear: str = ""


def clash(facts: DesignFacts, signal: str, pairs: Iterable[tuple[Move, Move]]) -> Clash | Apart:
    """Returns the first pair of moves that one state allows, or why there is none."""
    scripts: list[str] = []
    unclear = ""
    for first, second in pairs:
        trees = [tree for tree in (effective(first), effective(second)) if tree is not None]
        if not trees:
            return Clash(first, second, signal, SatState({}))
        apart = sat_query(facts, trees, steady=False)
        literals = contradiction(*apart.conditions) if len(trees) == 2 else None
        if literals is not None:
            scripts.append(Asked(literals, {}).script())
            continue
        state = solve_query(apart)
        if not isinstance(state, SatState) and state.unsat:
            scripts.append(apart.script())
            continue
        lasting = solve_query(sat_query(facts, trees, steady=True))
        if isinstance(lasting, SatState) and _enters(facts, first) and _enters(facts, second):
            return Clash(first, second, signal, lasting)
        both_act = "whether a state lasts in which both act"
        unclear = unclear or both_act
    return Apart(tuple(scripts), unclear)


def _enters(facts: DesignFacts, move: Move) -> bool:
    """Returns whether the loop can begin to act at all."""
    if move.enters is None:
        return True
    state = solve_query(sat_query(facts, [move.enters], steady=True))
    return isinstance(state, SatState) or not state.unsat


def effective(move: Move) -> Tree | None:
    """Returns where the move changes something: inside the bounds of its loop."""
    here, span = Name(move.writer.signal), move.writer.values
    if move.to is not None:
        return move.when
    end = span.high if move.way == UP else span.low
    room = None if end is None else Compare("<" if move.way == UP else ">", here, Number(end))
    return both(move.when, room)


def opposed(one: tuple[Move, ...], other: tuple[Move, ...]) -> Iterator[tuple[Move, Move]]:
    """Returns moves of two loops in opposite directions."""
    return ((a, b) for a, b in itertools.product(one, other) if a.way == -b.way)


def proved(ask: Question, apart: Apart, first: Move, second: Move, signal: str) -> Finding:
    """Their conditions exclude each other whenever they would act against each other."""
    message = f"{first.name} and {second.name} never act against each other on {signal}: no state lets both act"
    certificate = joined(apart.scripts) if apart.scripts else None
    named = any(
        rival.name in used(tree)
        for move, rival in ((first, second), (second, first))
        if (tree := move.when) is not None
    )
    assumptions = ("a loop that reads another one's name sees at once that it acts",) if named else ()
    evidence = arithmetic({}, certificate=certificate)
    return ask.proved(message, places(first, second), (first.name, second.name), evidence, assumptions=assumptions)


def places(first: Move, second: Move) -> tuple[Place, Place]:
    """Returns where the two conditions stand."""
    return tuple(  # type: ignore[return-value]
        move.place.labelled(f"{move.name} {verb(move)} {move.writer.signal} {condition_text(move)}")
        for move in (first, second)
    )


def verb(move: Move) -> str:
    return "raises" if move.way == UP else "lowers"


def condition_text(move: Move) -> str:
    """`while x > 80`, or `at all times`."""
    return "at all times" if move.text == "always" else f"while {move.text}"


def shown(at: SatState, trees: Iterable[Tree | None], loops: Iterable[str]) -> dict[str, str]:
    """Returns the values of a world in words, with the units that the conditions compare them in."""
    dimensions = dict(_dimensions(tree for tree in trees if tree is not None))
    rendered = {}
    for name, level in sorted(at.at.items()):
        if name not in loops and not name.startswith("?"):
            rendered[name] = str(level).lower() if isinstance(level, bool) else _with_unit(level, dimensions.get(name))
    return rendered


def _with_unit(value: Fraction, dimension: units.Dimension | None) -> str:
    return render_quantity(value, dimension if dimension is not None else units.ONE)


def _dimensions(trees: Iterable[Tree]) -> Iterator[tuple[str, units.Dimension]]:
    for tree in trees:
        for node in walk(tree):
            if isinstance(node, Compare):
                for a, b in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(a, Name) and isinstance(b, Number):
                        yield a.path, b.dimension


def outside(subject: Subject, names: Iterable[str]) -> tuple[str, ...]:
    """Returns those of the names that no section declares."""
    declared = paths.things(subject.design) | set(subject.design.loops)
    return tuple(name for name in names if name.partition(".")[0].lstrip("?") not in declared)


def one_thing(subject: Subject, clash: Clash) -> str:
    """Returns the outside thing whose signals alone, different ones, let both act; empty where it is not so."""
    mine, theirs = (
        set(outside(subject, used(tree))) if (tree := found_tree) is not None else set()
        for found_tree in (clash.first.when, clash.second.when)
    )
    things = {name.partition(".")[0] for name in mine | theirs}
    return next(iter(things)) if mine and theirs and not mine & theirs and len(things) == 1 else ""


def exclusive_repairs(subject: Subject, clash: Clash) -> Iterator[Repair]:
    """Each of the two waits while the other one acts: `not other and (...)`."""
    for mine, theirs in ((clash.first, clash.second), (clash.second, clash.first)):
        trigger = loop_trigger(mine.writer.loop)
        if trigger is None or mine.writer.loop.rules or loop_trigger(theirs.writer.loop) is None:
            continue
        if theirs.writer.loop.rules:
            continue
        old = repairs.text_at(subject.sources, trigger.place)
        if old and old[0] not in "\"'" and ":" not in old and "#" not in old:
            new = f"not {theirs.name} and ({old})" if " or " in old else f"not {theirs.name} and {old}"
            yield Repair((Edit(trigger.place, old, new),), "")


def apart_repairs(subject: Subject, clash: Clash) -> Iterator[Repair]:
    """Moves the threshold of one condition to that of the other, where both compare one signal with a number."""
    for mine, theirs in ((clash.first, clash.second), (clash.second, clash.first)):
        trigger, rival = loop_trigger(mine.writer.loop), loop_trigger(theirs.writer.loop)
        if trigger is None or rival is None or mine.writer.loop.rules or theirs.writer.loop.rules:
            continue
        a, b = trigger.tree, rival.tree
        if not isinstance(a, Compare) or not isinstance(b, Compare) or a.left != b.left:
            continue
        if isinstance(a.right, Number) and isinstance(b.right, Number) and a.right.value != b.right.value:
            edit = repairs.rewrite(subject, trigger.at(a.right.span), b.right.value, a.right.dimension)
            repair = repairs.proposal(edit)
            yield from [repair] if repair else []


def state_steps(clash: Clash, values: Mapping[str, str]) -> tuple[Step, ...]:
    """Returns the state, then what each of the two does in it, the quicker one first."""
    state = ", ".join(f"{name} = {text}" for name, text in values.items()) or "any state"
    steps = [Step(Fraction(0), state)]
    moves = sorted((clash.first, clash.second), key=lambda m: (m.writer.period is None, m.writer.period or Fraction(0)))
    for move in moves:
        size = f" by {abs(move.by)}" if move.by is not None else ""
        steps.append(
            Step(move.writer.period, f"{move.name} {verb(move)} {move.writer.signal}{size} ({condition_text(move)})")
        )
    return (*steps, Step(None, "the state is as before: both act again"))
