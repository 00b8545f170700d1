"""Two writers whose signals the design states: whether some value of the field is left alone by both, in every world.

A signal is stated where it is made of the field itself and of stated constants.  A world is a choice of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.solver import SolverAnswer
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import arithmetic
from coherence.language.expressions import names
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Logic, Number, Tree, rename
from coherence.verify.actions.fixed_points import Scaler
from coherence.verify.facts.satisfiability import SatQuery, SatState, opposite, plain, solve_query
from coherence.verify.patterns.writers._pair import Numbers, WriterPair

MOST_VALUES = 400  # of the field that are looked at
World = dict[str, Fraction | bool]


@dataclass(frozen=True)
class Setter:
    """A loop that sets the field to `value`, whatever it reads."""

    value: Fraction


@dataclass(frozen=True)
class StatedPair:
    """Two maps of the field, each with the signal that it reads (a setter: none), over stated constants."""

    pair: WriterPair
    maps: tuple[Scaler | Setter, Scaler | Setter]

    @property
    def constants(self) -> tuple[str, ...]:
        trees = [each.signal for each in self.maps if isinstance(each, Scaler)]
        return tuple(dict.fromkeys(path for tree in trees for path in names(tree) if path != self.pair.signal))

    @property
    def exact(self) -> bool:
        return all(self.pair.facts.values[path].exact for path in self.constants)

    def after(self, each: Scaler | Setter, x: Fraction, world: World) -> Fraction:
        """Returns what a writer makes of the field.  Raises NotExactError where its signal has no value there."""
        if isinstance(each, Setter):
            return each.value
        signal = evaluate(each.signal, Constants({**world, self.pair.signal: x}))
        return each.next(x, Fraction(signal))


def stated(pair: WriterPair, *maps: Scaler | Setter) -> StatedPair | None:
    """Returns the pair where the design states what both read; None where a signal may be anything."""
    steady = tuple(_steady(each) for each in maps)
    case = StatedPair(pair, (steady[0], steady[1]))
    known = all(path in pair.facts.quantities and path in pair.facts.values for path in case.constants)
    return case if known else None


def _steady(each: Scaler | Setter) -> Scaler | Setter:
    """Returns the map of a field that stands still: what was read before is what is read now."""
    if isinstance(each, Setter):
        return each
    signal = plain(each.signal, steady=True)
    return Scaler(signal, each.setpoint, each.tolerance, each.low, each.high, each.whole)


def answer(case: StatedPair) -> Finding:
    """Returns whether, in every world, some value of the field is left alone by both."""
    pair, values = case.pair, _values(case)
    both = f"{pair.first.name} and {pair.second.name}"
    if isinstance(values, str):
        return pair.undecided(f"whether {both} rest together: {values}")
    moved = SatQuery(tuple(opposite(_left_alone(case, x)) for x in values), pair.facts.values, pair.facts.whole)
    world = solve_query(moved)
    if isinstance(world, SolverAnswer):
        return _rest(case, values, moved) if world.unsat else pair.undecided(f"whether {both} rest: {world.reason}")
    try:
        return _never_rest(case, values, _named(case, world))
    except NotExactError as error:
        return pair.undecided(f"whether {both} rest together: {error}")


def _named(case: StatedPair, state: SatState) -> World:
    """Returns the world of a state, with the constants that it leaves open at one end."""
    ranges = case.pair.facts.values
    return {path: state.at.get(path, ranges[path].clip(Fraction(0))) for path in case.constants}


def _values(case: StatedPair) -> list[Fraction] | str:
    """Returns every value that both may leave alone, or why they are not listed."""
    setter = next((each for each in case.maps if isinstance(each, Setter)), None)
    if setter is not None:
        return [setter.value]
    scalers = [each for each in case.maps if isinstance(each, Scaler)]
    low, high = max(each.low for each in scalers), min(each.high for each in scalers)
    if low > high:
        return []
    if low < high and not any(each.whole for each in scalers):
        return f"{case.pair.signal} is no whole number"
    if high - low > MOST_VALUES:
        return f"more than {MOST_VALUES} values of {case.pair.signal}"
    return sorted({low, high, *(Fraction(n) for n in range(math.ceil(low), math.floor(high) + 1))})


def _left_alone(case: StatedPair, x: Fraction) -> Tree:
    """Returns the condition on the world under which both leave this value alone."""
    return Logic("and", tuple(_rests(each, case.pair.signal, x) for each in case.maps))


def _rests(each: Scaler | Setter, field: str, x: Fraction) -> Tree:
    if isinstance(each, Setter) or each.pinned:
        return _truth(holds=x == (each.value if isinstance(each, Setter) else each.low))
    if not each.low <= x <= each.high:
        return _truth(holds=False)
    ratio = Arithmetic("/", _at(each.signal, field, x), Number(each.setpoint))
    near = Compare("<=", Call("abs", (Arithmetic("-", ratio, Number(Fraction(1))),)), Number(each.tolerance))
    return Logic("or", (near, _wished(each, x, Arithmetic("*", ratio, Number(x)))))


def _wished(each: Scaler, x: Fraction, wish: Tree) -> Tree:
    """Returns the condition that the wish, rounded up and clipped, is x: the ends of the bounds take all beyond."""
    up = Compare(">", wish, Number(Fraction(math.ceil(x) - 1))) if each.whole else Compare(">=", wish, Number(x))
    down = Compare("<=", wish, Number(Fraction(math.floor(x)) if each.whole else x))
    if x == each.low:
        return down
    return up if x == each.high else Logic("and", (up, down))


def _at(tree: Tree, field: str, x: Fraction) -> Tree:
    return rename(tree, lambda path: Number(x) if path == field else path)


def _truth(*, holds: bool) -> Tree:
    return Compare("==", Number(Fraction(0)), Number(Fraction(0 if holds else 1)))


def _rest(case: StatedPair, values: list[Fraction], moved: SatQuery) -> Finding:
    """Answers that in no world both move every value."""
    pair = case.pair
    world = _named(case, SatState({}))
    where = next((x for x in values if all(case.after(each, x, world) == x for each in case.maps)), values[0])
    shown = pair.shown(where) if case.exact else f"one of {pair.shown(values[0])} to {pair.shown(values[-1])}"
    message = f"{pair.first.name} and {pair.second.name} both leave {pair.signal} alone at {shown}"
    return pair.proved(message, _constants(case, world), moved.script())


def _constants(case: StatedPair, world: World) -> Numbers:
    return {path: (Fraction(value), "") for path, value in world.items() if path in case.constants}


def _never_rest(case: StatedPair, values: list[Fraction], world: World) -> Finding:
    """Answers that in this world one of the two moves each value; every one is tried again."""
    pair = case.pair
    resting = next((x for x in values if all(case.after(each, x, world) == x for each in case.maps)), None)
    if resting is not None:
        raise NotExactError(f"a solver and the laws differ at {pair.shown(resting)}")
    conditional = [writer for writer in (pair.first, pair.second) if writer.condition is not None]
    given = ", ".join(f"{path} = {_shown(case, path, value)}" for path, value in world.items())
    message = f"{pair.first.name} and {pair.second.name} leave no value of {pair.signal} alone together"
    return pair.conflict(
        f"{message}{f' ({given})' if given else ''}",
        arithmetic(_constants(case, world), witness=_story(case, world)), certain=case.exact and not conditional,
        assumptions=[f"the condition of {w.name} can hold while {pair.rival(w).name} acts" for w in conditional],
        proposals=[pair.unset(writer) for writer in (pair.first, pair.second) if writer.kind == "set"],
    )  # fmt: skip


def _shown(case: StatedPair, path: str, value: Fraction | bool) -> str:
    return render_quantity(Fraction(value), case.pair.facts.quantities[path].dimension)


def _story(case: StatedPair, world: World) -> Iterator[Step]:
    """Yields writes in turn, from a value that the first one may choose."""
    pair = case.pair
    first = case.maps[0]
    x = first.value if isinstance(first, Setter) else max(first.low, min(Fraction(1), first.high))
    yield Step(Fraction(0), f"{pair.signal} is {pair.shown(x)}")
    for _ in range(3):
        for writer, each in zip((pair.first, pair.second), case.maps, strict=True):
            x = case.after(each, x, world)
            yield Step(None, f"{writer.name} writes {pair.shown(x)}")
