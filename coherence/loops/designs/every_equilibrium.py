"""Searches all equilibria of a model: from many starts, and in every piece of its kinks.

What does not depend on each other is solved one after another, causes first: a chain of eight tiers has the pieces of
eight tiers, and not their product.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.graphs import components
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.equilibria import AtRest, is_straight, operating_point
from coherence.loops.designs.kinks import MOST_PIECES, piece_count, pieces
from coherence.model.model import Interval, Model
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.slices import influences, signals_in, sliced

MOST_STARTS = 24  # of all points that are known of the causes together
FEWEST_STARTS = 6  # of each of them
MOST_POINTS = 24
AROUND = tuple(map(Fraction, (0, 1, -1, 10, 100)))  # further starts
SAME = Fraction(1, 10**6)  # relative distance below which two equilibria are one
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class Equilibria:
    """Equilibria that were found, and in words what was not looked at: nothing holds of all where there is some."""

    points: tuple[dict[str, Fraction], ...]
    left_out: str = ""


def equilibria(model: Model, check: Callable[[], object] = bool) -> Equilibria:
    """Returns the equilibria of a model: Newton from each start, in the model and in each piece of its kinks.

    What is found in a piece counts where it is at rest in the model too.  Of straight laws these are all equilibria,
    as far as the pieces go; of curved ones those that Newton reaches.  `check` may raise to end it.
    """
    points: list[dict[str, Fraction]] = [{}]
    left_out: dict[str, None] = {}
    for names in _in_order(model):
        if piece_count(model, names) > MOST_PIECES:
            left_out[f"pieces of {' and '.join(names)} beyond the first {MOST_PIECES}"] = None
        count = max(FEWEST_STARTS, MOST_STARTS // max(1, len(points)))
        further = (beside | own for beside in points for own in _known(model, names, beside, count, check))
        points = list(itertools.islice(further, MOST_POINTS + 1))
        if len(points) > MOST_POINTS:
            left_out[f"equilibria beyond the first {MOST_POINTS}"] = None
            points.pop()
    whole = ({name: point[name] for name in (*model.states, *model.commands)} for point in points if point)
    return Equilibria(tuple(whole), " and ".join(left_out))


def _in_order(model: Model) -> Iterator[tuple[str, ...]]:
    """Yields states and commands that depend on each other, after all on which they depend."""
    unknowns = (*model.states, *model.commands)
    writers = {name: [loop.name for loop in model.loops if loop.signal == name] for name in unknowns}
    reads = {name: influences(model, [name, *writers[name]]) for name in unknowns}
    yield from components({name: [other for other in unknowns if other in reads[name]] for name in unknowns})


def _known(
    model: Model, names: tuple[str, ...], beside: Point, count: int, check: Callable[[], object]
) -> list[dict[str, Fraction]]:
    """Returns what `_beside` does, computed once for all groups of a design that have the same causes."""
    part = sliced(model, names)
    fields = (part.states, part.commands, part.constants, part.outputs)
    equations = (part.loops, tuple(loop for loop in model.loops if loop.signal in names))
    query = (_beside, names, frozenset(beside.items()), count, equations, *(tuple(field.items()) for field in fields))
    return model.design.queries.get(query, lambda: _beside(model, names, beside, count, check))


def _beside(
    model: Model, names: tuple[str, ...], beside: Point, count: int, check: Callable[[], object]
) -> list[dict[str, Fraction]]:
    """Returns the equilibria of some unknowns where their causes rest: in the model, and in its pieces."""
    starts, models = _starts(model, names)[:count], (model, *pieces(model, names))
    points: list[dict[str, Fraction]] = []
    beside = _with_outputs(model, names, beside)
    for piece in models:
        for point in _in_piece(piece, names, beside, starts, check, is_piece=piece is not model):
            at_rest = point if piece is model else _solved(model, point, names, beside, moved=False)
            if at_rest is not None and not any(_same(at_rest, other) for other in points):
                points.append(at_rest)
    return points


def _with_outputs(model: Model, names: Sequence[str], beside: Point) -> dict[str, Fraction]:
    """Returns the values of causes with those of the outputs that depend on them alone."""
    view = AtRest(model, beside)
    for path, tree in sliced(model, names).outputs.items():
        if signals_in(model, tree).isdisjoint(names):
            with suppress(ArithmeticError, MissingValueError):
                view.value(path)
    return view.values


def _in_piece(
    piece: Model, names: Sequence[str], beside: Point, starts: Sequence[Point], check: Callable[[], object], *,
    is_piece: bool,
) -> Iterator[dict[str, Fraction]]:  # fmt: skip
    """Yields what Newton reaches from each start; a straight piece has no point beside that of two starts."""
    straight = is_piece and _is_straight(piece, names, beside)
    first: dict[str, Fraction] | None = None
    for start in starts:
        check()
        point = _solved(piece, start, names, beside)
        if point is None:
            continue
        if straight and first is not None and _same(point, first):
            return
        first = point
        yield point


def _is_straight(piece: Model, names: Sequence[str], beside: Point) -> bool:
    """Decides by three points that share no value whether a piece is straight."""
    axes = _axes(piece, names)
    try:
        return is_straight(piece, [{path: axes[path][k] for path in names} for k in range(3)], names, beside)
    except (ArithmeticError, MissingValueError):
        return False


def _solved(
    model: Model, start: Point, names: Sequence[str], beside: Point, *, moved: bool = True
) -> dict[str, Fraction] | None:
    try:
        point = operating_point(model, start, of=names, beside=beside)
    except (ZeroDivisionError, OverflowError):
        return None
    except NotExactError:
        if moved:
            return None
        raise
    return point if point is None or moved or _same(point, start) else None


def _same(point: Point, other: Point) -> bool:
    return all(abs(point[path] - other[path]) <= SAME * (1 + abs(other[path])) for path in point)


def _starts(model: Model, names: Sequence[str]) -> list[dict[str, Fraction]]:
    """Returns the ends of where each state begins and of its range, and values on both sides of 0."""
    axes = _axes(model, names)
    nominal = {path: ends[0] for path, ends in axes.items()}
    grid = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    return list(itertools.islice(itertools.chain([nominal], grid), MOST_STARTS))


def _axes(model: Model, names: Sequence[str]) -> dict[str, list[Fraction]]:
    moving = {path: each for each in (model.states, model.commands) for path in each if path in names}
    return {path: _ends(each[path].initial, each[path].range) for path, each in moving.items()}


def _ends(initial: Interval, within: Interval) -> list[Fraction]:
    ends = (initial.low, initial.high, within.low, within.high, *AROUND)
    return list(dict.fromkeys(end for end in ends if end is not None))
