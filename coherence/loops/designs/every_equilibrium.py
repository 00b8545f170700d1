"""Searches all equilibria of a model: from many starts, and in every piece of its kinks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.kinks import pieces
from coherence.model.model import Interval, Model

MOST_STARTS = 24
AROUND = tuple(map(Fraction, (0, 1, -1, 10, 100)))  # further starts
SAME = Fraction(1, 10**6)  # relative distance below which two equilibria are one
Point = Mapping[str, Fraction]


def equilibria(model: Model) -> list[dict[str, Fraction]]:
    """Returns the equilibria of a model: Newton from each start, in the model and in each piece of its kinks.

    What is found in a piece counts where it is at rest in the model too.  Of straight laws these are all equilibria,
    as far as the pieces go; of curved ones those that Newton reaches.
    """
    points: list[dict[str, Fraction]] = []
    for piece in (model, *pieces(model)):
        for start in _starts(model):
            point = _solved(piece, start)
            if point is not None and piece is not model:
                point = _solved(model, point, moved=False)
            if point is not None and not any(_same(point, other) for other in points):
                points.append(point)
    return points


def _solved(model: Model, start: Point, *, moved: bool = True) -> dict[str, Fraction] | None:
    try:
        point = operating_point(model, start)
    except (ZeroDivisionError, OverflowError):
        return None
    except NotExactError:
        if moved:
            return None
        raise
    return point if point is None or moved or _same(point, start) else None


def _same(point: Point, other: Point) -> bool:
    return all(abs(point[path] - other[path]) <= SAME * (1 + abs(other[path])) for path in point)


def _starts(model: Model) -> list[dict[str, Fraction]]:
    """Returns the ends of where each state begins and of its range, and values on both sides of 0."""
    axes = {path: _ends(state.initial, state.range) for path, state in model.states.items()}
    axes |= {path: _ends(command.initial, command.range) for path, command in model.commands.items()}
    nominal = {path: ends[0] for path, ends in axes.items()}
    grid = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    return list(itertools.islice(itertools.chain([nominal], grid), MOST_STARTS))


def _ends(initial: Interval, within: Interval) -> list[Fraction]:
    ends = (initial.low, initial.high, within.low, within.high, *AROUND)
    return list(dict.fromkeys(end for end in ends if end is not None))
