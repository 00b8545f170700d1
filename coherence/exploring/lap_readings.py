"""Reads the linear laps of a design's loops in feedback at one point of a map: exact matrices and room at bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.exploring.sweeps import Rebuild
from coherence.exploring.swept_numbers import Axis, edited
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.equilibria import exact_equilibrium
from coherence.loops.designs.feedback_groups import Deadline, is_smooth, region, structure
from coherence.loops.designs.groups import Group
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import LapError, closed
from coherence.loops.designs.operating_points import operating_points, smooth_part
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.instants import Choices
from coherence.simulate.execute.open_ranges import one_ended

NO_LOOP = "the design has no loop in feedback: there is no linear verdict to map"
OPEN = "{} is open, and a linear verdict is of one value: write one, or sweep it as a key; {}"
INSTEAD = "sweep without --linear executes every point"


@dataclass(frozen=True)
class LapReading:
    """What one reading of the text gives: `shape` (what must be alike at every point) and numbers in one order.

    Numbers: the matrices of all laps, row by row; then by how much each command keeps within its bounds, above 0 where
    the design rests.  `sizes`: rows of each matrix; `dropped`: what has no derivative.
    """

    shape: tuple[object, ...]
    numbers: tuple[Fraction, ...]
    sizes: tuple[int, ...]
    dropped: tuple[str, ...]


def read_at(
    axes: Sequence[Axis], point: Sequence[int], sources: Mapping[str, str], rebuild: Rebuild, seconds: float
) -> LapReading:
    """Returns the reading at one point of a map.  Raises UsageError where there is no one exact linear verdict."""
    edits = [axis.edit(axis.values[k]) for axis, k in zip(axes, point, strict=True)]
    model = elaborate(rebuild(edited(sources, edits)))
    _refuse_open(model)
    return reading_of(model, Deadline(seconds))


def _refuse_open(model: Model) -> None:
    """Raises UsageError where a value is open on which laps may depend: ends decide nothing about what lies between."""
    for group in structure(model).groups:
        name = next(_open_values(group.model), None)
        if name is not None:
            raise UsageError(OPEN.format(name, INSTEAD))


def _open_values(model: Model) -> Iterator[str]:
    """Yields what is open and not decided by the laws: the starts of what they move are no part of a linear verdict."""
    yield from (path for path, constant in model.constants.items() if constant.varies or not constant.range.exact)
    yield from (path for path, state in model.states.items() if state.switch and not state.initial.exact)
    written = {loop.signal for loop in model.loops}
    yield from (p for p, each in model.commands.items() if p not in written and not each.initial.exact)
    yield from one_ended(model)


def reading_of(model: Model, deadline: Deadline) -> LapReading:
    """Returns the laps of all groups of a design at its one operating point."""
    groups = structure(model).groups
    if not groups:
        raise UsageError(NO_LOOP)
    try:
        parts = [_of_group(group, deadline) for group in groups]
    except (LapError, NotExactError, MissingValueError, ZeroDivisionError) as error:
        raise UsageError(f"no linear verdict: {error}; {INSTEAD}") from None
    return LapReading(
        tuple(part.shape for part in parts),
        tuple(number for part in parts for number in part.numbers),
        tuple(size for part in parts for size in part.sizes),
        tuple(dict.fromkeys(word for part in parts for word in part.dropped)),
    )


def _of_group(group: Group, deadline: Deadline) -> LapReading:
    model = group.model
    rough = next((loop.name for loop in model.loops if not is_smooth(loop)), None)
    if rough is not None:
        raise UsageError(f"{rough} acts by thresholds, which have no linear verdict; {INSTEAD}")
    level = {path: command.initial.low or Fraction(0) for path, command in model.commands.items()}
    points = operating_points(model, Choices(), [level], deadline).points
    if len(points) != 1:
        raise UsageError(f"{' and '.join(group.names)}: {len(points)} operating points, not one; {INSTEAD}")
    smooth, dropped = smooth_part(model, points[0].values)
    near = {path: points[0].values[path] for path in (*smooth.states, *smooth.commands)}
    start = exact_equilibrium(smooth, near) or near
    sides = branches(smooth, start)
    paths, laps = region(smooth, [loop.name for loop in smooth.loops]), list[tuple[object, ...]]()
    numbers, sizes = list[Fraction](), list[int]()
    for side in sides.branches:
        lap = opened(side.model, start, deadline.check)
        matrix = closed(lap, paths)
        if lap.doubt or not sides.complete:
            raise UsageError(f"{' and '.join(group.names)}: the operating point is no exact number; {INSTEAD}")
        laps.append((matrix.names, lap.length))
        sizes.append(len(matrix.names))
        numbers += [number for row in matrix.a for number in row]
    ends = [(loop.signal, loop.bounds) for loop in model.loops]
    room = [(path, bounds.low, -1) for path, bounds in ends] + [(path, bounds.high, 1) for path, bounds in ends]
    within = [(path, end, way) for path, end, way in room if end is not None and path in start]
    numbers += [way * (end - start[path]) for path, end, way in within]
    shape = (group.names, tuple(laps), tuple((path, way) for path, _, way in within))
    return LapReading(shape, tuple(numbers), tuple(sizes), dropped)
