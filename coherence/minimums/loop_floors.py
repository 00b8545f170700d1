"""Computes floors that no retuning of a loop passes: its recovery time, its largest gain, what its stale readings cost,
which share of readings may be lost.

The ages of readings are bounds that read the design alone (`reading_age_mean`, `reading_age_longest`); those here need
the way from a command to what is read, so they start from the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

from coherence.base.graphs import reached
from coherence.base.places import Place
from coherence.base.reads import answered
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree, children
from coherence.minimums.bound import Application, Bound
from coherence.minimums.design_floors import DesignFloor, floor_of
from coherence.minimums.floors import Span
from coherence.minimums.lags import Branch, branches, ways, weights
from coherence.minimums.registry import entry
from coherence.model.model import Model, SampledLoop, State


def loop_floors(model: Model) -> tuple[DesignFloor, ...]:
    """Returns for each loop with feedback its recovery time, for each way back the largest gain and the updates, and
    for each state that runs away by itself which share of its readings may be lost.

    A loop that sees several ways (a minimum of a delayed and an undelayed signal) has both for each of them.
    """
    floors = [floor for loop in model.loops if loop.signal for floor in _of(model, loop)]
    return tuple(sorted(floors, key=lambda floor: (floor.bound.loss, floor.bound.name, floor.application.thing)))


def _of(model: Model, loop: SampledLoop) -> Iterator[DesignFloor]:
    back = ways(model, loop)
    if not back:
        return
    dead = min(way.dead for way in back) + loop.lands
    spans = {"period": (loop.period, loop.period), "dead": (dead, dead)}
    yield floor_of(_bound("recovery_time"), Application(loop.name, spans, {}, tuple(_places(loop))))
    for state, growth in _states_running_away(model, loop):
        places = (*_places(loop), state.place.labelled("grows by itself"))
        grown: dict[str, Span] = {"growth": (growth, growth)}
        yield floor_of(_bound("lost_readings"), Application(f"{state.path} read by {loop.name}", grown, {}, places))
    if loop.law != "proportional":
        return
    choices = branches(model, loop)
    for branch in choices:
        yield from _of_branch(loop, branch, alone=len(choices) == 1)


def _of_branch(loop: SampledLoop, branch: Branch, *, alone: bool) -> Iterator[DesignFloor]:
    """Yields the gain, and where all that is read is equally old how many updates an error lasts."""
    thing = loop.name if alone else f"{loop.name} ({' and '.join(way.text() or 'undelayed' for way in branch)})"
    shares = weights(branch[0], loop) if len(branch) == 1 else "one way back: several of unlike age add up"
    places = tuple(_places(loop))
    if isinstance(shares, str):
        yield floor_of(_bound("sampled_gain"), Application(thing, {}, {"weights": shares}, places))
        return
    span = cast("Any", (shares, shares))
    yield floor_of(_bound("sampled_gain"), Application(thing, {"weights": span}, {}, places))
    age = len(shares) - 1
    if age and shares[age] == 1:
        yield floor_of(_bound("stale_updates"), Application(thing, {"staleness": (age, age)}, {}, places))


def _bound(name: str) -> Bound:
    return entry(name).bound


def _places(loop: SampledLoop) -> Iterator[Place]:
    timescale, target = loop.source.timescale, loop.source.target
    if timescale is not None:
        for quantity, label in ((timescale.period, "decides this often"), (timescale.lands, "lands this much later")):
            if quantity is not None:
                yield quantity.place.labelled(f"{loop.name} {label}")
    if target is not None and target.signal is not None:
        yield target.signal.place.labelled(f"{loop.name} reads this")
        yield from (link.place.labelled("adds to the age of what it reads") for link in target.sensor if link.duration)


def _states_running_away(model: Model, loop: SampledLoop) -> tuple[tuple[State, Fraction | float], ...]:
    """Returns the states that a loop reads and moves, and by what each grows between two readings where it grows."""
    return answered(lambda: tuple(_running_away(model, loop)))


def _running_away(model: Model, loop: SampledLoop) -> Iterator[tuple[State, Fraction | float]]:
    read = _behind(model, [tree for take in loop.expressions() if (tree := take()) is not None])
    for path, state in model.states.items():
        tree = state.next if state.next is not None else state.flow
        if path not in read or tree is None or state.switch is not None or loop.signal not in _behind(model, [tree]):
            continue
        rate = _own_share(model, tree, path)
        growth = None if rate is None else _between_readings(state, rate, loop.period)
        if growth is not None and growth > 1:
            yield state, growth


def _between_readings(state: State, rate: Fraction, period: Fraction) -> Fraction | float | None:
    if state.next is None:
        return math.exp(min(float(rate * period), 700.0))
    steps = period / state.step if state.step else None
    return abs(rate) ** int(steps) if steps is not None and steps.denominator == 1 else None


def _own_share(model: Model, tree: Tree, path: str) -> Fraction | None:
    """Returns by what an expression multiplies a state; None: by no one number, or there is another state in it."""
    match tree:
        case Name(path=name) if name == path:
            return Fraction(1)
        case Name(path=name) if name in model.outputs:
            return _own_share(model, model.outputs[name], path)
        case Name(path=name):
            return None if name in model.states else Fraction(0)
        case Number():
            return Fraction(0)
        case Arithmetic(op=op, left=left, right=right):
            return _combined(model, op, (left, right), path)
    return Fraction(0) if not set(model.states) & _behind(model, [tree]) else None


def _combined(model: Model, op: str, sides: tuple[Tree, Tree], path: str) -> Fraction | None:
    shares = [_own_share(model, side, path) for side in sides]
    if None in shares:
        return None
    left, right = (share or Fraction(0) for share in shares)
    if op in "+-":
        return left + right if op == "+" else left - right
    if not left and not right:
        return Fraction(0)
    numbers = [_number(model, side) for side in sides]
    if op == "*" and (left and numbers[1] is not None):
        return left * numbers[1]
    if op == "*" and (right and numbers[0] is not None):
        return right * numbers[0]
    return left / numbers[1] if op == "/" and not right and numbers[1] else None


def _number(model: Model, tree: Tree) -> Fraction | None:
    match tree:
        case Number(value=value):
            return value
        case Name(path=path) if path in model.constants:
            known = model.constants[path].range
            return known.low if known.low is not None and known.low == known.high else None
    return None


def _behind(model: Model, trees: list[Tree]) -> frozenset[str]:
    """Returns every name that expressions are computed from in one instant."""
    names = [name for tree in trees for name in _names(tree)]
    return frozenset(reached(names, lambda name: _names(model.outputs[name]) if name in model.outputs else ())) | set(
        names
    )


def _names(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Name):
        yield tree.path
    for child in children(tree):
        yield from _names(child)
