"""In which direction expressions move when one signal rises: signs of all ways from the signal to what reads it.

Signs are sets of directions (UP, DOWN), joined over all ways; where they agree the direction holds for every
value in the ranges.  SOURCE: monotone systems: Angeli and Sontag 2003, Monotone Control Systems, IEEE
Transactions on Automatic Control 48(10).
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Tree,
    children,
    names,
)
from coherence.model.model import Model
from coherence.verify.facts.ranges import PAST, Values, enclosure

NONE, UP, DOWN, BOTH = 0, 1, 2, 3
RISING = ("min", "max", "floor", "ceil", "exp", "log", *PAST)


def spread(model: Model, values: Values, signal: str) -> dict[str, int]:
    """Directions in which every output and state may move when the signal rises, the loops standing still."""
    readers = model.design.once("readers of each name", lambda: _readers(model))
    signs: dict[str, int] = {signal: UP}
    changed = [signal]
    while changed:
        for path in readers.get(changed.pop(), ()):
            found = signs.get(path, NONE) | _moved(model, path, signs, values)
            if found != signs.get(path, NONE):
                signs[path] = found
                changed.append(path)
    return signs


def _readers(model: Model) -> dict[str, tuple[str, ...]]:
    """Name -> the outputs and states that are computed from it."""
    found: dict[str, dict[str, None]] = {}
    trees = [(path, tree) for path, tree in model.outputs.items()]
    trees += [(p, t) for p, state in model.states.items() for t in (state.next, state.flow) if t is not None]
    for path, tree in trees:
        for name in names(tree):
            found.setdefault(name, {})[path] = None
    return {name: tuple(paths) for name, paths in found.items()}


def _moved(model: Model, path: str, signs: Mapping[str, int], values: Values) -> int:
    """Directions of one output or state; how a state moves by itself does not reorder two runs."""
    if path in model.outputs:
        return sign(model.outputs[path], signs, values)
    state = model.states[path]
    following = sign(state.next, signs, values) if state.next is not None else NONE
    others = {name: found for name, found in signs.items() if name != path}
    return following | (sign(state.flow, others, values) if state.flow is not None else NONE)


def sign(tree: Tree, signs: Mapping[str, int], values: Values) -> int:
    """Directions of the tree, given those of the names; true counts as larger than false."""
    match tree:
        case Name(path=path):
            return signs.get(path, NONE)
        case Arithmetic(op="*", left=left, right=right):
            one, other = sign(left, signs, values), sign(right, signs, values)
            return _scaled(one, right, values) | _scaled(other, left, values)
        case Arithmetic(op="/", left=left, right=right):
            return _quotient(left, right, signs, values)
        case Arithmetic(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return _difference(op, sign(left, signs, values), sign(right, signs, values))
        case Call(function=function, arguments=arguments) if function in RISING:
            inner = arguments[:1] if function in PAST else arguments
            return _union(inner, signs, values)
        case Logic(op="not", terms=terms):
            return flipped(sign(terms[0], signs, values))
        case Logic(terms=terms):
            return _union(terms, signs, values)
        case Held(condition=condition):
            return sign(condition, signs, values)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return BOTH if sign(condition, signs, values) else _union((then, otherwise), signs, values)
        case Call(arguments=arguments):
            return BOTH if _union(arguments, signs, values) else NONE
    return BOTH if any(sign(part, signs, values) for part in children(tree)) else NONE


def flipped(found: int) -> int:
    """The opposite directions."""
    return (UP if found & DOWN else NONE) | (DOWN if found & UP else NONE)


def _union(parts: tuple[Tree, ...], signs: Mapping[str, int], values: Values) -> int:
    found = NONE
    for part in parts:
        found |= sign(part, signs, values)
    return found


def _difference(op: str, left: int, right: int) -> int:
    if op == "+":
        return left | right
    if op in ("<", "<="):
        return flipped(left) | right
    if op in ("-", ">", ">="):
        return left | flipped(right)
    return BOTH if left | right else NONE


def _scaled(found: int, factor: Tree, values: Values) -> int:
    """The directions times a factor of known or unknown sign."""
    if not found:
        return NONE
    span = enclosure(factor, values)
    if span.low is not None and span.low >= 0:
        return found
    return flipped(found) if span.high is not None and span.high <= 0 else BOTH


def _quotient(left: Tree, right: Tree, signs: Mapping[str, int], values: Values) -> int:
    one, other = sign(left, signs, values), sign(right, signs, values)
    if not one | other:
        return NONE
    span = enclosure(right, values)
    if (span.low is None or span.low < 0) and (span.high is None or span.high > 0):
        return BOTH
    return _scaled(one, right, values) | flipped(_scaled(other, left, values))
