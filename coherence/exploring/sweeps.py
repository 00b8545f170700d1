"""Computes stability maps of a design over one or two of its numbers by exact execution; they can be resumed."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coherence.base.errors import CoherenceError, InputError
from coherence.base.jobs import WorkerPool, finished
from coherence.base.kept_results import KeptResults, digest_of
from coherence.base.watchdog import STOPPED
from coherence.checking.design_check import DEFAULT, Options
from coherence.exploring.point_conflicts import standing_against
from coherence.exploring.swept_numbers import Axis, edited
from coherence.importers import design_from_texts
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.feedback_groups import Deadline, is_smooth, region, structure
from coherence.loops.designs.group_runs import RunVerdict, executed
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import closed
from coherence.loops.designs.lap_roots import roots
from coherence.loops.designs.operating_points import smooth_part
from coherence.loops.settling.swings_without_rest import decided_beside_roots
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.starts import fixed_at
from coherence.simulate.execute.timeline import told_choices

MOST_NAMED = 6  # loops of a point at most
WORST = ("settles", "undecided", "oscillates")
NO_LOOP = "the design has no loop in feedback, and a sweep judges nothing else: ask coherence check"
MARKS = {"settles": "o", "conflict": "!", "oscillates": "x", "undecided": "?", "refused": "-"}
LATE = 20  # instants at the end of a run without an orbit
EMPTY: Mapping[str, str] = MappingProxyType({})
Rebuild = Callable[[Mapping[str, str]], Any]


@dataclass(frozen=True)
class PointSetting:
    """What is asked of one point: seconds for all of it, and which codes."""

    time_limit: float = 30.0
    options: Options = DEFAULT


@dataclass(frozen=True)
class Cell:
    """One point: its values as written, the verdict of the worst group, its period (s), and growth per lap.

    `growth` is of the values under which it oscillates, which `assumes` names; without an oscillation it is of the
    design, and left out where a constant is open.

    `verdict`: settles, conflict (its loops settle, and `check` says conflict), oscillates, undecided, or refused (the
    design with these values is no design).
    """

    values: tuple[str, ...]
    verdict: str
    loops: tuple[str, ...]
    period: float | None
    growth: float | None
    why: str
    assumes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "values": list(self.values), "verdict": self.verdict, "loops": list(self.loops), "period": self.period,
            "growth": self.growth, "why": self.why, "assumes": list(self.assumes),
        }  # fmt: skip


def cell_from(row: Mapping[str, Any]) -> Cell | None:
    """Returns a cell from JSON; None where a line was cut off or damaged, and its point is computed again."""
    values, loops, assumes = row.get("values"), row.get("loops"), row.get("assumes")
    numbers = [row.get(key) for key in ("period", "growth")]
    if not all(map(_texts, (values, loops, assumes))):
        return None
    if row.get("verdict") not in tuple(MARKS) or not isinstance(row.get("why"), str):
        return None
    if not all(n is None or (type(n) in (int, float) and 0 <= n < math.inf) for n in numbers):
        return None
    period, growth = (None if n is None else float(n) for n in numbers)
    listed = (tuple(values or ()), row["verdict"], tuple(loops or ()), period, growth, row["why"])
    return Cell(*listed, tuple(assumes or ()))


def _texts(listed: object) -> bool:
    return isinstance(listed, list) and all(isinstance(one, str) for one in listed)


def points(axes: Sequence[Axis]) -> list[tuple[int, ...]]:
    """Indices into the axes, the last axis slowest."""
    return [tuple(reversed(k)) for k in itertools.product(*(range(len(a.values)) for a in reversed(axes)))]


def written(axes: Sequence[Axis], point: Sequence[int]) -> tuple[str, ...]:
    """Returns the values of a point as they are written in the design."""
    return tuple(axis.edit(axis.values[k]).new for axis, k in zip(axes, point, strict=True))


def judged(
    axes: Sequence[Axis], point: Sequence[int], sources: Mapping[str, str], rebuild: Rebuild, setting: PointSetting
) -> Cell:
    """Returns one point: rebuilt from its text, every group executed, every question asked where all settle."""
    values = written(axes, point)
    edits = [axis.edit(axis.values[k]) for axis, k in zip(axes, point, strict=True)]
    texts, deadline = edited(sources, edits), Deadline(setting.time_limit)
    try:
        model = elaborate(rebuild(texts))
    except InputError as error:
        return Cell(values, "refused", (), None, None, error.problems[0].message)
    return verdict_of(model, values, deadline, texts, setting.options)


def verdict_of(
    model: Model, values: tuple[str, ...], deadline: Deadline, sources: Mapping[str, str] = EMPTY,
    options: Options = DEFAULT,
) -> Cell:  # fmt: skip
    """Returns a point by its worst group; where all settle, by what the questions of `check` say of it."""
    cell = run_verdict(model, values, deadline)
    against = standing_against(model.design, sources, options, deadline) if cell.verdict == "settles" else None
    return cell if against is None else replace(cell, verdict=against[0], why=against[1])


def run_verdict(model: Model, values: tuple[str, ...], deadline: Deadline) -> Cell:
    """Returns a point by the runs of its groups alone: the worst one decides."""
    groups = structure(model).groups
    if not groups:
        return Cell(values, "undecided", (), None, None, NO_LOOP)
    worst = Cell(values, "settles", (), None, None, "")
    for group in groups:
        signals = tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))
        try:
            answer = executed(group.model, group.signals, deadline, every_start=False)
            answer = decided_beside_roots(answer, group.model, signals, deadline.check)
        except (NotExactError, MissingValueError, CoherenceError) as error:
            answer = RunVerdict("undecided", str(error), False, None, {}, None, (), 0)
        growth = _growth(group.model, answer, deadline) if len(group.loops) <= 8 else None
        period = None if answer.period is None else float(answer.period)
        why = answer.how if answer.verdict == "undecided" else ""
        assumes = () if answer.shown is None else told_choices(group.model, answer.shown)
        cell = Cell(values, answer.verdict, group.names[:MOST_NAMED], period, growth, why, assumes)
        if WORST.index(cell.verdict) > WORST.index(worst.verdict) or not worst.loops:
            worst = cell
    return worst


def _growth(model: Model, answer: RunVerdict, deadline: Deadline) -> float | None:
    """Returns the largest linear growth per lap of all branches near the run's end, outside of tolerances.

    None where the verdict is not of one choice of the constants, or the run is of another one.
    """
    run, choices = answer.run, answer.shown
    if run is None or not run.instants or not all(is_smooth(loop) for loop in model.loops):
        return None
    model = model if choices is None else fixed_at(model, choices)
    if not all(constant.range.exact for constant in model.constants.values()) or choices not in (None, run.choices):
        return None
    late = run.orbit.lap if run.orbit is not None else run.instants[-LATE:]
    names = (*model.states, *model.commands)
    near = {n: sum((plain(i.after[n]) for i in late), Fraction(0)) / len(late) for n in names}
    try:
        smooth, _ = smooth_part(model, near)
        point = operating_point(smooth, near, deadline.check)
        if point is None:
            return None
        paths = region(smooth, [loop.name for loop in smooth.loops])
        laps = [opened(branch.model, point, deadline.check) for branch in branches(smooth, point).branches]
        largest = max(roots(closed(lap, paths), lap.length).growth for lap in laps)
        return largest if math.isfinite(largest) else None
    except (ArithmeticError, KeyError, ValueError):
        return None


class Store:
    """The cells of a sweep that are known, by their values; kept in a file if there is one."""

    def __init__(
        self, file: Path | None, axes: Sequence[Axis], sources: Mapping[str, str], options: Options = DEFAULT,
        environment: str = "",
    ) -> None:  # fmt: skip
        self.environment = environment  # in which the design is read
        head = {"coherence_sweep": 4, "design_sha256": digest_of(sources), "keys": [axis.key for axis in axes]}
        head |= {"select": list(options.select), "ignore": list(options.ignore)}
        head |= {"environment": environment} if environment else {}
        self._kept = KeptResults(file, head, "sweep")
        cells = map(cell_from, self._kept.rows)
        self.cells = {cell.values: cell for cell in cells if cell is not None}

    def add(self, cell: Cell) -> None:
        """Stores a cell and appends it to the file."""
        self.cells[cell.values] = cell
        self._kept.add(cell.as_json())


def swept(
    axes: Sequence[Axis], sources: Mapping[str, str], rebuild: Rebuild, store: Store, *,
    setting: PointSetting, workers: WorkerPool, bar: Callable[[float], None] | None = None,
) -> list[Cell]:  # fmt: skip
    """Computes every point that the store does not hold yet; returns all cells in order.

    Ctrl-C ends it: the rest is undecided and not kept in the store.
    """
    every = points(axes)
    missing = [p for p in every if written(axes, p) not in store.cells]
    done = len(every) - len(missing)
    with contextlib.suppress(KeyboardInterrupt):
        own = partial(design_from_texts, environment=store.environment) if workers.elsewhere else rebuild
        job = PointJob(tuple(axes), dict(sources), setting, own)
        for count, (_, cell) in enumerate(finished(job, missing, workers), 1):
            store.add(cell)
            if bar:
                bar((done + count) / len(every))
    values = [written(axes, p) for p in every]
    return [store.cells.get(one) or Cell(one, "undecided", (), None, None, STOPPED) for one in values]


@dataclass(frozen=True)
class PointJob:
    """Judges one point.  `rebuild` reads the design from its texts, in whatever process this is."""

    axes: tuple[Axis, ...]
    sources: Mapping[str, str]
    setting: PointSetting
    rebuild: Rebuild

    def __call__(self, point: tuple[int, ...]) -> Cell:
        """Returns one point."""
        return judged(self.axes, point, self.sources, self.rebuild, self.setting)
