"""Decides which boundaries the commands and readings of a loop cross, and lowers their delays into its sampled form.

A loop stands where its `inside` says: in a boundary, where a component or a tier is, or outside of all (`none`), and
in all that enclose those.  A command crosses each boundary with the loop on one side and what it writes on the other,
and lands `added_delay` later; a reading crosses those between its source and the loop, and is `reading_delay` old.
A boundary is lowered where every loop that writes or reads something in it says where it stands; else it is not read,
and what it touches is not proved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.units import SECOND
from coherence.language import names
from coherence.language.design import Design, Loop
from coherence.language.expressions.tree import Call, Name, Number, Tree, rebuilt
from coherence.language.expressions.tree import names as names_in
from coherence.language.infrastructure import Boundary
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.shared_rates import around

NOTHING: Mapping[str, Tree] = {}
NOW = Fraction(0)
Way = tuple[str, str]  # a boundary, and the key of it that says what is met on the way


def stands_in(design: Design, loop: Loop) -> frozenset[str] | None:
    """Returns the boundaries that a loop stands in; None where it does not say."""
    if not loop.inside:
        return None
    stated = {word.text for word in loop.inside}
    return frozenset(stated & design.boundaries.keys()).union(
        boundary.name for word in stated for boundary in around(design, word)
    )


def between(design: Design, loop: Loop, thing: str) -> Iterator[tuple[Boundary, bool]]:
    """Yields the boundaries around a loop, a thing (or another loop) or both, and whether they lie between the two.

    Only those that can be lowered; nothing where one of the two does not say where it stands.
    """
    here = stands_in(design, loop)
    other = design.loops.get(thing)
    there = stands_in(design, other) if other else frozenset(boundary.name for boundary in around(design, thing))
    if here is None or there is None:
        return
    for boundary in design.boundaries.values():
        if boundary.name in here | there and not unplaced(design).get(boundary.name):
            yield boundary, boundary.name in here ^ there


@cached
@unnoted()
def unplaced(design: Design) -> dict[str, tuple[str, ...]]:
    """Returns, for each boundary, the loops that act on or read something in it and do not say where they stand."""
    wanting: dict[str, tuple[str, ...]] = {}
    for loop in design.loops.values() if design.boundaries else ():
        things = sorted(_touched(design, loop)) if not loop.inside else []
        for boundary in {b.name: b for thing in things for b in around(design, thing)}:
            wanting[boundary] = (*wanting.get(boundary, ()), loop.name)
    return wanting


@cached
@unnoted()
def uncrossed(design: Design) -> frozenset[str]:
    """Returns the boundaries that no loop acts or looks across, where all loops say where they stand."""
    ways = ((loop, thing) for loop in design.loops.values() for thing in _touched(design, loop))
    passed = {boundary.name for loop, thing in ways for boundary, lies in between(design, loop, thing) if lies}
    placed = bool(design.loops) and all(loop.inside for loop in design.loops.values())
    return frozenset(design.boundaries.keys() - passed if placed else ())


def _touched(design: Design, loop: Loop) -> frozenset[str]:
    """Returns the things that a loop writes, evicts members of or reads."""
    read = (path for formula in names.loop_formulas(loop) for path in names_in(formula.tree))
    paths = (*read, *filter(None, (loop.written, loop.evicted)))
    return frozenset(names.resolve(path, design).partition(".")[0] for path in paths) - names.BUILT_IN


@dataclass(frozen=True)
class HiddenReading:
    """A signal that a loop reads and a boundary hides; `crosses`: None where the loop does not say where it stands."""

    loop: Loop
    path: str
    boundary: Boundary
    hides: Word
    read: Place
    crosses: bool | None


def hidden_readings(design: Design) -> Iterator[HiddenReading]:
    """Yields what loops read of what boundaries around it hide, on whichever side of them the loops stand."""
    hiding = [boundary for boundary in design.boundaries.values() if boundary.hides]
    for loop in design.loops.values() if hiding else ():
        here = stands_in(design, loop)
        places = {
            names.resolve(path, design): formula.place
            for formula in names.loop_formulas(loop)
            for path in names_in(formula.tree)
        }
        for (path, place), boundary in itertools.product(places.items(), hiding):
            thing = path.partition(".")[0]
            word = next((w for w in boundary.hides if names.resolve(w.text, design) in {path, thing}), None)
            there = {enclosing.name for enclosing in around(design, thing)}
            if word is not None and boundary.name in there | (here or set()):
                crosses = None if here is None else boundary.name in here ^ there
                yield HiddenReading(loop, path, boundary, word, place, crosses)


def command_delays(design: Design, loop: Loop, signal: str) -> Iterator[tuple[Way, Quantity]]:
    """Yields how much later each boundary on the way lets a command land, with what says so."""
    yield from _delays(design, loop, signal, "added_delay")


def reading_delays(design: Design, loop: Loop, path: str) -> Iterator[tuple[Way, Quantity]]:
    """Yields how old each boundary on the way makes what a loop reads of a name, with what says so."""
    yield from _delays(design, loop, path, "reading_delay")


def _delays(design: Design, loop: Loop, path: str, key: str) -> Iterator[tuple[Way, Quantity]]:
    """Yields what the boundaries on the way to a signal add; whoever takes them has read those beside it too."""
    if not path or path in names.BUILT_IN or not loop.inside:
        return
    for boundary, lies in between(design, loop, path.partition(".")[0]):
        delay: Quantity | None = getattr(boundary, key)
        if delay is not None and delay.high and lies:
            yield (boundary.name, key), delay


def delays_between(design: Design, loop: Loop) -> dict[Way, Quantity]:
    """Returns the delays of the boundaries that commands and readings of a loop cross."""
    signal = names.resolve(loop.written, design)
    on_the_way = dict(command_delays(design, loop, signal))
    on_the_way |= dict(reading_delays(design, loop, signal))  # of how many are ready
    for formula in names.loop_formulas(loop):
        for path in sorted(names_in(formula.tree)):
            on_the_way |= dict(reading_delays(design, loop, names.resolve(path, design)))
    return on_the_way


@dataclass(frozen=True)
class Sight:
    """How old a loop sees a name (s), and what is seen of it where its value at its time is an expression.

    `seen`: of a name, of the age that the text states of it (s), and of that expression.
    """

    age: Callable[[str], Fraction]
    seen: Callable[[str, Fraction, Tree], Tree] = lambda _, __, tree: tree


def later(tree: Tree, sight: Sight, shown: Mapping[str, Tree] = NOTHING) -> Tree:
    """Returns what is seen of an expression where each name is old and multiplied, or `shown` as something else."""
    match tree:
        case Name(path=path) if path in shown:
            return shown[path]
        case Name(path=path):
            seconds = sight.age(path)
            return sight.seen(path, NOW, Call("delayed", (tree, Number(seconds, SECOND))) if seconds else tree)
        case Call(function="delayed", arguments=(Name(path=path) as name, Number(value=value))) if path not in shown:
            old = Call("delayed", (name, Number(value + sight.age(path), SECOND)), tree.span)
            return sight.seen(path, value, old)
        case Call(function="sampled"):  # a sample is sent late, not taken late
            seconds = max(map(sight.age, names_in(tree)), default=Fraction(0))
            sample = rebuilt(tree, lambda part: later(part, replace(sight, age=lambda _: NOW), shown))
            return Call("delayed", (sample, Number(seconds, SECOND))) if seconds else sample
        case _:
            return rebuilt(tree, lambda part: later(part, sight, shown))
