"""In which direction a signal moves when another one does, for every value in the declared ranges.

Each expression is a sum of ways from the command to the reading; a way has the product of the signs of its
partial derivatives.  Where all ways agree, two runs that begin alike and differ in the command stay ordered
for ever (states, delays, means and samples included): the sign is that of every later effect.
SOURCE: monotone systems: Angeli and Sontag 2003, Monotone Control Systems, IEEE Trans. Automatic Control 48(10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Number, Tree
from coherence.model.model import EVERYTHING, Interval, Model, SampledLoop

NONE, UP, DOWN, BOTH = 0, 1, 2, 3  # sets of directions, joined by `|`
PAST = ("delayed", "mean_over", "max_over", "sampled")  # the second argument is a time
RISING = ("min", "max", "floor", "ceil", "exp", "log", "previous")
_INFINITY = float("inf")
End = Fraction | float


def plant_sign(model: Model, signal: str, tree: Tree) -> int:
    """Directions in which the tree may move when the signal rises, all other loops standing still."""
    ranges = ranges_of(model)
    signs: dict[str, int] = {signal: UP}
    while True:  # least fixed point: signs only grow
        before = dict(signs)
        for path, output in model.outputs.items():
            _join(signs, path, sign(output, signs, ranges))
        for path, state in model.states.items():
            if state.next is not None:
                _join(signs, path, sign(state.next, signs, ranges))
            if state.flow is not None:  # how fast a state moves by itself does not reorder two runs
                _join(signs, path, sign(state.flow, {k: v for k, v in signs.items() if k != path}, ranges))
        if signs == before:
            return sign(tree, signs, ranges)


def _join(signs: dict[str, int], path: str, found: int) -> None:
    if found:
        signs[path] = signs.get(path, NONE) | found


def sign(tree: Tree, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> int:
    """Directions of the tree, given those of the names."""
    match tree:
        case Name(path=path):
            return signs.get(path, NONE)
        case Arithmetic(op="*" | "/" as op, left=left, right=right):
            return _product(op, left, right, signs, ranges)
        case Arithmetic(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return _difference(op, sign(left, signs, ranges), sign(right, signs, ranges))
        case Call(function=function, arguments=arguments) if function in (*PAST, *RISING):
            inner = arguments[:1] if function in PAST else arguments
            return _union(sign(part, signs, ranges) for part in inner)
        case Call(function="abs", arguments=(part,)):
            return _scaled(sign(part, signs, ranges), part, ranges)
        case Call(arguments=parts):
            return BOTH if _union(sign(part, signs, ranges) for part in parts) else NONE
        case Logic(op=op, terms=terms):
            found = _union(sign(term, signs, ranges) for term in terms)
            return flipped(found) if op == "not" else found
        case Held(condition=condition):
            return sign(condition, signs, ranges)
        case Choose():
            return _chosen(tree, signs, ranges)
    return NONE


def flipped(found: int) -> int:
    """The opposite directions."""
    return (UP if found & DOWN else NONE) | (DOWN if found & UP else NONE)


def _union(parts: Iterable[int]) -> int:
    found = NONE
    for part in parts:
        found |= part
    return found


def _difference(op: str, left: int, right: int) -> int:
    """Sums, differences and comparisons (true counts as larger than false)."""
    if op == "+":
        return left | right
    if op in ("<", "<="):
        return flipped(left) | right
    if op in ("-", ">", ">="):
        return left | flipped(right)
    return BOTH if left | right else NONE


def _product(op: str, left: Tree, right: Tree, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> int:
    one, other = sign(left, signs, ranges), sign(right, signs, ranges)
    if op == "*":
        return (_scaled(one, right, ranges) if one else NONE) | (_scaled(other, left, ranges) if other else NONE)
    low, high = span(right, ranges)
    if low < 0 < high and (one or other):
        return BOTH
    return (_scaled(one, right, ranges) if one else NONE) | (flipped(_scaled(other, left, ranges)) if other else NONE)


def _scaled(found: int, factor: Tree, ranges: Mapping[str, Interval]) -> int:
    """The directions times a factor of known or unknown sign."""
    low, high = span(factor, ranges)
    if low >= 0:
        return found
    return flipped(found) if high <= 0 else (BOTH if found else NONE)


def _chosen(tree: Choose, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> int:
    branches = sign(tree.then, signs, ranges) | sign(tree.otherwise, signs, ranges)
    switch = sign(tree.condition, signs, ranges)
    if not switch:
        return branches
    then, otherwise = span(tree.then, ranges), span(tree.otherwise, ranges)
    if then[0] >= otherwise[1]:
        return branches | switch
    return branches | (flipped(switch) if then[1] <= otherwise[0] else BOTH)


def law_sign(loop: SampledLoop, model: Model) -> int:
    """Directions in which the command is moved when the reading rises; NONE where that cannot be told."""
    if loop.law == "proportional":
        low = loop.bounds.low
        return UP if low is not None and low >= 0 else NONE
    read = _single(loop.measured)
    if loop.law not in ("step", "rules") or read is None:
        return NONE
    ranges = ranges_of(model)
    moves = [(loop.trigger or loop.enter, loop.by), *((when, by) for when, by, to in loop.rules if to is None)]
    return _union(_moved(condition, by, {read: UP}, ranges) for condition, by in moves)


def _single(tree: Tree | None) -> str | None:
    """The one name that a reading is, through its sensors."""
    while isinstance(tree, Call) and tree.function in PAST:
        tree = tree.arguments[0]
    return tree.path if isinstance(tree, Name) else None


def _moved(condition: Tree | None, by: Tree | None, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> int:
    return _scaled(sign(condition, signs, ranges), by, ranges) if condition is not None and by is not None else NONE


def ranges_of(model: Model) -> dict[str, Interval]:
    """A range of every name: constants, what loops write, states, and outputs in the order of their dependence."""
    found = {path: constant.range for path, constant in model.constants.items()}
    found |= {path: state.range for path, state in model.states.items()}
    for path, command in model.commands.items():
        writers = [loop.bounds for loop in model.loops if loop.signal == path]
        found[path] = _hull([command.initial, *writers]) if writers else command.initial
    for path, tree in model.outputs.items():
        low, high = span(tree, found)
        found[path] = Interval(_finite(low), _finite(high))
    return found


def _finite(end: End) -> Fraction | None:
    return end if isinstance(end, Fraction) else None


def _hull(parts: list[Interval]) -> Interval:
    lows, highs = [p.low for p in parts], [p.high for p in parts]
    low = None if None in lows else min(x for x in lows if x is not None)
    return Interval(low, None if None in highs else max(x for x in highs if x is not None))


def span(tree: Tree, ranges: Mapping[str, Interval]) -> tuple[End, End]:
    """(low, high) around every value of the tree; infinities where nothing bounds it."""
    match tree:
        case Number(value=value):
            return value, value
        case Name(path=path):
            found = ranges.get(path, EVERYTHING)
            return (-_INFINITY if found.low is None else found.low), (_INFINITY if found.high is None else found.high)
        case Arithmetic(op=op, left=left, right=right):
            return _ARITHMETIC[op](span(left, ranges), span(right, ranges))
        case Call(function="min" | "max" as function, arguments=parts):
            ends = [span(part, ranges) for part in parts]
            pick: Callable[[Iterable[End]], End] = min if function == "min" else max
            return pick(low for low, _ in ends), pick(high for _, high in ends)
        case Call(function=function, arguments=(part, *_)) if function in (*PAST, "previous"):
            return span(part, ranges)
        case Call(function="abs", arguments=(part,)):
            low, high = span(part, ranges)
            return max(Fraction(0), low, -high), max(-low, high)
        case Choose(then=then, otherwise=otherwise):
            one, other = span(then, ranges), span(otherwise, ranges)
            return min(one[0], other[0]), max(one[1], other[1])
    return -_INFINITY, _INFINITY


Ends = tuple[End, End]


def _times(a: Ends, b: Ends) -> Ends:
    products = [Fraction(0) if 0 in (x, y) else x * y for x in a for y in b]
    return min(products), max(products)


def _over(a: Ends, b: Ends) -> Ends:
    """A divisor that may come to zero from one side leaves an infinity there."""
    if b[0] < 0 < b[1] or b == (0, 0):
        return -_INFINITY, _INFINITY
    if b[0] >= 0:
        return _times(a, (_inverse(b[1], _INFINITY), _inverse(b[0], _INFINITY)))
    return _times(a, (_inverse(b[1], -_INFINITY), _inverse(b[0], -_INFINITY)))


def _inverse(x: End, at_zero: float) -> End:
    if x == 0:
        return at_zero
    return 1 / x if isinstance(x, Fraction) else Fraction(0)


_ARITHMETIC: dict[str, Callable[[Ends, Ends], Ends]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _times,
    "/": _over,
}
