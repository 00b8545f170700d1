"""Cuts the values of numbers of a design into boxes that are safe, unsafe or undecided, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool
from coherence.base.watchdog import current_run
from coherence.checking.workspace import Entry
from coherence.door.check import codes
from coherence.door.quantities import Amount
from coherence.door.result import VerbResult, drawn_of, frame, head, listed
from coherence.door.sources import Source, entry_of, name_of
from coherence.door.sweep import axis_text
from coherence.exploring.regions import STATUSES, Region, RegionCell
from coherence.exploring.render_half_spaces import Beside
from coherence.findings.finding import NotRead

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class RegionResult(VerbResult):
    """Boxes of values with their status; `to_frame()` has a row for each: status, the ends of each key, why.

    `half_spaces`: linear inequalities that are safe, beside the boxes.
    """

    region: Region = field(compare=False)
    half_spaces: tuple[Beside, ...] = field(compare=False)
    name: str = field(compare=False)
    unread: tuple[NotRead, ...] = field(compare=False)
    ends: ClassVar[tuple[str, ...]] = ("low", "high")

    def share(self, status: str) -> float:
        """Returns the part of the whole that is safe, candidate, unsafe or undecided, between 0 and 1."""
        return float(self.region.share(status))

    def to_frame(self) -> DataFrame:
        """Returns the boxes, a row for each: status, the ends of each number as texts with units, and why."""
        keys = [f"{key} {end}" for key in self.data["keys"] for end in self.ends]
        return frame(self._rows(), ("status", *keys, "why"))

    def plot(self, ax: Any = None, *, panel: int = 0) -> Any:
        """Draws the boxes (of three numbers at values of the third: `panel` counts them); returns matplotlib's axes."""
        from coherence.exploring.region_figure import region_figure

        panels = region_figure(self.name, self.region, self.half_spaces).panels
        return drawn_of(panels, panel, ax)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for cell in self.data["cells"]:
            spans = {f"{key} {end}": text for key, box in cell["box"].items()
                     for end, text in zip(self.ends, box, strict=True)}  # fmt: skip
            yield {"status": cell["status"], **spans, "why": "; ".join(cell["why"])}

    def _lines(self) -> Sequence[str]:
        shares = [f"{status} {self.share(status):.1%}" for status in STATUSES]
        return (
            f"RegionResult of {self.name} over {' and '.join(self.data['keys'])}",
            f"  {', '.join(shares)}; {self.region.asks} boxes and corners asked",
            f"  in conflict whatever the values: {listed(self.region.untouched, 'nothing')}",
        )


def region(
    design: Source, axes: Mapping[str, Sequence[Amount]], *, select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (), asks: int = 400, time_limit: float = 20.0, half_spaces: bool = True,
) -> RegionResult:  # fmt: skip
    """Returns for which values of one to three numbers of a design nothing is in conflict.

    axes: by dotted path of a number in the design (from, to), in its unit or with one.
    select, ignore: beginnings of codes.  asks: boxes asked at most.  time_limit: seconds of the processor for one
    question of a box.
    half_spaces: also seek linear inequalities that are safe.  Raises InputError and UsageError.
    """
    stated = [axis_text(key, ends) for key, ends in axes.items()]
    options = RegionOptions(codes(select), codes(ignore), asks, time_limit, half_spaces)
    return mapped(entry_of(design), name_of(design), stated, options)


@dataclass(frozen=True)
class RegionOptions:
    """What is asked of each box, how many boxes, for how long (s), and by whom."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    asks: int = 400
    time_limit: float = 20.0
    half_spaces: bool = True
    workers: WorkerPool = field(default_factory=WorkerPool)
    file: Path | None = None  # where boxes are kept


def mapped(entry: Entry, name: str, parameters: Sequence[str], options: RegionOptions) -> RegionResult:
    """Returns the region of a design over parameters `KEY=A:B`.  Raises UsageError, also for manifests."""
    from coherence.base.reads import recorded
    from coherence.door.unread import left_out, unread
    from coherence.exploring.regions import region as cut
    from coherence.exploring.render_half_spaces import beside
    from coherence.findings.design_answers import passes
    from coherence.findings.registry import question_modules

    if entry.design.imported:
        raise UsageError(f"{name} is a manifest: write a design with `coherence import`, for manifests have no ranges")
    chosen = [
        module
        for module in question_modules()
        if any(passes(question.code, options.select, options.ignore) for question in module.questions)
    ]
    limits: dict[str, Any] = {"most_asks": options.asks, "time_limit": options.time_limit}
    limits |= {"workers": options.workers, "file": options.file}
    with recorded() as reads:
        cells = cut(parameters, entry.sources, entry.rebuild, chosen, bar=_announce, **limits)
    inequalities: tuple[Beside, ...] = ()
    if options.half_spaces and not cells.stopped:
        inequalities = beside(cells, parameters, entry.sources, entry.rebuild, chosen, time_limit=options.time_limit,
                              bar=lambda share: current_run().announce(share, "seeking inequalities"))  # fmt: skip
    lines = unread("region", entry.design, reads)
    data = _document(name, cells, inequalities, left_out(entry.design, reads), lines)
    return RegionResult(data, cells, inequalities, name, lines)


def _announce(share: float) -> None:
    current_run().announce(share, "")


def _document(
    name: str, region: Region, inequalities: tuple[Beside, ...], assumed: Sequence[str], lines: Sequence[NotRead]
) -> dict[str, Any]:
    """Returns the region as data; ends of intervals are texts in the unit of their key."""
    from coherence.door.unread import unread_json
    from coherence.exploring.render_half_spaces import as_data

    keys = [axis.key for axis in region.axes]
    cells = [
        {
            "status": cell.status,
            "box": dict(zip(keys, map(list, box_ends(cell, region)), strict=True)),
            "why": list(cell.why),
        }
        for cell in region.cells
    ]
    return {
        **head("region", version=2), "path": name, "keys": keys, "cells": cells,
        "shares": {status: float(region.share(status)) for status in STATUSES},
        "untouched": list(region.untouched), "left_open": list(region.left_open), "asks": region.asks,
        "half_spaces": as_data(inequalities),
        "no_half_space": [each.result.reason for each in inequalities if each.result.reason],
        "assumptions": list(assumed), "not_read": unread_json(lines),
    }  # fmt: skip


def box_ends(cell: RegionCell, region: Region) -> list[tuple[str, str]]:
    """Returns the ends of a box as they would be written, a pair for each key."""
    from coherence.exploring.box_answers import spelled

    return [(spelled(axis, low), spelled(axis, high)) for axis, (low, high) in zip(region.axes, cell.box, strict=True)]
