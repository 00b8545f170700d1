"""Writes and reads telemetry in CSV and Parquet: the same bytes for the same telemetry, the same floats back.

A folder holds `telemetry.<ending>` (long: time, signal, value) or `telemetry_wide.<ending>` (time, then a column for
each signal), `signals.<ending>` and `causes.<ending>`.  Rows are sorted by time, then by signal.  A missing value
is an empty field (CSV) or NULL (Parquet); `nan`, `inf` and `-inf` are values.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from coherence.base.errors import did_you_mean, line_error
from coherence.simulate.telemetry import tables_csv, tables_parquet
from coherence.simulate.telemetry.contract import LossCause, Signal, Telemetry, telemetry

Row: TypeAlias = tuple[float, str, float | None]

LONG = ("time", "signal", "value")
SIGNALS = ("name", "unit", "kind", "source")
CAUSES = ("time", "loss", "cause", "amount", "unit")


def write(record: Telemetry, folder: Path, *, wide: bool = False, parquet: bool = False) -> tuple[Path, ...]:
    """Write the three tables into a folder that exists; what was written.

    Raises MissingExtraError without duckdb (Parquet), ValueError where names cannot be columns of wide Parquet.
    """
    paths, tables = _paths(folder, wide=wide, parquet=parquet), tables_parquet if parquet else tables_csv
    if wide:
        tables.save(paths[0], ("time", *(signal.name for signal in record.signals)), _wide(record), ())
    else:
        tables.save(paths[0], LONG, _long(record), LONG[1:2])
    tables.save(paths[1], SIGNALS, ((s.name, s.unit, s.kind, s.source) for s in record.signals), SIGNALS)
    causes = ((c.time, c.loss, c.cause, c.amount, c.unit) for c in record.causes)
    tables.save(paths[2], CAUSES, causes, ("loss", "cause", "unit"))
    return paths


def _paths(folder: Path, *, wide: bool, parquet: bool) -> tuple[Path, Path, Path]:
    ending = "parquet" if parquet else "csv"
    table = folder / f"telemetry{'_wide' if wide else ''}.{ending}"
    return table, folder / f"signals.{ending}", folder / f"causes.{ending}"


def _long(record: Telemetry) -> Iterator[Row]:
    """Rows by time and signal; a time at which nothing has a value is kept by one row without."""
    names = [signal.name for signal in record.signals]
    if not names:
        return
    times = np.concatenate([record[name].times for name in names])
    values = np.concatenate([record[name].values for name in names])
    owner = np.repeat(np.arange(len(names)), [len(record[name]) for name in names])
    bare = np.setdiff1d(record.grid, times)
    times, owner = np.concatenate([times, bare]), np.concatenate([owner, np.zeros(len(bare), owner.dtype)])
    for index in np.lexsort((owner, times)).tolist():
        yield float(times[index]), names[owner[index]], float(values[index]) if index < len(values) else None


def _wide(record: Telemetry) -> Iterator[Sequence[float | None]]:
    columns: list[list[float | None]] = [record.grid.tolist()]
    for signal in record.signals:
        cells: list[float | None] = [None] * len(record.grid)
        samples = record[signal.name]
        for index, level in zip(
            np.searchsorted(record.grid, samples.times).tolist(), samples.values.tolist(), strict=True
        ):
            cells[index] = level
        columns.append(cells)
    return zip(*columns, strict=True)


# -- reading ------------------------------------------------------------------------------------


def read(folder: Path, *, wide: bool = False, parquet: bool = False) -> Telemetry:
    """Returns the telemetry of a folder.  What is missing stays missing, and `gaps` counts it.  Raises InputError.

    Signals that the table of signals does not have, or all where there is none, are gauges without unit.
    """
    table, signals, causes = _paths(folder, wide=wide, parquet=parquet)
    known = {signal.name: signal for signal in (_signal(signals, *row) for row in _texts(signals, SIGNALS))}
    columns = {name: (array("d"), array("d")) for name in known}
    grid: set[float] = set()
    for time, name, level in stream(table, wide=wide):
        grid.add(time)
        if name not in columns:
            known[name] = _signal(table, 1, (name, "1", "gauge", ""))
            columns[name] = (array("d"), array("d"))
        if level is not None:
            times, values = columns[name]
            times.append(time)
            values.append(level)
    samples = {signal: columns[name] for name, signal in known.items()}
    try:
        return telemetry(samples, causes=list(_causes(causes)), grid=list(grid))
    except ValueError as refused:
        raise line_error(table, 1, str(refused), "a signal has one value at each time") from None


def stream(path: Path, *, wide: bool = False) -> Iterator[Row]:
    """(time, signal, value) row by row, in the order of the file and in little memory; None: the value is missing.

    Raises InputError with the line (Parquet: the row) of what cannot be read.
    """
    header, rows = _tables(path).load(path)
    return _from_wide(path, header, rows) if wide else _from_long(path, header, rows)


def _from_long(path: Path, header: Sequence[str], rows: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[Row]:
    time, signal, level = (_column(path, header, name) for name in LONG)
    for line, row in rows:
        yield _time(path, line, row[time]), _text(path, line, row[signal]), _number(path, line, row[level])


def _from_wide(path: Path, header: Sequence[str], rows: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[Row]:
    if header[0] != "time":
        raise line_error(path, 1, f"the first column is '{header[0]}'", "a wide table begins with the column time")
    for line, row in rows:
        time = _time(path, line, row[0])
        yield from ((time, name, _number(path, line, cell)) for name, cell in zip(header[1:], row[1:], strict=True))


def _tables(path: Path) -> ModuleType:
    return tables_parquet if path.suffix == ".parquet" else tables_csv


def _texts(path: Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yields the named columns of a table that may be absent, as text."""
    if not path.exists():
        return
    header, rows = _tables(path).load(path)
    where = [_column(path, header, name) for name in names]
    for line, row in rows:
        yield line, ["" if row[index] is None else str(row[index]) for index in where]


def _signal(path: Path, line: int, cells: Sequence[str]) -> Signal:
    try:
        return Signal(*cells)
    except ValueError as refused:
        raise line_error(path, line, str(refused), "give each signal a name, and the kind counter or gauge") from None


def _causes(path: Path) -> Iterator[LossCause]:
    for line, (time, loss, cause, amount, unit) in _texts(path, CAUSES):
        how_much = _number(path, line, amount)
        if how_much is None:
            raise line_error(path, line, f"no amount of {loss}", "write a number")
        yield LossCause(_time(path, line, time), loss, cause, how_much, unit)


def _column(path: Path, header: Sequence[str], name: str) -> int:
    if name not in header:
        raise line_error(path, 1, f"the column '{name}' is missing", did_you_mean(name, header))
    return header.index(name)


def _time(path: Path, line: int, cell: Any) -> float:
    time = _number(path, line, cell)
    if time is None or not math.isfinite(time):
        raise line_error(path, line, f"'{'' if cell is None else cell}' is not a time", "write seconds, such as 12.5")
    return time


def _text(path: Path, line: int, cell: Any) -> str:
    if cell is None or cell == "":
        raise line_error(path, line, "the name of the signal is missing", "write the name of a signal")
    return str(cell)


def _number(path: Path, line: int, cell: Any) -> float | None:
    if cell is None or cell == "":
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise line_error(path, line, f"'{cell}' is not a number", "write a number, nan, inf, -inf or nothing") from None
