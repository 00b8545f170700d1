"""Evaluates a tree over intervals of constants: an enclosure, a three-valued truth, and attained values.

`enclosure` is outward (every value lies inside; a name that occurs twice is taken as two), `extremes`
are inward (values at the ends of the ranges, each with its assignment).  Where both agree the range is
exact.  A name without a range is unbounded and `unknown` reports it; nothing is ever guessed.
SOURCE: Moore, Kearfott, Cloud, Introduction to Interval Analysis (2009), chapters 2 and 5.
"""

from __future__ import annotations

import itertools
import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import COMPARE, Constants, NotExactError, evaluate
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    names,
)
from coherence.model.model import EVERYTHING, Interval

Values = Mapping[str, Interval]
End = Fraction | float  # a float is only ever an infinity
INFINITY = math.inf
MOST_CORNERS = 4096
PAST = ("delayed", "mean_over", "max_over", "sampled", "previous")  # values of a constant's past lie in its range
COUNTING = {"in flight": "{0} in flight", "sum of": "sum of {0}", "count by": "count of {0} by {1}"}


def point(value: Fraction | int) -> Interval:
    """Returns the interval of one value."""
    return Interval(Fraction(value), Fraction(value))


def hull(parts: Iterable[Interval]) -> Interval:
    """Returns the smallest interval around all; at least one must be given."""
    ends = [_ends(part) for part in parts]
    return _interval(min(low for low, _ in ends), max(high for _, high in ends))


def encloses(outer: Interval, inner: Interval) -> bool:
    """Decides whether every value of one interval, which is closed at both ends, lies in another one."""
    if inner.low is None or inner.high is None:
        return False
    return outer.clip(inner.low) == inner.low and outer.clip(inner.high) == inner.high


def words(tree: Tree) -> str:
    """Returns a name or counting term as a reader would write it: `requests in flight`, `sum of ...`."""
    if isinstance(tree, Name):
        return tree.path
    if isinstance(tree, Call):
        pattern = COUNTING.get(tree.function, tree.function + "({0})")
        inner = [words(part) if isinstance(part, Name | Call) else "..." for part in tree.arguments]
        return pattern.format(*inner)
    return "..."


def with_ranges(values: Values, ranges: Values) -> Values:
    """Returns the values with some of them replaced or added; those that stay are not read before someone takes one."""
    return ChainMap(dict(ranges), values)  # type: ignore[arg-type]  # written to in its first mapping alone


def unknown(tree: Tree, values: Values) -> tuple[str, ...]:
    """Returns what a value of the tree would need and `values` does not have, in order of first use."""
    return tuple(dict.fromkeys(_unknown(tree, values)))


def _unknown(tree: Tree, values: Values) -> Iterator[str]:
    match tree:
        case Name(path=path):
            yield from () if path in values else (path,)
        case Call(function=function, arguments=arguments) if function in FUNCTIONS or function in PAST:
            for argument in arguments[: 1 if function in PAST else None]:
                yield from _unknown(argument, values)
        case Call():
            yield words(tree)
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            yield from itertools.chain(_unknown(left, values), _unknown(right, values))
        case Logic(terms=terms):
            yield from itertools.chain.from_iterable(_unknown(term, values) for term in terms)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            yield from itertools.chain.from_iterable(_unknown(part, values) for part in (condition, then, otherwise))
        case Held(condition=condition):
            yield from _unknown(condition, values)


def enclosure(tree: Tree, values: Values) -> Interval:
    """Returns an interval that contains every value of the tree; a name without a range may be anything."""
    match tree:
        case Number(value=value):
            return point(value)
        case Name(path=path):
            return values.get(path, EVERYTHING)
        case Arithmetic(op=op, left=left, right=right):
            return _interval(*_ARITHMETIC[op](_ends(enclosure(left, values)), _ends(enclosure(right, values))))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            holds = truth(condition, values)
            branches = [then, otherwise] if holds is None else [then if holds else otherwise]
            return hull(enclosure(branch, values) for branch in branches)
        case Call(function=function, arguments=arguments) if function in FUNCTIONS:
            return _interval(*FUNCTIONS[function]([_ends(enclosure(argument, values)) for argument in arguments]))
        case Call(function=function, arguments=arguments) if function in PAST:
            return enclosure(arguments[0], values)
    return EVERYTHING


def truth(tree: Tree, values: Values) -> bool | None:
    """Decides whether the condition holds for all values (True), for none (False), or neither is known (None)."""
    match tree:
        case Truth(value=value):
            return value
        case Compare(op=op, left=left, right=right):
            return _compare(op, _ends(enclosure(left, values)), _ends(enclosure(right, values)))
        case Held(condition=condition):
            return truth(condition, values)
        case Logic(op="not", terms=(term,)):
            inner = truth(term, values)
            return None if inner is None else not inner
        case Logic(op=op, terms=terms):
            parts = [truth(term, values) for term in terms]
            decisive = op == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
    return None


def _compare(op: str, left: tuple[End, End], right: tuple[End, End]) -> bool | None:
    if op in ("==", "!="):
        if left[0] == left[1] == right[0] == right[1]:
            return op == "=="
        return (op == "!=") if left[1] < right[0] or right[1] < left[0] else None
    always = COMPARE[op](left[1], right[0]) if op in ("<", "<=") else COMPARE[op](left[0], right[1])
    ever = COMPARE[op](left[0], right[1]) if op in ("<", "<=") else COMPARE[op](left[1], right[0])
    return True if always else None if ever else False


@dataclass(frozen=True)
class Corner:
    """A value of a tree that is attained, and by which values of its constants."""

    value: Fraction
    at: Mapping[str, Fraction]


def corners(tree: Tree, values: Values) -> Iterator[Corner]:
    """Yields the exact values at all ends of the ranges.  Nothing where a name is unknown, unbounded or not exact."""
    used = names(tree)
    ends = [_finite(values[name]) if name in values else () for name in used]
    if not all(ends) or math.prod(map(len, ends)) > MOST_CORNERS or unknown(tree, values):
        return
    for chosen in itertools.product(*ends):
        at = dict(zip(used, chosen, strict=True))
        try:
            yield Corner(Fraction(evaluate(tree, Constants(at))), at)
        except NotExactError:
            continue


def extremes(tree: Tree, values: Values) -> tuple[Corner, Corner] | None:
    """Returns the smallest and the largest value at the ends of the ranges; None where there is none."""
    found = list(corners(tree, values))
    return (min(found, key=lambda c: c.value), max(found, key=lambda c: c.value)) if found else None


def _finite(interval: Interval) -> tuple[Fraction, ...]:
    if interval.low is None or interval.high is None:
        return ()
    return (interval.low,) if interval.exact else (interval.low, interval.high)


def _ends(interval: Interval) -> tuple[End, End]:
    return (-INFINITY if interval.low is None else interval.low, INFINITY if interval.high is None else interval.high)


def _interval(low: End, high: End) -> Interval:
    return Interval(None if isinstance(low, float) else low, None if isinstance(high, float) else high)


Ends = tuple[End, End]


def _sum(one: End, other: End) -> End:
    if isinstance(one, float):
        return one
    return other if isinstance(other, float) else one + other


def _product(first: End, other: End) -> End:
    if first == 0 or other == 0:
        return Fraction(0)
    if isinstance(first, float) or isinstance(other, float):
        return INFINITY if (first > 0) == (other > 0) else -INFINITY
    return first * other


def _add(one: Ends, other: Ends) -> Ends:
    return _sum(one[0], other[0]), _sum(one[1], other[1])


def _subtract(one: Ends, other: Ends) -> Ends:
    return _sum(one[0], -other[1]), _sum(one[1], -other[0])


def _multiply(one: Ends, other: Ends) -> Ends:
    found = [_product(a, b) for a in _apart(one) for b in _apart(other)]
    return min(found), max(found)


def _apart(ends: Ends) -> tuple[End, ...]:
    """Returns both ends, or the one number that a point has."""
    return ends[:1] if ends[0] is ends[1] else ends


def _divide(one: Ends, other: Ends) -> Ends:
    if other[0] < 0 < other[1] or other[0] == other[1] == 0:
        return -INFINITY, INFINITY
    low = _inverse(other[1], -1)
    return _multiply(one, (low, low if other[0] is other[1] else _inverse(other[0], 1)))


def _inverse(end: End, sign: int) -> End:
    """Returns 1 / end; at zero the infinity on the side of `sign`."""
    if isinstance(end, float):
        return Fraction(0)
    return 1 / end if end else sign * INFINITY


def _least(parts: list[Ends]) -> Ends:
    return min(low for low, _ in parts), min(high for _, high in parts)


def _most(parts: list[Ends]) -> Ends:
    return max(low for low, _ in parts), max(high for _, high in parts)


def _size(parts: list[Ends]) -> Ends:
    low, high = parts[0]
    return max(low, -high, Fraction(0)), max(-low, high)


def _rounding(direction: Callable[[Fraction], int]) -> Callable[[list[Ends]], Ends]:
    def whole(parts: list[Ends]) -> Ends:
        low, high = (end if isinstance(end, float) else Fraction(direction(end)) for end in parts[0])
        return low, high

    return whole


_ARITHMETIC: dict[str, Callable[[Ends, Ends], Ends]] = {"+": _add, "-": _subtract, "*": _multiply, "/": _divide}
FUNCTIONS: dict[str, Callable[[list[Ends]], Ends]] = {
    "min": _least, "max": _most, "abs": _size, "floor": _rounding(math.floor), "ceil": _rounding(math.ceil),
}  # fmt: skip


def is_sum_of(tree: Tree, moving: frozenset[str]) -> bool:
    """Decides whether a formula adds up these names, each times what stands still."""
    if moving.isdisjoint(names(tree)):
        return True
    match tree:
        case Name():
            return True
        case Arithmetic(op="+", left=left, right=right):
            return is_sum_of(left, moving) and is_sum_of(right, moving)
        case Arithmetic(op="*", left=left, right=right):
            factor, rest = (right, left) if moving.isdisjoint(names(right)) else (left, right)
            return moving.isdisjoint(names(factor)) and is_sum_of(rest, moving)
        case Arithmetic(op="/", left=left, right=right):
            return moving.isdisjoint(names(right)) and is_sum_of(left, moving)
    return False
