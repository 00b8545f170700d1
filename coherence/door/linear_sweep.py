"""Maps the linear verdict of a design over one or two of its numbers, from Python: up to four million points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherence.base.jobs import HERE, WorkerPool
from coherence.base.watchdog import current_run
from coherence.checking.workspace import Entry
from coherence.door.result import VerbResult, drawn, frame, head
from coherence.exploring.linear_maps import MARKS, LinearSweep
from coherence.exploring.swept_numbers import Axis
from coherence.findings.finding import NotRead

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 4_000_000  # points


@dataclass(frozen=True, repr=False)
class LinearSweepResult(VerbResult):
    """A map of linear verdicts: `to_frame()` has a row for each point: a column for each key (in its unit), verdict.

    `rows`: a text for each value of the second key, with a mark for each value of the first.
    """

    sweep: LinearSweep = field(compare=False)
    rows: tuple[str, ...] = field(compare=False)
    name: str = field(compare=False)
    unread: tuple[NotRead, ...] = field(compare=False)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Returns the keys that were varied, with their values."""
        return self.sweep.axes

    def to_frame(self) -> DataFrame:
        """Returns the points, a row for each."""
        return frame(self._rows(), (*(axis.key for axis in self.axes), "verdict"))

    def plot(self, ax: Any = None) -> Any:
        """Draws the map and returns the axes of matplotlib."""
        from coherence.exploring import render_linear_map

        return drawn(render_linear_map.figure(self.name, self.sweep, self.rows).panels[0], ax)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        words = {mark: word for word, mark in MARKS.items()}
        first, *others = [[float(axis.render(value)) for value in axis.values] for axis in self.axes]
        for row, *above in zip(self.rows, *others, strict=True):
            for value, mark in zip(first, row, strict=True):
                at = zip((axis.key for axis in self.axes), (value, *above), strict=True)
                yield {**dict(at), "verdict": words[mark]}

    def _lines(self) -> Sequence[str]:
        counts = ", ".join(f"{word} {number}" for word, number in self.data["counts"].items())
        keys = " and ".join(axis.key for axis in self.axes)
        return (f"LinearSweepResult of {self.name}: {self.sweep.count} points over {keys}", f"  {counts}")


def linearised(
    entry: Entry, name: str, axes: Sequence[Axis], *, seconds: float, into: Path | None = None,
    workers: WorkerPool = HERE,
) -> LinearSweepResult:  # fmt: skip
    """Returns the map of a design over axes; points that a file holds are not computed again."""
    from coherence.base.reads import recorded
    from coherence.door.unread import left_out, unread, unread_json
    from coherence.exploring import linear_maps, render_linear_map
    from coherence.exploring.lap_readings import reading_of
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.model.elaborate import elaborate

    model = elaborate(entry.design)
    with recorded() as reads:
        reading_of(model, Deadline(seconds))

    def announce(share: float) -> None:
        current_run().announce(share, "")

    sweep = linear_maps.linear_sweep(axes, entry.sources, entry.rebuild, seconds=seconds)
    rows = linear_maps.judged(sweep, into, entry.sources, announce, workers=workers)
    lines = unread("sweep", entry.design, reads)
    data = {
        **head("sweep"), **render_linear_map.as_json(name, sweep, rows), "disagreements": [],
        "assumptions": [*sweep.assumptions, *left_out(entry.design, reads)], "not_read": unread_json(lines),
    }  # fmt: skip
    return LinearSweepResult(data, sweep, tuple(rows), name, lines)
