"""Finds the direction in which expressions move when one signal rises, over all ways from it to its readers.

Signs are sets of directions (UP, DOWN), joined over all ways; a way has the product of the signs of its partial
derivatives.  Where all agree, two runs that begin alike and differ in the signal stay ordered for ever (states, delays,
means and samples included), for every value in the ranges.
SOURCE: monotone systems: Angeli and Sontag 2003, Monotone Control Systems, IEEE Transactions on Automatic
Control 48(10).
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Tree, children
from coherence.model.model import Interval, Model
from coherence.verify.facts.ranges import PAST, Values, enclosure, hull

NONE, UP, DOWN, BOTH = 0, 1, 2, 3
RISING = ("min", "max", "floor", "ceil", "exp", "log")


def plant_sign(model: Model, signal: str, tree: Tree) -> int:
    """Returns directions in which an expression may move when a signal rises, loops that do not write it at rest."""
    ranges = ranges_of(model)
    return sign(tree, spread(model, ranges, signal), ranges)


def ranges_of(model: Model) -> dict[str, Interval]:
    """Returns the interval of every name: constants, what loops write, states, and outputs by dependence."""
    ranges = {path: constant.range for path, constant in model.constants.items()}
    ranges |= {path: state.range for path, state in model.states.items()}
    for path, command in model.commands.items():
        ranges[path] = hull([command.initial, *(loop.bounds for loop in model.loops if loop.signal == path)])
    for path, tree in model.outputs.items():
        ranges[path] = enclosure(tree, ranges)
    return ranges


def spread(model: Model, values: Values, signal: str) -> dict[str, int]:
    """Returns directions in which every output and state may move when the signal rises, the loops standing still."""
    signs: dict[str, int] = {signal: UP}
    changed = [signal]
    while changed:  # the least fixed point: signs only grow
        for path in model.readers.get(changed.pop(), ()):
            grown = signs.get(path, NONE) | _moved(model, path, signs, values)
            if grown != signs.get(path, NONE):
                signs[path] = grown
                changed.append(path)
    return signs


def _moved(model: Model, path: str, signs: Mapping[str, int], values: Values) -> int:
    """Returns directions of one output or state; how a state moves by itself does not reorder two runs."""
    if path in model.outputs:
        return sign(model.outputs[path], signs, values)
    state = model.states[path]
    following = sign(state.next, signs, values) if state.next is not None else NONE
    others = {name: sign for name, sign in signs.items() if name != path}
    return following | (sign(state.flow, others, values) if state.flow is not None else NONE)


def sign(tree: Tree, signs: Mapping[str, int], values: Values) -> int:
    """Returns directions of the tree, given those of the names; true counts as larger than false."""
    match tree:
        case Name(path=path):
            return signs.get(path, NONE)
        case Arithmetic(op="*", left=left, right=right):
            left_sign, right_sign = sign(left, signs, values), sign(right, signs, values)
            return scaled(left_sign, right, values) | scaled(right_sign, left, values)
        case Arithmetic(op="/", left=left, right=right):
            return _quotient(left, right, signs, values)
        case Arithmetic(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return _difference(op, sign(left, signs, values), sign(right, signs, values))
        case Call(function=function, arguments=(inner, *_)) if function in PAST:
            return BOTH if _union(tree.arguments[1:], signs, values) else sign(inner, signs, values)
        case Call(function=function, arguments=arguments) if function in RISING:
            return _union(arguments, signs, values)
        case Call(function="abs", arguments=(inner,)):
            return scaled(sign(inner, signs, values), inner, values)
        case Logic(op="not", terms=terms):
            return flipped(sign(terms[0], signs, values))
        case Logic(terms=terms):
            return _union(terms, signs, values)
        case Held(condition=condition):
            return sign(condition, signs, values)
        case Choose():
            return _chosen(tree, signs, values)
    return BOTH if _union(children(tree), signs, values) else NONE


def flipped(directions: int) -> int:
    """Returns the opposite directions."""
    return (UP if directions & DOWN else NONE) | (DOWN if directions & UP else NONE)


def _union(parts: tuple[Tree, ...], signs: Mapping[str, int], values: Values) -> int:
    directions = NONE
    for part in parts:
        directions |= sign(part, signs, values)
    return directions


def _difference(op: str, left: int, right: int) -> int:
    """Returns the directions of a sum, difference or comparison."""
    if op == "+":
        return left | right
    if op in ("<", "<="):
        return flipped(left) | right
    if op in ("-", ">", ">="):
        return left | flipped(right)
    return BOTH if left | right else NONE


def scaled(directions: int, factor: Tree, values: Values) -> int:
    """Returns the directions times a factor of known or unknown sign."""
    if not directions:
        return NONE
    span = enclosure(factor, values)
    if span.low is not None and span.low >= 0:
        return directions
    return flipped(directions) if span.high is not None and span.high <= 0 else BOTH


def _quotient(left: Tree, right: Tree, signs: Mapping[str, int], values: Values) -> int:
    left_sign, right_sign = sign(left, signs, values), sign(right, signs, values)
    if not left_sign | right_sign:
        return NONE
    span = enclosure(right, values)
    if (span.low is None or span.low < 0) and (span.high is None or span.high > 0):
        return BOTH
    return scaled(left_sign, right, values) | flipped(scaled(right_sign, left, values))


def _chosen(tree: Choose, signs: Mapping[str, int], values: Values) -> int:
    """Returns the directions of both branches, and of the step between them where the condition turns."""
    branches = sign(tree.then, signs, values) | sign(tree.otherwise, signs, values)
    switch = sign(tree.condition, signs, values)
    if not switch:
        return branches
    then, otherwise = enclosure(tree.then, values), enclosure(tree.otherwise, values)
    if _below(otherwise, then):
        return branches | switch
    return branches | (flipped(switch) if _below(then, otherwise) else BOTH)


def _below(one: Interval, other: Interval) -> bool:
    """Decides whether no value of one interval is above a value of the other."""
    return one.high is not None and other.low is not None and one.high <= other.low
