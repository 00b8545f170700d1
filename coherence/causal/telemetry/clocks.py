"""Reads the time column of a file: seconds from a start, numbers since 1970 judged by their size, or ISO 8601.

Sizes: a number of 6e8 to 5e9 (years 1989 to 2128) is seconds since 1970; a thousand times that milliseconds, and so
on to nanoseconds; below 6e8 it is seconds from a start.  Anything between is refused, as are two units in one column:
a wrong guess moves every cause.  Whole numbers and ISO fractions become the nearest float of seconds.

SOURCE: ISO 8601-1:2019, combined date and time; a time without zone is read as UTC, and that is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.telemetry.problems import quoted, refuse

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
START, LOW, HIGH = "start", 6e8, 5e9  # seconds since 1970 lie between LOW and HIGH

_HINT = re.compile(
    r"[ _(\[]+(s|sec|secs|seconds|ms|millis|milliseconds|us|micros|ns|nanos|nanoseconds)[)\]]?$", re.IGNORECASE
)
_SAME = {"sec": "s", "secs": "s", "seconds": "s", "millis": "ms", "milliseconds": "ms", "micros": "us", "nanos": "ns",
         "nanoseconds": "ns"}  # fmt: skip
_ISO = re.compile(
    r"\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?)?\s*(Z|z|UTC|[+-]\d\d(?::?\d\d)?)?\s*"
)


def hinted(header: str) -> str | None:
    """The unit at the end of a header such as `time_ms`, `ts (ns)`."""
    found = _HINT.search(header.strip())
    return _SAME.get(found[1].lower(), found[1].lower()) if found else None


class TimeColumn:
    """The clock of one column of one file: decided by its first cells, and held to it by all the others."""

    def __init__(self, file: object, column: str, unit: str | None = None) -> None:
        self.file, self.column = file, column
        self.stated, self.named = unit, hinted(column)
        self.size: str | None = None  # s, ms, us, ns, start
        self.iso: bool | None = None
        self.zoned: bool | None = None

    def render(self) -> str:
        """How the time was read, for the report."""
        if self.iso:
            return f"column '{self.column}': ISO 8601, " + ("with zone" if self.zoned else "without zone, read as UTC")
        if self.stated or self.named:
            how = "as stated" if self.stated else "by its name"
            return f"column '{self.column}': {WORDS[self.stated or self.named or 's']}, {how}"
        if self.size in PER_SECOND:
            return f"column '{self.column}': {WORDS[self.size]} since 1970, by their size"
        return f"column '{self.column}': seconds from a start"

    def read(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """Seconds of the cells of one batch.  Raises InputError with the line of the first that is no time."""
        if self.iso is None and len(cells):
            self.iso = _number(cells[0]) is None and _ISO.fullmatch(cells[0]) is not None
        if self.iso:
            return np.array([self._moment(cell, line) for cell, line in zip(cells, lines, strict=True)], np.float64)
        return self.numbers(_whole(cells) if _all_whole(cells) else self._floats(cells, lines), lines)

    def numbers(self, cells: Any, lines: Sequence[int]) -> Floats:
        """Seconds of whole or real numbers."""
        if not len(cells):
            return np.zeros(0)
        real = np.asarray(cells, np.float64)
        bad = ~np.isfinite(real)
        if bad.any():
            raise self._refused(lines[int(np.argmax(bad))], real[bad][0], "every row needs a finite time")
        unit = self._unit(real, lines)
        return _seconds(cells if np.asarray(cells).dtype.kind in "iu" else real, PER_SECOND[unit])

    def _floats(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        try:
            return np.array([float(cell) for cell in cells], np.float64)
        except ValueError:
            index = next(i for i, cell in enumerate(cells) if _number(cell) is None)
            remedy = "write seconds, a number since 1970, or ISO 8601 such as 2024-05-01T12:00:00Z, in every row alike"
            raise self._refused(lines[index], cells[index], remedy) from None

    def _moment(self, cell: str, line: int) -> float:
        match = _ISO.fullmatch(cell)
        if match is None:
            raise self._refused(line, cell, "write ISO 8601 such as 2024-05-01T12:00:00Z, in every row alike")
        zone = (match[4] or "").upper().replace("Z", "+00:00").replace("UTC", "+00:00")
        if self.zoned is not None and self.zoned is not bool(zone):
            raise self._refused(line, cell, "write the zone in every row or in none")
        self.zoned = bool(zone)
        try:
            moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00:00'}{zone}")
        except ValueError as error:
            raise self._refused(line, cell, str(error)) from None
        whole = int((moment if zone else moment.replace(tzinfo=UTC)).timestamp())
        return whole + float(f"0.{match[3]}") if match[3] else float(whole)

    def _unit(self, real: Floats, lines: Sequence[int]) -> str:
        sizes = np.abs(real)
        classes = np.zeros(len(real), np.int8)
        for number, scale in enumerate(PER_SECOND.values(), 1):
            classes[(sizes >= LOW * scale) & (sizes < HIGH * scale)] = number
        if self.stated:
            return self.stated
        unclear = (classes == 0) & (sizes >= LOW)
        if self.named and not classes.any():
            return self.named
        if unclear.any():
            remedy = "state the unit of the time: s, ms, us or ns (time_unit=), or in the header, as in time_ms"
            raise self._refused(lines[int(np.argmax(unclear))], real[unclear][0], remedy)
        return self._one_unit(classes, real, lines)

    def _one_unit(self, classes: Any, real: Floats, lines: Sequence[int]) -> str:
        names = (START, *PER_SECOND)
        first = self.size or names[int(classes[0])]
        other = classes != names.index(first)
        if self.named and first not in (self.named, START):
            raise self._refused(lines[0], real[0], f"the header says {WORDS[self.named]}, its size {WORDS[first]}")
        if other.any():
            was = "seconds from a start" if first == START else f"{WORDS[first]} since 1970"
            raise self._refused(
                lines[int(np.argmax(other))], real[other][0], f"the rows before are {was}: use one unit in a column"
            )
        self.size = first
        return self.named or ("s" if first == START else first)

    def _refused(self, line: int, cell: object, remedy: str) -> Exception:
        return refuse(self.file, line, f"{quoted(cell)} in the column '{self.column}' is not a time", remedy)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _all_whole(cells: Sequence[str]) -> bool:
    return all(
        (len(cell) > 12 and cell.isascii() and cell.isdigit() and len(cell) < 19) or cell == "0" for cell in cells
    )


def _whole(cells: Sequence[str]) -> Any:
    return np.array([int(cell) for cell in cells], np.int64)


def _seconds(numbers: Any, scale: int) -> Floats:
    """The nearest float of `numbers / scale`, as near as two roundings come."""
    if scale == 1:
        return np.asarray(numbers, np.float64) + 0.0
    if numbers.dtype.kind in "iu":
        return np.asarray(numbers // scale + (numbers % scale) / scale, np.float64)
    return np.asarray(numbers / scale)
