"""Judges the loops of a design at a million points from a few readings of its text: the linear verdict of each.

The numbers of a lap (its matrices, and how far commands are from their bounds) are rational functions of the numbers
that are swept.  They are found exactly from readings at points drawn from the map, must be what other readings say, at
the corners of the map and at points drawn beside them, and are then evaluated at all points together.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from coherence.base import units
from coherence.base.errors import UsageError
from coherence.base.jobs import HERE, WorkerPool, finished
from coherence.base.kept_results import KeptResults, digest_of
from coherence.exploring.lap_readings import INSTEAD, LapReading, read_at
from coherence.exploring.rational_surfaces import RationalSurface, needed, surface
from coherence.exploring.sweeps import Rebuild
from coherence.exploring.swept_numbers import Axis

Array = Any
DEGREES = {1: (1, 2, 4), 2: (1, 2, 3)}  # of the functions tried, by the number of keys
DRAWN = 12  # readings that check, beside the corners
BAND = 1e-6  # distance of a modulus from 1 within which rounding may decide
CHUNK = 20_000  # points that are evaluated together
MARKS = {"stable": "o", "unstable": "x", "undecided": "?", "outside": "-"}
LINEAR = "stable says that small deviations from the operating point die out; no run is made, no question asked"
SIDES = "which sides of minima, maxima and choices hold is that of the points that were read"
ORDER = "".join(MARKS.values())


@dataclass(frozen=True)
class LinearSweep:
    """A map: the functions of its numbers, how many readings gave and checked them, and what was `dropped`."""

    axes: tuple[Axis, ...]
    surfaces: tuple[RationalSurface, ...]
    sizes: tuple[int, ...]
    dropped: tuple[str, ...]
    readings: int
    checks: tuple[tuple[tuple[int, ...], str], ...]  # points that were read again, and the mark of each

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns what the verdicts leave out."""
        left = f"the linear verdict leaves out {', '.join(self.dropped)}"
        return (LINEAR, SIDES, *([left] if self.dropped else []))

    @property
    def count(self) -> int:
        """Returns how many points the map has."""
        return math.prod(len(axis.values) for axis in self.axes)

    @cached_property
    def shares(self) -> list[Array]:
        """Returns where each value of each axis lies, 0 to 1."""
        import numpy as np

        return [np.array([float(_share(axis, k)) for k in range(len(axis.values))]) for axis in self.axes]

    def marks(self, begin: int, end: int) -> str:
        """Returns a mark for each of these points, the first key fastest."""
        import numpy as np

        which, columns = np.arange(begin, end), []
        for shares in self.shares:
            columns.append(shares[which % len(shares)])
            which = which // len(shares)
        places, known = np.stack(columns, axis=1), dict[RationalSurface, Array]()
        for each in self.surfaces:
            if each not in known:
                known[each] = each.on(places)
        return "".join(_marks(np.stack([known[each] for each in self.surfaces], axis=1), self.sizes))


def linear_sweep(
    axes: Sequence[Axis], sources: Mapping[str, str], rebuild: Rebuild, *, seconds: float,
    bar: Callable[[float], None] | None = None,
) -> LinearSweep:  # fmt: skip
    """Returns the functions of the numbers of a design's laps.  Raises UsageError where they are none of low degree."""
    drawn = _drawn(axes)
    readings, places = list[LapReading](), list[tuple[Fraction, ...]]()

    def read(point: tuple[int, ...]) -> None:
        reading = read_at(axes, point, sources, rebuild, seconds)
        if readings and reading.shape != readings[0].shape:
            keys = " or ".join(axis.key for axis in axes)
            raise UsageError(f"{keys} changes which events a lap has, or what they remember; {INSTEAD}")
        readings.append(reading)
        places.append(_place(axes, point))

    for degree in DEGREES[len(axes)]:
        for point in itertools.islice(drawn, needed(len(axes), degree) - len(readings)):
            read(point)
            if bar:
                bar(len(readings) / (needed(len(axes), DEGREES[len(axes)][-1]) + DRAWN))
        surfaces = _surfaces(places, readings, degree)
        if surfaces is not None:
            break
    else:
        raise UsageError(f"the numbers of a lap are no rational functions of degree {degree} of the keys; {INSTEAD}")
    count, first = len(readings), readings[0]
    checks = list(dict.fromkeys((*_corners(axes), *itertools.islice(drawn, DRAWN))))
    for point in checks:
        read(point)
        if [each.at(places[-1]) for each in surfaces] != list(readings[-1].numbers):
            raise UsageError(f"at {_words(axes, point)} the laps are not what {count} other readings say; {INSTEAD}")
    checked = [(point, mark_of(reading)) for point, reading in zip(checks, readings[count:], strict=True)]
    return LinearSweep(tuple(axes), surfaces, first.sizes, first.dropped, count, tuple(checked))


def judged(
    sweep: LinearSweep, file: Path | None, sources: Mapping[str, str], bar: Callable[[float], None] | None = None,
    *, workers: WorkerPool = HERE,
) -> list[str]:  # fmt: skip
    """Returns a row of marks for each value of the second key; those that a file holds are not computed again.

    Raises UsageError where a point that was read from its text has another mark.
    """
    keys = [[axis.key, *(axis.edit(value).new for value in axis.values)] for axis in sweep.axes]
    head = {"coherence_linear_sweep": 1, "design_sha256": digest_of(sources), "keys_sha256": digest_of({"": str(keys)})}
    store = KeptResults(file, head, "sweep")
    chunks = [(begin, min(sweep.count, begin + CHUNK)) for begin in range(0, sweep.count, CHUNK)]
    parts = {row.get("begin"): row.get("marks") for row in store.rows}
    marks = {chunk: row for chunk in chunks if (row := _stored(parts.get(chunk[0]), *chunk))}
    missing = [chunk for chunk in chunks if chunk not in marks]
    assert len(sweep.shares) == len(sweep.axes)  # computed once: they travel with the map
    for number, row in finished(partial(_marks_of, sweep), missing, workers):
        marks[missing[number]] = row
        store.add({"begin": missing[number][0], "marks": row})
        if bar:
            bar(len(marks) / len(chunks))
    whole = "".join(marks[chunk] for chunk in chunks)
    _check(sweep, whole)
    wide = len(sweep.axes[0].values)
    return [whole[k : k + wide] for k in range(0, len(whole), wide)]


def _marks_of(sweep: LinearSweep, chunk: tuple[int, int]) -> str:
    return sweep.marks(*chunk)


def _stored(marks: object, begin: int, end: int) -> str:
    """Returns what was kept where it is the marks of these points; else nothing."""
    fits = isinstance(marks, str) and len(marks) == end - begin and set(marks) <= set(ORDER)
    return str(marks) if fits else ""


def _check(sweep: LinearSweep, whole: str) -> None:
    """Lays what the text says at the points of the checks beside the map.  Raises UsageError."""
    wide = len(sweep.axes[0].values)
    for point, mark in sweep.checks:
        at = point[0] + wide * (point[1] if len(point) > 1 else 0)
        if whole[at] != mark:
            raise UsageError(f"at {_words(sweep.axes, point)} the map says {whole[at]} and the text {mark}; {INSTEAD}")


def mark_of(reading: LapReading) -> str:
    """Returns the mark of one reading."""
    import numpy as np

    return next(_marks(np.array([[float(number) for number in reading.numbers]]), reading.sizes))


def _surfaces(
    places: Sequence[tuple[Fraction, ...]], readings: Sequence[LapReading], degree: int
) -> tuple[RationalSurface, ...] | None:
    columns = list(zip(*(reading.numbers for reading in readings), strict=True))
    known: dict[tuple[Fraction, ...], RationalSurface | None] = {}
    for column in columns:
        if column not in known:
            low = surface(places, column, 0) if len(set(column)) == 1 else None
            known[column] = low or surface(places, column, degree)
            if known[column] is None:
                return None
    return tuple(each for column in columns if (each := known[column]) is not None)


def _drawn(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """Yields points of the map at random, each once, the same in every run."""
    rng, seen = random.Random(0), set(_corners(axes))  # noqa: S311
    most = math.prod(len(axis.values) for axis in axes)
    while len(seen) < most:
        point = tuple(rng.randrange(len(axis.values)) for axis in axes)
        if point not in seen:
            seen.add(point)
            yield point


def _corners(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    yield from itertools.product(*((0, len(axis.values) - 1) for axis in axes))


def _place(axes: Sequence[Axis], point: Sequence[int]) -> tuple[Fraction, ...]:
    """Returns where on the map a point lies: 0 to 1 along each axis.  Written values count, as the text has them."""
    return tuple(_share(axis, k) for axis, k in zip(axes, point, strict=True))


def _share(axis: Axis, k: int) -> Fraction:
    written = units.quantity(axis.edit(axis.values[k]).new)[0]
    low, high = min(axis.values), max(axis.values)
    return (written - low) / (high - low)


def _words(axes: Sequence[Axis], point: Sequence[int]) -> str:
    values = (axis.edit(axis.values[k]).new for axis, k in zip(axes, point, strict=True))
    return " and ".join(f"{axis.key} = {value}" for axis, value in zip(axes, values, strict=True))


def _marks(numbers: Array, sizes: Sequence[int]) -> Iterator[str]:
    """Yields the mark of each row of numbers: the worst matrix decides, and a command beyond a bound is no rest."""
    import numpy as np

    largest, begin = np.zeros(len(numbers)), 0
    bad = ~np.isfinite(numbers).all(axis=1)
    for size in sizes:
        if size:  # of what remembers nothing there is no root
            matrices = np.where(bad[:, None], 0.0, numbers[:, begin : begin + size * size]).reshape(-1, size, size)
            largest = np.maximum(largest, np.abs(np.linalg.eigvals(matrices)).max(axis=1))
        begin += size * size
    near = bad | (np.abs(largest - 1) <= BAND)
    outside = ~bad & (numbers[:, begin:] < 0).any(axis=1)
    codes = np.where(outside, 3, np.where(near, 2, np.where(largest < 1, 0, 1)))
    yield from (ORDER[code] for code in codes.tolist())
