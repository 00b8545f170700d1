"""Finds invariants of one box per mode by exact interval iteration, where rounding would cross an edge.

From the starts on, each edge carries the box of its mode, cut down by the guard, into the box of its target.  An end
that keeps growing is moved to the next number that a guard, a start or a bad set names, excluded at first: so x < 80
is found where x approaches 80.  All ends are exact rationals, and whatever is found is only a candidate: z3 decides.

SOURCE: P. Cousot, N. Halbwachs, POPL 1978 (widening); B. Blanchet et al., PLDI 2003 (widening with thresholds).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from coherence.base.clock import is_over
from coherence.verify.invariants.smtlib import Invariant
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, Polyhedron, TransitionSystem
from coherence.verify.systems.terms import StrictInterval

Box: TypeAlias = tuple[StrictInterval, ...]
FREE = StrictInterval()
PATIENCE, MOST_VISITS, PASSES, MOST_BITS = 8, 60, 2, 2000
MOST_ENDS = 75_000  # of intervals that are moved through rows of edges: about a second


def box_invariant(system: TransitionSystem, deadline: float) -> Invariant | None:
    """Returns boxes that the edges keep and that miss every bad set; None where there are none.

    None too where they take more than MOST_ENDS, or the time is over.
    """
    boxes: dict[str, Box] = {}
    states = len(system.variables)
    for mode, rows in system.initial:
        begun = _cut((FREE,) * states, rows)
        if begun is not None:
            boxes[mode] = _hull(boxes.get(mode), begun)
    start = dict(boxes)
    if not _grown(system, boxes, deadline):
        return None
    for _ in range(PASSES):
        boxes = _lowered(system, boxes, start)
    if any(mode in boxes and _cut(boxes[mode], rows) is not None for mode, rows in system.bad):
        return None
    return {mode: (tuple(_rows(boxes[mode])),) if mode in boxes else () for mode in system.modes}


def _grown(system: TransitionSystem, boxes: dict[str, Box], deadline: float) -> bool:
    """Grows the boxes until every edge stays within them."""
    steps = _thresholds(system)
    out: dict[str, list[AffineEdge]] = {}
    for edge in system.edges:
        out.setdefault(edge.source, []).append(edge)
    visits: dict[str, int] = {}
    width, ends = len(system.variables) + len(system.choices), 0
    todo = list(boxes)
    while todo:
        mode = todo.pop(0)
        visits[mode] = visits.get(mode, 0) + 1
        if visits[mode] > MOST_VISITS or is_over(deadline):
            return False
        for edge in out.get(mode, ()):
            ends += width * (2 * len(edge.guard) + 1)
            if ends > MOST_ENDS:
                return False
            image = _image(edge, boxes[mode], len(system.choices))
            if image is None:
                continue
            old = boxes.get(edge.target)
            new = _hull(old, image)
            if new == old:
                continue
            if old is not None and visits.get(edge.target, 0) >= PATIENCE:
                new = tuple(_widened(a, b, at) for a, b, at in zip(old, new, steps, strict=True))
            if any(_long(span) for span in new):
                return False
            boxes[edge.target] = new
            if edge.target not in todo:
                todo.append(edge.target)
    return True


def _lowered(system: TransitionSystem, boxes: dict[str, Box], start: dict[str, Box]) -> dict[str, Box]:
    """Returns what one step from within the boxes reaches: kept by the edges as well."""
    images = dict(start)
    for edge in system.edges:
        if edge.source in boxes:
            image = _image(edge, boxes[edge.source], len(system.choices))
            if image is not None:
                images[edge.target] = _hull(images.get(edge.target), image)
    return images


def _image(edge: AffineEdge, box: Box, choices: int) -> Box | None:
    """Returns the box of what the edge makes of a box; None where it cannot be taken."""
    inside = _cut((*box, *((FREE,) * choices)), edge.guard)
    return None if inside is None else tuple(_value(row, inside) for row in edge.update)


def _value(row: LinearForm, box: Box) -> StrictInterval:
    """Returns the values of a sum over a box."""
    low, low_strict, high, high_strict = row.constant, False, row.constant, False
    ends: list[Fraction | None] = [low, high]
    for c, span in zip(row.coefficients, box, strict=True):
        if not c:
            continue
        a, b = (span.low, span.high) if c > 0 else (span.high, span.low)
        first, last = (span.low_strict, span.high_strict) if c > 0 else (span.high_strict, span.low_strict)
        ends = [None if e is None or x is None else e + c * x for e, x in zip(ends, (a, b), strict=True)]
        low_strict, high_strict = low_strict or first, high_strict or last
    return StrictInterval(ends[0], low_strict and ends[0] is not None, ends[1], high_strict and ends[1] is not None)


def _cut(box: Box, rows: Polyhedron) -> Box | None:
    """Returns a box around the part of a box where the rows hold; None where there is no such part."""
    spans = list(box)
    for _ in range(2):
        for row in rows:
            for index, c in enumerate(row.linear.coefficients):
                if c:
                    spans[index] = spans[index].meet(_allowed(row, index, c, spans))
                    if spans[index].empty:
                        return None
            if not any(row.linear.coefficients) and not row.holds([Fraction(0)] * len(box)):
                return None
    return tuple(spans)


def _allowed(row: Constraint, index: int, c: Fraction, box: Sequence[StrictInterval]) -> StrictInterval:
    """Returns what a row leaves for one variable, the others being anywhere in the box."""
    rest = LinearForm(tuple(d if k != index else Fraction(0) for k, d in enumerate(row.linear.coefficients)),
                  row.linear.constant)  # fmt: skip
    other = _value(rest, tuple(box))
    most = None if other.low is None else -other.low / c
    strict = row.relation == "<" or other.low_strict
    upper = StrictInterval(None, False, most, strict) if c > 0 else StrictInterval(most, strict, None, False)
    if row.relation != "==":
        return upper if most is not None else FREE
    least = None if other.high is None else -other.high / c
    lower = (
        StrictInterval(least, other.high_strict, None, False)
        if c > 0
        else StrictInterval(None, False, least, other.high_strict)
    )
    return (upper if most is not None else FREE).meet(lower if least is not None else FREE)


def _hull(first: Box | None, second: Box) -> Box:
    return second if first is None else tuple(_joined(a, b) for a, b in zip(first, second, strict=True))


def _joined(a: StrictInterval, b: StrictInterval) -> StrictInterval:
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    low_strict = low is not None and all(s.low_strict for s in (a, b) if s.low == low)
    high_strict = high is not None and all(s.high_strict for s in (a, b) if s.high == high)
    return StrictInterval(low, low_strict, high, high_strict)


def _widened(old: StrictInterval, new: StrictInterval, at: Sequence[Fraction]) -> StrictInterval:
    """Returns ends that have grown, moved to the next threshold: without it first, then with it."""
    low, low_strict, high, high_strict = new.low, new.low_strict, new.high, new.high_strict
    if high is not None and (high, not high_strict) != (old.high, not old.high_strict):
        high = next((t for t in at if t > new.high or (t == new.high)), None)  # type: ignore[operator]
        high_strict = high is not None and (high > new.high or new.high_strict)  # type: ignore[operator]
    if low is not None and (low, low_strict) != (old.low, old.low_strict):
        low = next((t for t in reversed(at) if t <= new.low), None)  # type: ignore[operator]
        low_strict = low is not None and (low < new.low or new.low_strict)  # type: ignore[operator]
    return StrictInterval(low, low_strict, high, high_strict)


def _thresholds(system: TransitionSystem) -> list[list[Fraction]]:
    """Returns, per variable, the numbers that rows about it alone name, and where it would rest under an edge."""
    edges: list[set[Fraction]] = [set() for _ in system.variables]
    polyhedra: Iterable[Polyhedron] = (
        *(rows for _, rows in system.initial + system.bad), *(edge.guard for edge in system.edges),
    )  # fmt: skip
    for row in (r.linear for p in polyhedra for r in p):
        used = [k for k, c in enumerate(row.coefficients) if c]
        if len(used) == 1 and used[0] < len(edges):
            edges[used[0]].add(-row.constant / row.coefficients[used[0]])
    updates = {id(edge.update): edge.update for edge in system.edges}.values()  # to hash them all takes longer
    for k, row in {(k, id(row)): (k, row) for update in updates for k, row in enumerate(update)}.values():
        own = row.coefficients[k]
        if own and own != 1 and sum(map(bool, row.coefficients)) == 1:
            edges[k].add(row.constant / (1 - own))
    return [sorted(numbers) for numbers in edges]


def _long(span: StrictInterval) -> bool:
    return any(end is not None and end.denominator.bit_length() > MOST_BITS for end in (span.low, span.high))


def _rows(box: Box) -> Iterable[Constraint]:
    for index, span in enumerate(box):
        axis = tuple(Fraction(int(k == index)) for k in range(len(box)))
        if span.low is not None and span.low == span.high:
            yield Constraint(LinearForm(axis, -span.low), "==")
            continue
        if span.high is not None:
            yield Constraint(LinearForm(axis, -span.high), "<" if span.high_strict else "<=")
        if span.low is not None:
            yield Constraint(LinearForm(tuple(-c for c in axis), span.low), "<" if span.low_strict else "<=")
