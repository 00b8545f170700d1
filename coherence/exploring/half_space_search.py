"""Searches half-spaces of parameters, and intersections, in which nothing is in conflict, and proves them.

Each answer that is followed holds on a polyhedron around its point.  The sides of those polyhedra are the candidates.
A candidate is safe where finitely many safe polyhedra fill it, within the ranges: z3 refutes that a point is left over,
or names one, which is followed next.  Where an answer looks at more than sums, nothing is claimed.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base.solver import Outcome, unsat
from coherence.checking.repair.rechecks import Key
from coherence.exploring.box_answers import RegionAnswer
from coherence.exploring.half_spaces import Cell, Outline, Point, Row, inside, outline_rows, row, uncovered
from coherence.exploring.traced_answers import Followed, NotTracedError, ParametricDesign, followed, plain
from coherence.findings.registry import QuestionModule

SEEDS, MOST_FOLLOWED, MOST_CANDIDATES, CHECKS = 48, 160, 40, 24
FINE = 10**6  # parts into which a range is cut for random points
SOLVER_MS = 5_000
SAFE, UNSAFE, OPEN = "safe", "unsafe", "undecided"


@dataclass(frozen=True)
class HalfSpace:
    """A set in which nothing is in conflict, within the ranges: its rows, and the script that proves it filled.

    `parts`: the polyhedra that fill it, on each of which every question answers in one way.  `tight`: just beyond
    each row something is in conflict.
    """

    rows: Cell
    parts: tuple[Cell, ...]
    certificate: str
    tight: bool


@dataclass(frozen=True)
class HalfSpaceResult:
    """The sets, largest first, and why there are none."""

    sets: tuple[HalfSpace, ...]
    reason: str = ""
    followed: int = 0


@dataclass(frozen=True)
class FollowedPoints:
    """Points that were followed, and what is known around them."""

    source: ParametricDesign
    modules: tuple[QuestionModule, ...]
    outline: Outline
    left_open: frozenset[Key]
    at_risk: frozenset[Key]  # conflicts at some values: elsewhere they must be proved not to be
    points: dict[Point, tuple[str, Cell]] = field(default_factory=dict, compare=False)
    sides: dict[Row, None] = field(default_factory=dict, compare=False)  # that decided an answer
    bar: Callable[[float], None] = field(default=lambda _: None, compare=False)  # hears the share that is followed

    def at(self, point: Point, *, generic: bool = False) -> tuple[str, Cell]:
        """Returns the status at a point, and the polyhedron on which it is the same.  Raises NotTracedError."""
        if point not in self.points:
            if len(self.points) >= MOST_FOLLOWED:
                raise NotTracedError("too many points would have to be followed")
            answered = followed(self.source, self.modules, point, generic=generic)
            status = self.status(answered.answer)
            if status == SAFE and answered.pinned and generic:
                raise NotTracedError(f"an answer looks at more than sums of the values ({_pinned_in(answered)})")
            self.points[point] = (status, (*answered.rows, *answered.pins))
            self.bar(len(self.points) / MOST_FOLLOWED)
            self.sides.update(dict.fromkeys(answered.rows))
        return self.points[point]

    def status(self, answer: RegionAnswer) -> str:
        """Returns safe, unsafe or undecided for one answer."""
        if answer.conflict:
            return UNSAFE
        return OPEN if answer.undecided - self.left_open or answer.unproved(self.at_risk) else SAFE

    def cells(self, status: str) -> list[Cell]:
        """Returns the polyhedra with a status."""
        return list(dict.fromkeys(cell for known, cell in self.points.values() if known == status))

    def of(self, status: str) -> list[Point]:
        """Returns the points with a status."""
        return [point for point, (known, _) in self.points.items() if known == status]


def _pinned_in(answered: Followed) -> str:
    return ", ".join(sorted({where.rsplit(":", 1)[0].removeprefix("coherence.") for where in answered.pinned}))


def half_spaces(
    source: ParametricDesign, modules: Sequence[QuestionModule], left_open: Iterable[Key], at_risk: Iterable[Key] = (),
    *, bar: Callable[[float], None] = lambda _: None,
) -> HalfSpaceResult:  # fmt: skip
    """Returns the half-spaces within the ranges of the axes in which these questions find nothing in conflict."""
    outline = tuple((min(axis.values), max(axis.values)) for axis in source.axes)
    seen = FollowedPoints(source, tuple(modules), outline, frozenset(left_open), frozenset(at_risk), bar=bar)
    if not seen.modules:
        return HalfSpaceResult((), "nothing is in conflict in the ranges, or nothing that these values decide")
    try:
        rng = random.Random(1)  # noqa: S311  (the same points in every run)
        for point in itertools.islice(_random(seen, rng), SEEDS):
            seen.at(point, generic=True)
        sets = tuple(_sets(seen))
    except NotTracedError as error:
        return HalfSpaceResult((), str(error), len(seen.points))
    return HalfSpaceResult(
        sets, "" if sets else "no side of what decides an answer bounds a safe set", len(seen.points)
    )


def _random(seen: FollowedPoints, rng: random.Random) -> Iterator[Point]:
    while True:
        yield tuple(low + (high - low) * Fraction(rng.randrange(1, FINE), FINE) for low, high in seen.outline)


def _sets(seen: FollowedPoints) -> Iterator[HalfSpace]:
    """Yields single half-spaces; where none holds all safe points, the intersection of those that lose none."""
    proved: list[HalfSpace] = []
    whole = _proved(seen, ()) if len(seen.of(SAFE)) == len(seen.points) else None
    if whole is not None:
        yield whole
        return
    for side in _sides(seen):
        if len(proved) >= MOST_CANDIDATES or not _hopeful(seen, (side,)):
            continue
        if any(_within((side,), one.rows, seen.outline) for one in proved):
            continue
        proof = _proved(seen, (side,))
        if proof is not None:
            proved = [one for one in proved if not _within(one.rows, proof.rows, seen.outline)] + [proof]
    safe = seen.of(SAFE)
    if safe and not any(all(inside(one.rows, point) for point in safe) for one in proved):
        around = _proved_around(seen, safe)
        if around is not None:
            proved = [around, *(one for one in proved if not _within(one.rows, around.rows, seen.outline))]
    yield from sorted(proved, key=lambda one: -sum(inside(one.rows, point) for point in safe))


def _sides(seen: FollowedPoints) -> list[Row]:
    """Returns both sides, with and without border, of every hyperplane that decided an answer; the usual ones first."""
    counted: dict[Row, int] = {}
    for deciding in seen.sides:
        form = row(deciding.form, "==").form
        for side in (row(form, "<="), row(form.times(Fraction(-1)), "<=")):
            counted[side] = counted.get(side, 0) + 1
    ordered = sorted(counted, key=lambda side: -counted[side])
    return [variant for side in ordered for variant in (side, side.open())]


def _hopeful(seen: FollowedPoints, cell: Cell) -> bool:
    """Returns whether the known points allow the set: safe ones inside, others only outside."""
    statuses = {known for point, (known, _) in seen.points.items() if inside(cell, point)}
    return statuses == {SAFE} and any(
        known != SAFE and not inside(cell, point) for point, (known, _) in seen.points.items()
    )


def _proved_around(seen: FollowedPoints, safe: Sequence[Point]) -> HalfSpace | None:
    """Returns the intersection of all sides that hold every safe point and leave out another one."""
    others = [point for point in seen.points if point not in set(safe)]
    sides: list[Row] = []
    for side in _sides(seen):
        if all(side.holds(p) for p in safe) and not all(side.holds(p) for p in others) and side.opposite() not in sides:
            if any(known.form == side.form for known in sides):
                continue
            sides.append(side)
    cell = tuple(sides)
    if not cell or not _hopeful(seen, cell):
        return None
    for last in cell:  # what the others say already is left out
        rest = tuple(other for other in sides if other != last)
        if rest and _within(rest, (last,), seen.outline):
            sides.remove(last)
    return _proved(seen, tuple(sides)) or _proved(seen, tuple(side.open() for side in sides))


def _within(cell: Cell, other: Cell, outline: Outline) -> bool:
    """Returns whether every point of the first set, within the ranges, lies in the second."""
    return unsat(uncovered(cell, outline, [other]), timeout_ms=SOLVER_MS).unsat


def _proved(seen: FollowedPoints, cell: Cell) -> HalfSpace | None:
    """Returns the set with its proof, if safe polyhedra fill it."""
    while True:
        cover = seen.cells(SAFE)
        script = uncovered(cell, seen.outline, cover)
        answer = unsat(script, timeout_ms=SOLVER_MS)
        if answer.unsat:
            return _checked(seen, cell, cover, script)
        point = _left_over(seen, cell, cover, answer.model) if answer.outcome is Outcome.SAT else None
        if point is None or seen.at(point)[0] != SAFE:
            return None
        if not inside(seen.at(point)[1], point):
            raise NotTracedError("a followed point does not lie in its own polyhedron")


def _left_over(seen: FollowedPoints, cell: Cell, cover: Sequence[Cell], model: str) -> Point | None:
    """Returns a point that no part of the cover holds, one that can be written: near the solver's, or that itself."""
    exact = _read(model, len(seen.outline))
    rng = random.Random(len(cover))  # noqa: S311
    for near in (Fraction(1, 50), Fraction(1, 1000), Fraction(0)):
        for _ in range(20 if near else 1):
            moved = tuple(
                _decimal(min(high, max(low, x + (high - low) * near * rng.randint(-FINE, FINE) / FINE)), near)
                for x, (low, high) in zip(exact, seen.outline, strict=True)
            )
            fits = all(low <= x <= high for x, (low, high) in zip(moved, seen.outline, strict=True))
            if fits and inside(cell, moved) and not any(inside(c, moved) for c in cover):
                return moved
    return None


def _decimal(number: Fraction, near: Fraction) -> Fraction:
    return Fraction(round(number * 10**9), 10**9) if near else number


def _read(model: str, width: int) -> Point:
    """Returns the values of x0, x1, ... in z3's answer; what it leaves out is anything."""
    values = dict(line.split(" = ", 1) for line in model.splitlines())
    return tuple(Fraction(values.get(f"x{index}", "0").replace("?", "")) for index in range(width))


def _checked(seen: FollowedPoints, cell: Cell, cover: Sequence[Cell], script: str) -> HalfSpace | None:
    """Returns the set, after points drawn from it were asked in the usual way: one that is not safe refutes it."""
    rng = random.Random(2)  # noqa: S311
    drawn = itertools.islice((p for p in itertools.islice(_random(seen, rng), 4000) if inside(cell, p)), CHECKS)
    corners = (p for p in corners_of(cell, seen.outline) if inside(cell, p))
    for point in (*drawn, *corners):
        if seen.status(plain(seen.source, seen.modules, point)) != SAFE:
            raise NotTracedError("a point of a set that seemed safe is not")
    parts = tuple(part for part in cover if _needed(cell, part, seen.outline))
    return HalfSpace(cell, parts, script, _tight(seen, cell))


def _needed(cell: Cell, part: Cell, outline: Outline) -> bool:
    return not unsat(uncovered((*cell, *part), outline, ()), timeout_ms=SOLVER_MS).unsat


def corners_of(cell: Cell, outline: Outline) -> Iterator[Point]:
    """Yields the corners of the closed set within the ranges."""
    width = len(outline)
    rows = (*outline_rows(outline), *(row.closed() for row in cell))
    for chosen in itertools.combinations(rows, width):
        point = _meeting(chosen, width)
        if point is not None and inside(rows, point):
            yield point


def _meeting(rows: Sequence[Row], width: int) -> Point | None:
    """Returns the one point where all rows are equations; None where there is none, or a line of them."""
    matrix = [[*row.form.coefficients, -row.form.constant] for row in rows]
    for column in range(width):
        lead = next((k for k in range(column, width) if matrix[k][column]), None)
        if lead is None:
            return None
        matrix[column], matrix[lead] = matrix[lead], matrix[column]
        matrix[column] = [x / matrix[column][column] for x in matrix[column]]
        for k in range(width):
            if k != column and matrix[k][column]:
                factor = matrix[k][column]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[column], strict=True)]
    return tuple(line[width] for line in matrix)


def _tight(seen: FollowedPoints, cell: Cell) -> bool:
    """Returns whether something is in conflict just beyond the middle of each side."""
    corners = list(dict.fromkeys(corners_of(cell, seen.outline)))
    for side in cell:
        on = [p for p in corners if side.form.at(p) == 0]
        within = [p for p in corners if side.form.at(p) != 0]
        if not on or not within:
            return False
        middle, inner = _mean(on), _mean(within)
        beyond = tuple(_decimal(m + (m - i) / 10**5, Fraction(1)) for m, i in zip(middle, inner, strict=True))
        held = tuple(min(high, max(low, x)) for x, (low, high) in zip(beyond, seen.outline, strict=True))
        if side.holds(held):
            return False
        if seen.status(plain(seen.source, seen.modules, held)) != UNSAFE:
            return False
    return True


def _mean(points: Sequence[Point]) -> Point:
    return tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))
