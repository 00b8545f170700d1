"""Finds where states go while all commands stand still: to an end of their range, or to a level that they come near.

Derivation: a flow that is at least d > 0 at all values of what it reads takes its state above each level, to the upper
end of its range and no further, in finite time; where it has no end, above any number.  A flow a - b x with b > 0 and
numbers a and b comes within any distance of a / b, or stays at the end of its range that lies before.  What one state
comes to is then read by the flows of the others.  Limit case: a flow of 0 keeps its state anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.model.model import Interval, Model
from coherence.verify.facts.ranges import enclosure, with_ranges

FAR = Fraction(10**15)  # beyond every threshold that a design states
NEAR = Fraction(1, 10**9)
Ranges = Mapping[str, Interval]


def limits_of(model: Model, flows: Mapping[str, Tree], values: Ranges) -> dict[str, Interval]:
    """Returns where each state is at last whose flow says it, `flows` over names that have `values`."""
    limits: dict[str, Interval] = {}
    for _ in flows:
        known = with_ranges(values, limits)
        fresh = {
            p: limit for p in flows if p not in limits and (limit := _limit(model, p, flows[p], known)) is not None
        }
        if not fresh:
            break
        limits |= fresh
    return limits


def _limit(model: Model, path: str, flow: Tree, values: Ranges) -> Interval | None:
    span, ends = enclosure(flow, values), model.states[path].range
    if span.low is not None and span.low > 0:
        return Interval(FAR, None) if ends.high is None else Interval(ends.high, ends.high)
    if span.high is not None and span.high < 0:
        return Interval(None, -FAR) if ends.low is None else Interval(ends.low, ends.low)
    line = _line(flow, path, values)
    if line is None or line[1] >= 0:
        return None
    level = -line[0] / line[1]
    around = NEAR * (1 + abs(level))
    return Interval(ends.clip(level - around), ends.clip(level + around))


def _line(tree: Tree, path: str, values: Ranges) -> tuple[Fraction, Fraction] | None:
    """Returns a and b where the tree is a + b x of the state x, all else being numbers; None where it is not."""
    match tree:
        case Name(path=name) if name == path:
            return Fraction(0), Fraction(1)
        case Number() | Name():
            span = enclosure(tree, values)
            return (span.low, Fraction(0)) if span.exact and span.low is not None else None
        case Arithmetic(op=op, left=left, right=right):
            first, other = _line(left, path, values), _line(right, path, values)
            return None if first is None or other is None else _combined(op, first, other)
    return None


def _combined(
    op: str, first: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction] | None:
    if op in ("+", "-"):
        sign = 1 if op == "+" else -1
        return first[0] + sign * other[0], first[1] + sign * other[1]
    if op == "*" and not first[1]:
        return first[0] * other[0], first[0] * other[1]
    if op == "*" and not other[1]:
        return first[0] * other[0], first[1] * other[0]
    if op == "/" and not other[1] and other[0]:
        return first[0] / other[0], first[1] / other[0]
    return None
