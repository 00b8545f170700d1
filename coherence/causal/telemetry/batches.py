"""Reads wide tables in batches of rows by duckdb, in the order of the file or of time, for `chunks`.

Memory holds one batch and what duckdb keeps; sorting goes to the disk where it must.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.csv_records import most_frequent
from coherence.base.errors import CoherenceError, UsageError
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.cells import ABSENT, Cells
from coherence.causal.telemetry.clocks import TimeColumn
from coherence.causal.telemetry.csv_files import table
from coherence.causal.telemetry.header import HeaderLayout, layout
from coherence.causal.telemetry.parquet_files import clock_of, columns_of, connection, picked, times_of, unreadable
from coherence.causal.telemetry.parts import TelemetryOptions, no_signals
from coherence.causal.telemetry.problems import quoted, refuse
from coherence.simulate.telemetry.contract import Origin

VECTOR = 2048  # rows that duckdb hands over at once
HEAD = 1000  # rows by which a column of a CSV is text or numbers


@dataclass(frozen=True)
class FileTable:
    """A wide table that can be read in batches; `question` reads it, `chosen` are the columns that are signals."""

    path: Path
    names: tuple[str, ...]
    clock: TimeColumn
    question: str
    left_out: tuple[tuple[str, str, str], ...]
    csv: tuple[str, ...] = ()  # names of all columns, where it is a CSV

    @property
    def origin(self) -> Origin:
        """How it was read; the rows are not counted."""
        form = "wide CSV, in batches" if self.csv else "wide Parquet, in batches"
        return Origin(str(self.path), form, self.clock.render(), self.names, 0, (), self.left_out)


@dataclass(frozen=True)
class RowBatch:
    """Rows: their times (s), and a column of each signal; `row`: of the first of them, counted from 1."""

    times: Floats
    columns: tuple[Floats, ...]
    row: int


def table_of(path: Path, options: TelemetryOptions, *, parquet: bool) -> FileTable | None:
    """How to read a file in batches; None where it is a long table.  Raises InputError."""
    return _parquet(path, options) if parquet else _csv(path, options)


def _parquet(path: Path, options: TelemetryOptions) -> FileTable | None:
    database = connection(path)
    names, types = columns_of(path, database)
    shape = layout(path, names, time=options.time, long=options.long)
    if shape.signal is not None:
        return None
    chosen, left_out = picked(shape, types, names)
    clock = clock_of(path, shape, names, types, options.time_unit)
    return _table(path, names, shape, chosen, left_out, clock, "read_parquet($path)", ())


def _csv(path: Path, options: TelemetryOptions) -> FileTable | None:
    names, rows = table(path, options.encoding)
    shape = layout(path, names, time=options.time, long=options.long)
    if shape.signal is not None:
        return None
    columns, head = [Cells(name) for name in names], list(itertools.islice(rows, HEAD))
    _one_width(path, head, len(names))
    for column, cells in zip(columns, zip(*(row for _, row in head), strict=True), strict=False):
        column.add(cells, [line for line, _ in head])
    whole = bool(head) and all(row[shape.time].strip().isdigit() for _, row in head)
    number = columns[shape.time].number and not columns[shape.time].word
    kinds = ["VARCHAR" if column.text else "DOUBLE" for column in columns]
    kinds[shape.time] = "BIGINT" if whole else "DOUBLE" if number else "VARCHAR"
    left = [(c.name, f"text, such as {quoted(c.word and c.word[1])}", "give numbers") for c in columns if c.text]
    left = [entry for entry in left if entry[0] != names[shape.time]]
    chosen = ["" if kind == "VARCHAR" and index != shape.time else f"c{index}" for index, kind in enumerate(kinds)]
    listed = ", ".join(f"'c{index}': '{kind}'" for index, kind in enumerate(kinds))
    with path.open(encoding="utf-8-sig") as file:
        separator = most_frequent(file.readline())
    nothing = ", ".join(f"'{word}'" for word in sorted(ABSENT))
    source = (
        f"read_csv($path, auto_detect = false, header = true, columns = {{{listed}}}, delim = '{separator}', "
        f"quote = '\"', escape = '\"', nullstr = [{nothing}])"
    )
    clock = TimeColumn(path, names[shape.time], options.time_unit)
    return _table(path, names, shape, chosen, left, clock, source, tuple(names))


def _one_width(path: Path, rows: Sequence[tuple[int, list[str]]], width: int) -> None:
    for line, row in rows:
        if len(row) != width:
            raise refuse(path, line, f"{len(row)} fields in a table of {width} columns", "a field for each column")


def _table(  # noqa: PLR0913, PLR0917
    path: Path, names: Sequence[str], shape: HeaderLayout, chosen: Sequence[str],
    left_out: Sequence[tuple[str, str, str]],
    clock: TimeColumn, source: str, csv: tuple[str, ...],
) -> FileTable:  # fmt: skip
    signals = [index for index in shape.signals if chosen[index]]
    if not signals:
        raise no_signals(str(path), left_out)
    aliases = ", ".join(f"c{index}" for index in range(len(names)))
    select = ", ".join(f"{chosen[index]} AS v{place}" for place, index in enumerate([shape.time, *signals]))
    question = f"SELECT {select} FROM {source} AS t({aliases})"  # noqa: S608  (our own names)
    return FileTable(path, tuple(names[index] for index in signals), clock, question, tuple(left_out), csv)


def batches(table: FileTable, rows: int, *, sort: bool, memory: str, folder: str) -> Iterator[RowBatch]:
    """Batches of about `rows` rows in the order of time; `sort` puts them so.  Raises InputError.

    `memory`, such as 512MB, is what duckdb may use; `folder` takes what does not fit.
    """
    database = connection(table.path, memory=memory)
    database.execute(f"SET temp_directory = '{folder.replace(chr(39), chr(39) * 2)}'")
    if not table.csv:
        database.execute("SET threads = 1")  # each holds a group of rows of Parquet
    question = table.question + (" ORDER BY 1" if sort else "")
    row = 1
    try:
        answer = database.execute(question, {"path": str(table.path)})
        while len(frame := answer.fetch_df_chunk(max(1, rows // VECTOR))):
            times = times_of(table.path, table.clock, _times(frame["v0"]), row - 1 + bool(table.csv))
            columns = tuple(frame[f"v{place}"].to_numpy(np.float64) for place in range(1, len(table.names) + 1))
            yield RowBatch(times, columns, row)
            row += len(times)
    except CoherenceError:
        raise
    except Exception as error:  # noqa: BLE001  (duckdb has many errors)
        raise _unreadable(table, error) from None
    finally:
        database.close()
    if row == 1:
        raise refuse(table.path, 1, "the file has a header and no row", "give at least one row of samples")


def _times(column: Any) -> Any:
    missing = column.isna().to_numpy()
    data = column.to_numpy()
    return np.ma.masked_array(data, missing) if missing.any() else data


def _unreadable(table: FileTable, error: Exception) -> CoherenceError:
    """The error of a cell of a CSV with its line, its value and the name of its column."""
    text = str(error)
    if "Out of Memory" in text:
        return UsageError(
            f"{table.path} has {len(table.names)} columns, too many for the memory that one pass may use (memory=): "
            "read it whole, without --stream, or give it as files of fewer columns"
        )
    if not table.csv:
        return unreadable(table.path, error)
    line = re.search(r"[Ll]ine:? (\d+)", text)
    cell = re.search(r'Could not convert string "(.*?)" to', text, re.DOTALL)
    column = re.search(r"[Cc]olumn \"?c(\d+)", text)
    where = int(line[1]) if line else 1
    if cell and column:
        message = f"{quoted(cell[1])} in the column {quoted(table.csv[int(column[1])])} is not a number"
        return refuse(table.path, where, message, "write a number with a decimal point, nan, inf, -inf, or nothing")
    return refuse(
        table.path, where, f"cannot be read: {text.splitlines()[0]}", "give a CSV file with one row on each line"
    )
