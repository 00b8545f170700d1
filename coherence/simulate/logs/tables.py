"""Reads repeated output of `kubectl get` and `kubectl top`: snapshots of a table, with the time of each.

A snapshot begins with a line `idx,<n>,LOG_TIME,<utc>,<local>,...`; a line that starts with NAME heads its rows.
Times are whole seconds of Unix time.  What is neither is kept as a problem with its place, and left out.
"""

from __future__ import annotations

import calendar
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coherence.base.errors import Problem
from coherence.base.places import Place
from coherence.simulate.telemetry.bounded_files import whole_text

STAMP = "%Y-%m-%dT%H:%M:%S"


@dataclass(frozen=True)
class SnapshotRow:
    """The cells of one line, and the line's number."""

    cells: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Snapshot:
    """One table at one time (Unix seconds)."""

    time: int
    rows: tuple[SnapshotRow, ...]


@dataclass(frozen=True)
class SnapshotTable:
    """Every snapshot of a file, in order, and its malformed lines."""

    file: str
    snapshots: tuple[Snapshot, ...]
    problems: tuple[Problem, ...] = ()

    def place(self, row: SnapshotRow) -> Place:
        """Returns where a row stands."""
        return line_place(self.file, row.line, ",".join(row.cells))


def line_place(file: str, line: int, text: str) -> Place:
    """Returns a whole line."""
    return Place(file, line, 1, line, len(text) + 1)


def unix(stamp: str) -> int:
    """`2024-01-13T21:28:15` or `...Z` in UTC -> Unix seconds.  Raises ValueError."""
    return calendar.timegm(time.strptime(stamp.strip().removesuffix("Z").partition(".")[0], STAMP))


def utc(moment: int) -> str:
    """Unix seconds -> `2024-01-13T21:28:15Z`."""
    return time.strftime(STAMP, time.gmtime(moment)) + "Z"


def read_table(path: Path) -> SnapshotTable:
    """Returns the table in a file."""
    return table_of(whole_text(path, lenient=True), path.name)


def table_of(text: str, file: str = "<log>") -> SnapshotTable:
    """Returns the table in a text.  A snapshot whose rows run backwards in time is a problem too."""
    snapshots: list[Snapshot] = []
    problems: list[Problem] = []
    width = 0
    for line, content in enumerate(text.splitlines(), 1):
        cells = tuple(cell.strip() for cell in content.split(","))
        if "LOG_TIME" in cells:
            problems += _open(snapshots, cells, line, content, file)
        elif cells[0] == "NAME":
            width = _columns(cells)
        elif content.strip():
            problems += _add(snapshots, SnapshotRow(cells, line), width, content, file)
    return SnapshotTable(file, tuple(snapshots), tuple(problems))


def _open(snapshots: list[Snapshot], cells: tuple[str, ...], line: int, content: str, file: str) -> Iterator[Problem]:
    at = cells.index("LOG_TIME") + 1
    place = line_place(file, line, content)
    try:
        moment = unix(cells[at])
    except (ValueError, IndexError):
        yield Problem(place, "LOG_TIME without a time", f"expected a UTC time such as {utc(0)}")
        return
    if snapshots and moment < snapshots[-1].time:
        yield Problem(place, f"time runs backwards: {utc(moment)} after {utc(snapshots[-1].time)}", "sort the log")
        return
    snapshots.append(Snapshot(moment, ()))


def _columns(header: tuple[str, ...]) -> int:
    """Returns the cells of a row: `NOMINATED NODE` and `READINESS GATES` are two words and one cell each."""
    return len(header) - sum(word in header for word in ("NOMINATED", "READINESS"))


def _add(snapshots: list[Snapshot], row: SnapshotRow, width: int, content: str, file: str) -> Iterator[Problem]:
    place = line_place(file, row.line, content)
    if not snapshots:
        yield Problem(place, "a row before the first LOG_TIME", "begin the log with `idx,0,LOG_TIME,<utc>,...`")
    elif len(row.cells) < width or not width:
        yield Problem(place, f"{len(row.cells)} cells where the header has {width}", "the line is cut or has no header")
    else:
        last = snapshots[-1]
        snapshots[-1] = Snapshot(last.time, (*last.rows, row))
