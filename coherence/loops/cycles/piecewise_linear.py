"""Piecewise-linear functions of one number and their algebra: min, max, abs, floor, ceil and choices."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable

from coherence.loops.cycles.relay import Element, Pieces, Staircase

STEPS = 60  # whole numbers either way that floor and ceil are followed
Line = tuple[float, float]  # slope, intercept


def line(slope: float, intercept: float = 0.0) -> Pieces:
    """Returns slope * y + intercept everywhere."""
    return Pieces((), (float(slope),), (float(intercept),))


def _merged(*functions: Pieces) -> tuple[list[float], list[tuple[Line, ...]]]:
    """Returns common knots, and the lines of each function between them."""
    knots = sorted({knot for f in functions for knot in f.knots})
    rows = []
    for k in range(len(knots) + 1):
        inside = _inside(knots, k)
        rows.append(tuple(_line_at(f, inside) for f in functions))
    return knots, rows


def _inside(knots: list[float], k: int) -> float:
    """Returns a place between knot k - 1 and knot k."""
    if not knots:
        return 0.0
    if k == 0:
        return knots[0] - 1
    return knots[-1] + 1 if k == len(knots) else (knots[k - 1] + knots[k]) / 2


def _line_at(f: Pieces, y: float) -> Line:
    k = bisect.bisect_left(f.knots, y)
    return f.slopes[k], f.intercepts[k]


def _pieces_of(knots: list[float], lines: list[Line], *, endless: bool) -> Pieces:
    """Returns the function of some knots and lines, without knots at which nothing changes."""
    corners, rows = [], [lines[0]]
    for knot, row in zip(knots, lines[1:], strict=True):
        if row != rows[-1]:
            corners.append(knot)
            rows.append(row)
    return Pieces(tuple(corners), tuple(s for s, _ in rows), tuple(i for _, i in rows), endless)


def combined(one: Pieces, other: Pieces, by: Callable[[Line, Line], Line]) -> Pieces:
    """Combines two functions line by line."""
    knots, rows = _merged(one, other)
    return _pieces_of(knots, [by(a, b) for a, b in rows], endless=one.endless or other.endless)


def total(one: Pieces, other: Pieces) -> Pieces:
    """Returns f + g."""
    return combined(one, other, lambda a, b: (a[0] + b[0], a[1] + b[1]))


def scaled(pieces: Pieces, factor: float) -> Pieces:
    """Returns factor * f."""
    return _pieces_of(
        list(pieces.knots),
        [(s * factor, i * factor) for s, i in zip(pieces.slopes, pieces.intercepts, strict=True)],
        endless=pieces.endless,
    )


def positive(pieces: Pieces, *, strict: bool) -> Pieces:
    """Returns 1 where f > 0 (`strict`) or f >= 0, else 0.  Ties between knots count as written."""
    knots = _with_zeros(pieces)
    lines = []
    for k in range(len(knots) + 1):
        inside = _inside(knots, k)
        slope, intercept = _line_at(pieces, inside)
        level = slope * inside + intercept
        lines.append((0.0, 1.0 if level > 0 or (level == 0 and not strict) else 0.0))
    return _pieces_of(knots, lines, endless=pieces.endless)


def _with_zeros(pieces: Pieces) -> list[float]:
    ends = [-math.inf, *pieces.knots, math.inf]
    zeros = [
        -i / s
        for (low, high), s, i in zip(itertools.pairwise(ends), pieces.slopes, pieces.intercepts, strict=True)
        if s and low < -i / s < high
    ]
    return sorted({*pieces.knots, *zeros})


def chosen(condition: Pieces, then: Pieces, otherwise: Pieces) -> Pieces:
    """Returns `then` where the condition is 1, `otherwise` where it is 0."""
    knots, rows = _merged(condition, then, otherwise)
    lines = [a if c[1] else b for c, a, b in rows]
    return _pieces_of(knots, lines, endless=any(f.endless for f in (condition, then, otherwise)))


def smaller(one: Pieces, other: Pieces) -> Pieces:
    """Returns min(f, g)."""
    return chosen(positive(total(one, scaled(other, -1)), strict=True), other, one)


def larger(one: Pieces, other: Pieces) -> Pieces:
    """Returns max(f, g)."""
    return scaled(smaller(scaled(one, -1), scaled(other, -1)), -1)


def rounded(pieces: Pieces, *, up: bool) -> Pieces:
    """Returns ceil(f) or floor(f), between -STEPS and STEPS where f has no end."""
    ends = [-math.inf, *pieces.knots, math.inf]
    knots: list[float] = []
    lines: list[Line] = []
    endless = pieces.endless
    for (low, high), slope, intercept in zip(itertools.pairwise(ends), pieces.slopes, pieces.intercepts, strict=True):
        cuts = [] if not slope else sorted((n - intercept) / slope for n in range(-STEPS, STEPS + 1))
        inner = [cut for cut in cuts if low < cut < high]
        endless = endless or bool(slope and (math.isinf(low) or math.isinf(high)))
        edges = [low, *inner, high]
        for a, b in itertools.pairwise(edges):
            place = (a + b) / 2 if math.isfinite(a + b) else b - 1e-6 if math.isfinite(b) else a + 1e-6
            place = place if math.isfinite(place) else 0.0
            level = slope * place + intercept
            lines.append((0.0, float(math.ceil(level) if up else math.floor(level))))
        knots += [*inner, high]
    return _pieces_of(knots[:-1], lines, endless=endless)


def shifted(pieces: Pieces, by: float) -> Pieces:
    """Returns y -> f(y + by)."""
    return Pieces(
        tuple(knot - by for knot in pieces.knots),
        pieces.slopes,
        tuple(i + s * by for s, i in zip(pieces.slopes, pieces.intercepts, strict=True)),
        pieces.endless,
    )


def element_of(one: Pieces) -> Element:
    """Returns a staircase where all pieces are flat, so that its delay keeps outputs constant between events."""
    if any(one.slopes) or not one.knots:
        return one
    return Staircase(one.intercepts, one.knots, one.knots, one.endless)
