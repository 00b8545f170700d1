"""Says how far each loop of a design is from the loop of its name in another design, and what that certifies.

Each loop is opened between its decision and all that follows from it, at the one operating point of its group; the
others stay closed.  The certificate is about this linear loop: dead bands, rounding and bounds are asked of `check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.analysis.design_analysis import levels_of
from coherence.loops.analysis.law_margins import opened_lap
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError, is_smooth, region, structure
from coherence.loops.designs.group_runs import executed
from coherence.loops.designs.groups import Group
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import LapError, by_own_command, closed
from coherence.loops.designs.operating_points import operating_points, smooth_part
from coherence.loops.margins.nu_gap import NuGap, nu_gap
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.model.model import Model
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.slices import lacking
from coherence.simulate.execute.starts import corner_count, corners


@dataclass(frozen=True)
class LoopDistance:
    """A loop that two designs have, with its nu-gap; without one `reason` says why."""

    loop: str
    gap: NuGap | None
    reason: str


def loop_distances(before: Model, after: Model, seconds: float) -> tuple[LoopDistance, ...]:
    """Returns the distance of each loop in feedback that both designs have, the least changed first."""
    old, new = _opened_loops(before, Deadline(seconds / 2)), _opened_loops(after, Deadline(seconds / 2))
    rows = [_distance(name, old[name], new[name]) for name in old if name in new]
    return tuple(sorted(rows, key=lambda row: (row.gap is None, row.gap.bound if row.gap else 0.0, row.loop)))


def _distance(name: str, old: OpenedLap | str, new: OpenedLap | str) -> LoopDistance:
    if isinstance(old, str) or isinstance(new, str):
        return LoopDistance(name, None, f"in the {'first' if isinstance(old, str) else 'second'}: {_text(old, new)}")
    gap = nu_gap(old, new)
    return LoopDistance(name, gap, gap.reason)


def _text(*laps: OpenedLap | str) -> str:
    return next(lap for lap in laps if isinstance(lap, str))


def _opened_loops(model: Model, deadline: Deadline) -> Mapping[str, OpenedLap | str]:
    """Returns every loop in feedback as an opened lap, or why it is none."""
    groups = structure(model).groups
    opened_loops: dict[str, OpenedLap | str] = {}
    for number, group in enumerate(groups):
        own = deadline.share(1 / (len(groups) - number))
        try:
            opened_loops |= _of_group(group, own)
        except (NotExactError, MissingValueError, LapError, OutOfTimeError) as error:
            opened_loops |= dict.fromkeys(group.names, str(error) or "the time limit was reached")
    return opened_loops


def _of_group(group: Group, deadline: Deadline) -> Mapping[str, OpenedLap | str]:
    model, signals = group.model, tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))
    open_values = corner_count(model)
    missing = lacking(model, signals, model.inputs)
    if missing or open_values > 1:
        why = f"needs {missing}" if missing else "what the design leaves open is one loop for each value"
        return dict.fromkeys(group.names, why)
    first = next(iter(corners(model)))
    answer = executed(model, group.signals, deadline.share(0.4))
    points = [p for p in operating_points(model, first, levels_of(model, first, answer), deadline).points if p.real]
    if len(points) != 1:
        return dict.fromkeys(group.names, f"{len(points)} operating points of the whole design, and one is needed")
    return dict(_at(group, dict(points[0].values), deadline))


def _at(group: Group, point: dict[str, Fraction], deadline: Deadline) -> Iterator[tuple[str, OpenedLap | str]]:
    """Yields the loops of a group at an operating point."""
    model, _ = smooth_part(group.model, point)
    start = {path: point[path] for path in (*model.states, *model.commands)}
    sides = branches(model, start)
    names = [loop.name for loop in group.loops if is_smooth(loop)]
    paths = region(model, names)
    laps = [opened(part.model, start, deadline.check) for part in sides.branches]
    for name in group.names:
        if name not in names:
            yield name, "acts by thresholds, and has no linear loop"
        elif len(laps) != 1 or sides.jumps:
            yield name, f"its law has {len(laps)} linear pieces at the operating point, and jumps or bends there"
        else:
            (lap,) = by_own_command(laps, paths, name)
            cut = closed(lap, paths, left_open=[name])
            yield name, opened_lap(cut, lap) if cut.opened else "decides nothing here"
