"""Reads flows with kinks as switching loops: x' = A x + (piecewise-linear functions of signals, delayed or not).

Every `min`, `max`, `abs`, `floor`, `ceil` and `a if c else b` of one linear signal becomes an element; a linear
delayed term becomes an element of slope one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth
from coherence.loops.cycles.piecewise_linear import (
    chosen,
    combined,
    element_of,
    larger,
    line,
    positive,
    rounded,
    scaled,
    smaller,
    total,
)
from coherence.loops.cycles.relay import Element, Pieces, Staircase, System, system
from coherence.model.model import Model

Signal = tuple[str, Fraction]  # state, delay in s
Input = tuple[tuple[Signal, float], ...]  # a linear combination of signals, the first with weight 1


class ShapeError(NotExactError):
    """A flow that is no sum of linear terms and functions of one linear signal each."""


@dataclass(frozen=True)
class Sum:
    """const + linear terms + functions of one input each + modes (0 or 1) that switch, now or so long ago."""

    const: float
    linear: Mapping[Signal, float]
    shaped: Mapping[Input, Pieces]
    modes: Mapping[Signal, float] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Decides whether the sum is a plain number."""
        return not self.linear and not self.shaped and not self.modes


@dataclass(frozen=True)
class Elements:
    """A switching system; `inputs`: what each element sees; `states`: the order of x.

    `above`: elements that between their thresholds begin at the upper level: modes are off at first.
    """

    system: System
    inputs: tuple[Input, ...]
    states: tuple[str, ...]
    above: tuple[bool, ...]


def elements_of(model: Model, states: Sequence[str], levels: Mapping[str, Fraction]) -> Elements:
    """Returns the flows of some states; everything else stands at `levels`.  Raises ShapeError."""
    reader = _Reader(model, set(states), levels)
    index = {path: k for k, path in enumerate(states)}
    a, drift = np.zeros((len(states), len(states))), np.zeros(len(states))
    parts: list[_Part] = []
    for row, path in enumerate(states):
        flow = model.states[path].flow
        if flow is None:
            raise ShapeError(f"{path} moves in steps")
        reading = reader.read(flow, Fraction(0))
        drift[row] = reading.const
        for (other, delay), weight in reading.linear.items():
            if delay:
                parts.append(_Part(row, (((other, delay), 1.0),), line(weight)))
            else:
                a[row, index[other]] += weight
        parts += [_Part(row, seen, element_of(pieces)) for seen, pieces in reading.shaped.items()]
        parts += [reader.relay(mode, row, weight) for mode, weight in reading.modes.items()]
    parts = parts or [_Part(0, (((states[0], Fraction(0)), 1.0),), line(0))]  # an element that puts out nothing
    b, c = np.zeros((len(states), len(parts))), np.zeros((len(parts), len(states)))
    for k, part in enumerate(parts):
        b[part.row, k] = 1.0
        for (path, _), weight in part.seen:
            c[k, index[path]] = weight
    rows = a.tolist(), b.tolist(), c.tolist()
    delays = [float(part.seen[0][0][1]) for part in parts]
    switching = system(*rows, [part.element for part in parts], delays=delays, drift=drift.tolist())
    return Elements(switching, tuple(p.seen for p in parts), tuple(states), tuple(p.above for p in parts))


@dataclass(frozen=True)
class _Part:
    """An element that acts on the flow number `row`."""

    row: int
    seen: Input
    element: Element
    above: bool = False


class _Reader:
    """Expressions as sums."""

    def __init__(self, model: Model, states: set[str], levels: Mapping[str, Fraction]) -> None:
        self.model, self.states, self.levels = model, states, levels

    def read(self, tree: Tree, delay: Fraction) -> Sum:
        """Returns the tree as a sum, `delay` seconds ago.  Raises ShapeError."""
        match tree:
            case Number(value=number):
                return _number(float(number))
            case Name(path=path):
                return self._name(path, delay)
            case Call(function="delayed", arguments=(inner, Number(value=more))):
                return self.read(inner, delay + more)
            case Arithmetic():
                return self._arithmetic(tree, delay)
            case Call() | Choose():
                return self._shaped(tree, delay)
            case _:
                raise ShapeError(f"{type(tree).__name__.lower()} in a flow")

    def relay(self, mode: Signal, row: int, weight: float) -> _Part:
        """Returns a mode that switches as an element with hysteresis between 0 and a weight.  Raises ShapeError."""
        path, late = mode
        switch = self.model.states[path].switch
        if switch is None or switch.leave is None:
            raise ShapeError(f"{path} stays as it was set: where its loop goes on and off, read the loop's own name")
        (enter, rises), (leave, falls) = self._threshold(switch.enter, late), self._threshold(switch.leave, late)
        if enter.linear.keys() != leave.linear.keys() or _direction(enter) != _direction(leave):
            raise ShapeError(f"{path} enters by one signal and leaves by another")
        seen = _direction(enter)
        slope = enter.linear[seen[0][0]], leave.linear[seen[0][0]]
        on, off = -enter.const / slope[0], -leave.const / slope[1]
        up, down = rises is (slope[0] > 0), falls is (slope[1] > 0)  # of the input: on above, off above
        if up is down or (on < off) is up:
            raise ShapeError(f"{path} does not leave beyond where it enters")
        if up:
            return _Part(row, seen, Staircase((0.0, weight), (on,), (off,)))
        return _Part(row, seen, Staircase((weight, 0.0), (off,), (on,)), above=True)

    def _threshold(self, tree: Tree, delay: Fraction) -> tuple[Sum, bool]:
        """Returns a comparison as a linear form that is held against 0, and whether it is true above."""
        if not isinstance(tree, Compare) or tree.op not in ("<", "<=", ">", ">="):
            raise ShapeError("a switch by more than one comparison")
        apart = added(self.read(tree.left, delay), self.read(tree.right, delay), -1.0)
        if apart.shaped or apart.modes or not apart.linear:
            raise ShapeError("a switch by what is no linear form of levels")
        return apart, tree.op[0] == ">"

    def _name(self, path: str, delay: Fraction) -> Sum:
        if path in self.states:
            return Sum(0.0, {(path, delay): 1.0}, {})
        if path in self.model.states and self.model.states[path].switch is not None:
            return Sum(0.0, {}, {}, {(path, delay): 1.0})
        if path in self.model.outputs:
            return self.read(self.model.outputs[path], delay)
        if path not in self.levels:
            raise ShapeError(f"needs a value of {path}")
        return _number(float(self.levels[path]))

    def _arithmetic(self, tree: Arithmetic, delay: Fraction) -> Sum:
        left, right = self.read(tree.left, delay), self.read(tree.right, delay)
        if tree.op in "+-":
            return added(left, right, -1.0 if tree.op == "-" else 1.0)
        if tree.op == "*" and (left.plain or right.plain):
            return times(right, left.const) if left.plain else times(left, right.const)
        if tree.op == "/" and right.plain and right.const:
            return times(left, 1 / right.const)
        raise ShapeError("a product or quotient of signals that move")

    def _by_mode(self, tree: Choose, mode: str, delay: Fraction) -> Sum:
        """Returns a choice by a mode: what is chosen while it is off, and the difference while it is on."""
        then, otherwise = self.read(tree.then, delay), self.read(tree.otherwise, delay)
        more = added(then, otherwise, -1.0)
        if not more.plain:
            raise ShapeError(f"a flow that differs by more than a number while {mode} is on")
        return added(otherwise, self._name(mode, delay), more.const)

    def _shaped(self, tree: Call | Choose, delay: Fraction) -> Sum:
        """Returns a nonlinear node as a function of the one input of its parts."""
        if isinstance(tree, Choose) and isinstance(tree.condition, Name):
            return self._by_mode(tree, tree.condition.path, delay)
        seen = sorted(self._inputs(tree, delay))
        if len(seen) > 1:
            raise ShapeError("an element that depends on two signals at once")
        pieces = self._function(tree, delay, seen[0] if seen else ())
        if not seen:
            return _number(pieces.intercepts[0])
        return Sum(0.0, {}, {seen[0]: pieces})

    def _inputs(self, tree: Tree, delay: Fraction) -> set[Input]:
        match tree:
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self._inputs(condition, delay) | self._inputs(then, delay) | self._inputs(otherwise, delay)
            case Compare(left=left, right=right):
                return _seen(added(self.read(left, delay), self.read(right, delay), -1.0))
            case Logic(terms=terms):
                return set().union(*(self._inputs(term, delay) for term in terms))
            case Call(function=name, arguments=parts) if name in ("min", "max", "abs", "floor", "ceil"):
                return set().union(*(self._inputs(part, delay) for part in parts))
            case Truth():
                return set()
            case Call(function=name) if name != "delayed":
                raise ShapeError(f"{name}() in a flow")
            case _:
                return _seen(self.read(tree, delay))

    def _function(self, tree: Tree, delay: Fraction, seen: Input) -> Pieces:
        match tree:
            case Choose(condition=condition, then=then, otherwise=otherwise):
                parts = [self._function(part, delay, seen) for part in (then, otherwise)]
                return chosen(self._condition(condition, delay, seen), *parts)
            case Call(function=name, arguments=arguments) if name in ("min", "max", "abs", "floor", "ceil"):
                parts = [self._function(part, delay, seen) for part in arguments]
                if name == "abs":
                    return larger(parts[0], scaled(parts[0], -1))
                if name in ("floor", "ceil"):
                    return rounded(parts[0], up=name == "ceil")
                joined = parts[0]
                for part in parts[1:]:
                    joined = (smaller if name == "min" else larger)(joined, part)
                return joined
            case _:
                return _as_function(self.read(tree, delay), seen)

    def _condition(self, tree: Tree, delay: Fraction, seen: Input) -> Pieces:
        match tree:
            case Truth(value=truth):
                return line(0, float(truth))
            case Compare(op=op, left=left, right=right) if op in ("<", "<=", ">", ">="):
                sign = 1.0 if op[0] == ">" else -1.0
                apart = added(self.read(left, delay), self.read(right, delay), -1.0)
                return positive(_as_function(times(apart, sign), seen), strict=len(op) == 1)
            case Logic(op=op, terms=terms):
                parts = [self._condition(term, delay, seen) for term in terms]
                if op == "not":
                    return total(line(0, 1), scaled(parts[0], -1))
                joined = parts[0]
                for part in parts[1:]:
                    pick = min if op == "and" else max
                    joined = combined(joined, part, lambda a, b, pick=pick: (0.0, pick(a[1], b[1])))  # type: ignore[misc]
                return joined
            case _:
                raise ShapeError("a condition that is no comparison")


def _number(number: float) -> Sum:
    return Sum(number, {}, {})


def added(first: Sum, other: Sum, factor: float) -> Sum:
    """Returns one + factor * other."""
    more = times(other, factor)
    linear = dict(first.linear)
    for signal, weight in more.linear.items():
        linear[signal] = linear.get(signal, 0.0) + weight
    shaped = dict(first.shaped)
    for seen, pieces in more.shaped.items():
        shaped[seen] = total(shaped[seen], pieces) if seen in shaped else pieces
    modes = {mode: first.modes.get(mode, 0.0) + more.modes.get(mode, 0.0) for mode in {**first.modes, **more.modes}}
    return Sum(first.const + more.const, {s: w for s, w in linear.items() if w}, shaped, modes)


def times(one: Sum, factor: float) -> Sum:
    """Returns factor * one."""
    linear = {signal: weight * factor for signal, weight in one.linear.items() if factor}
    shaped = {seen: scaled(p, factor) for seen, p in one.shaped.items() if factor}
    return Sum(one.const * factor, linear, shaped, {mode: w * factor for mode, w in one.modes.items() if factor})


def _seen(one: Sum) -> set[Input]:
    """Returns the inputs that a sum depends on.  Raises ShapeError where its linear part mixes delays."""
    if one.modes:
        raise ShapeError("an element that depends on what switches")
    return {*one.shaped, *([_direction(one)] if one.linear else [])}


def _direction(whole: Sum) -> Input:
    """Returns the linear part, divided by its first weight."""
    rows = sorted(whole.linear.items())
    if len({delay for (_, delay), _ in rows}) > 1:
        raise ShapeError("an element that compares a signal with another delay of one")
    return tuple((signal, weight / rows[0][1]) for signal, weight in rows)


def _as_function(whole: Sum, seen: Input) -> Pieces:
    """Returns a sum as a function of its input."""
    slope = whole.linear[seen[0][0]] if whole.linear else 0.0
    function = line(slope, whole.const)
    for pieces in whole.shaped.values():
        function = total(function, pieces)
    return function
