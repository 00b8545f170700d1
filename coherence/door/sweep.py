"""Maps where the loops of a design settle over one or two of its numbers, from Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool
from coherence.base.watchdog import current_run
from coherence.checking.design_check import Options
from coherence.checking.workspace import Entry
from coherence.door.check import codes
from coherence.door.linear_sweep import MOST, LinearSweepResult, linearised
from coherence.door.quantities import Amount
from coherence.door.result import VerbResult, drawn, frame, head
from coherence.door.sources import Source, entry_of, name_of
from coherence.exploring.sweeps import Cell
from coherence.exploring.swept_numbers import Axis
from coherence.findings.finding import NotRead
from coherence.loops.designs.disagreements import Disagreement

if TYPE_CHECKING:
    from pandas import DataFrame

    from coherence.exploring.sweeps import PointSetting, Store


@dataclass(frozen=True, repr=False)
class SweepResult(VerbResult):
    """A map: `to_frame()` has a row for each point: a column for each key (in its unit), verdict, period_s, growth,
    why.
    """

    axes: tuple[Axis, ...] = field(compare=False)
    cells: tuple[Cell, ...] = field(compare=False)
    name: str = field(compare=False)
    unread: tuple[NotRead, ...] = field(compare=False)
    differing: tuple[Disagreement, ...] = field(compare=False)
    figures: ClassVar[tuple[str, ...]] = ("verdict", "period_s", "growth", "why")

    @property
    def keys(self) -> tuple[str, ...]:
        """Returns the keys that were varied, which are columns of the frame."""
        return tuple(axis.key for axis in self.axes)

    def to_frame(self) -> DataFrame:
        """Returns the points, a row for each: the keys (in their units), verdict, period_s, growth and why."""
        return frame(self._rows(), (*self.keys, *self.figures))

    def plot(self, ax: Any = None) -> Any:
        """Draws the map (of one key: the periods) and returns the axes of matplotlib."""
        from coherence.exploring import render_sweep

        return drawn(render_sweep.figure(self.name, self.axes, self.cells).panels[0], ax)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        from coherence.exploring.sweeps import points

        for point, cell in zip(points(self.axes), self.cells, strict=True):
            at = {axis.key: float(axis.render(axis.values[k])) for axis, k in zip(self.axes, point, strict=True)}
            yield {**at, "verdict": cell.verdict, "period_s": cell.period, "growth": cell.growth, "why": cell.why}

    def _lines(self) -> Sequence[str]:
        counts = Counter(cell.verdict for cell in self.cells)
        return (
            f"SweepResult of {self.name}: {len(self.cells)} points over {' and '.join(self.keys)}",
            f"  {', '.join(f'{verdict} {number}' for verdict, number in counts.most_common())}",
            f"  {len(self.differing)} answers contradict each other",
        )


@overload
def sweep(
    design: Source, axes: Mapping[str, Sequence[Amount]] | None = None, *, linear: Literal[False] = False,
    select: str | Sequence[str] = (), ignore: str | Sequence[str] = (), time_limit: float = 30.0, jobs: int = 1,
    **more_axes: Sequence[Amount],
) -> SweepResult: ...  # fmt: skip


@overload
def sweep(
    design: Source, axes: Mapping[str, Sequence[Amount]] | None = None, *, linear: Literal[True],
    select: str | Sequence[str] = (), ignore: str | Sequence[str] = (), time_limit: float = 30.0, jobs: int = 1,
    **more_axes: Sequence[Amount],
) -> LinearSweepResult: ...  # fmt: skip


def sweep(
    design: Source, axes: Mapping[str, Sequence[Amount]] | None = None, *, linear: bool = False,
    select: str | Sequence[str] = (), ignore: str | Sequence[str] = (), time_limit: float = 30.0, jobs: int = 1,
    **more_axes: Sequence[Amount],
) -> SweepResult | LinearSweepResult:  # fmt: skip
    """Returns where the loops of a design settle without a conflict, for every combination of one or two numbers.

    axes: by dotted path of a number in the design (from, to) or (from, to, points), in the unit of the number or with
    one: {"loops.hpa.target.setpoint": ("30 %", "80 %", 6)}; of a path without dots also a keyword (more_axes).
    linear: the linear verdict at the operating point instead, at up to four million points.
    select, ignore: beginnings of the codes that are asked where all loops settle.  time_limit: seconds of the
    processor for one point (with `linear`, for one reading).  jobs: processes.  Raises InputError and UsageError.
    """
    from coherence.exploring.swept_numbers import axes as read_axes

    entry = entry_of(design)
    stated = [axis_text(key, ends) for key, ends in {**(axes or {}), **more_axes}.items()]
    if not 1 <= len(stated) <= 2:
        raise UsageError(f"{len(stated)} keys: a map has one or two")
    workers, name = WorkerPool(jobs), name_of(design)
    if linear:
        if select or ignore:
            raise UsageError("select and ignore would have no effect with linear: it asks no question")
        many = read_axes(stated, entry.sources, most=MOST)
        return linearised(entry, name, many, seconds=time_limit, workers=workers)
    from coherence.exploring.sweeps import PointSetting

    setting = PointSetting(time_limit, Options(codes(select), codes(ignore)))
    return swept(entry, name, read_axes(stated, entry.sources), setting, workers=workers)


def axis_text(key: str, ends: Sequence[Amount]) -> str:
    """Returns `KEY=A:B:N`.  Raises UsageError."""
    if isinstance(ends, str) or not 2 <= len(ends) <= 3:
        raise UsageError(f"{key} = {ends!r}: give (from, to) or (from, to, points)")
    return f"{key}={':'.join(str(end) for end in ends)}"


def swept(
    entry: Entry,
    name: str,
    axes: Sequence[Axis],
    setting: PointSetting,
    *,
    workers: WorkerPool,
    store: Store | None = None,
) -> SweepResult:
    """Returns the map of a design over axes; points that a store holds are not computed again."""
    from coherence.base.reads import recorded
    from coherence.door.unread import left_out, unread, unread_json
    from coherence.exploring import render_sweep, sweeps
    from coherence.exploring.point_conflicts import bases_of
    from coherence.exploring.sweep_referee import own_disagreements
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.model.elaborate import elaborate

    known = (
        store
        if store is not None
        else sweeps.Store(None, axes, entry.sources, setting.options, entry.design.environment)
    )
    cells = sweeps.swept(axes, entry.sources, entry.rebuild, known, setting=setting, workers=workers,
                         bar=lambda share: current_run().announce(share, ""))  # fmt: skip
    model = elaborate(entry.design)
    with recorded() as reads:
        own = sweeps.run_verdict(model, (), Deadline(setting.time_limit))
    answers = bases_of(entry.design, entry.sources, setting.options, Deadline(setting.time_limit))
    lines = unread("sweep", entry.design, reads, answers)
    differing = own_disagreements(model, own, setting.time_limit)
    data = {
        **head("sweep"), **render_sweep.as_json(name, axes, cells),
        "disagreements": [asdict(each) for each in differing],
        "assumptions": list(left_out(entry.design, reads)), "not_read": unread_json(lines),
    }  # fmt: skip
    return SweepResult(data, tuple(axes), tuple(cells), name, lines, tuple(differing))


def kept_points(into: str | None, axes: Sequence[Axis], entry: Entry, options: Options) -> Store:
    """Returns the store of points in a file, or one in memory."""
    from coherence.exploring.sweeps import Store

    return Store(Path(into) if into else None, axes, entry.sources, options, entry.design.environment)
