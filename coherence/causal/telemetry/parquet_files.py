"""Reads Parquet of the user's own by duckdb: any column names, long or wide, timestamps or numbers.

NULL is a missing value; NaN is a value that is not a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.errors import InputError, MissingExtraError
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.clocks import TimeColumn
from coherence.causal.telemetry.csv_files import long_signals
from coherence.causal.telemetry.header import HeaderLayout, labelled, layout
from coherence.causal.telemetry.parts import Rows, Story, TelemetryOptions, TelemetryPart, long_rows, no_signals, part
from coherence.causal.telemetry.problems import refuse
from coherence.simulate.telemetry.contract import Signal

NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT",
           "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")  # fmt: skip
MOMENTS = ("TIMESTAMP", "DATE")


def connection(path: object, *, memory: str | None = None) -> Any:
    """A duckdb of its own.  Raises MissingExtraError."""
    try:
        import duckdb
        import pandas as pd  # duckdb hands over batches as its frames
    except ImportError:
        raise MissingExtraError(f"reading {path}", "causal") from None
    del pd
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute("SET enable_progress_bar = false")  # it would stand in the middle of our output
    database.execute("SET enable_external_file_cache = false")  # it would keep what is read once
    if memory:
        database.execute(f"SET memory_limit = '{memory}'")
    return database


def query_rows(path: object, database: Any, question: str, *values: object) -> Any:
    """The answer of duckdb.  Raises InputError: all its errors here mean a file that cannot be read."""
    try:
        return database.execute(question, list(values))
    except Exception as error:  # noqa: BLE001  (duckdb has many errors)
        raise unreadable(path, error) from None


def unreadable(path: object, error: Exception) -> InputError:
    """The error of a file that duckdb cannot read, in one line."""
    reason = str(error).splitlines()[0]
    return refuse(path, 1, f"cannot be read as Parquet: {reason}", "write the file anew: it is cut off or not Parquet")


def columns_of(path: Path, database: Any) -> tuple[list[str], list[str]]:
    """Names as they stand in the file, and duckdb's types."""
    question = "SELECT name, num_children FROM parquet_schema(?)"
    leaves = query_rows(path, database, question, str(path)).fetchall()[1:]
    rows = query_rows(path, database, "DESCRIBE SELECT * FROM read_parquet(?)", str(path)).fetchall()
    flat = not any(children for _, children in leaves) and len(leaves) == len(rows)
    return [name for name, _ in leaves] if flat else [row[0] for row in rows], [row[1] for row in rows]


def picked(
    shape: HeaderLayout, types: Sequence[str], names: Sequence[str]
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """An expression for each column (empty: not read), and what is left out."""
    chosen, left_out = [""] * len(types), []
    for index, kind in enumerate(types):
        column = f"c{index}"
        if index == shape.time:
            chosen[index] = f"epoch_ns({column})" if kind.startswith(MOMENTS) else _time(column, kind)
        elif index in shape.signals or index == shape.level:
            if kind.startswith(NUMBERS) and not kind.endswith("]"):
                chosen[index] = f"{column}::DOUBLE"
            else:
                left_out.append((names[index], f"its values are {kind}, not numbers", "give numbers"))
        else:
            chosen[index] = f"coalesce({column}::VARCHAR, '')"
    return chosen, left_out


def _time(column: str, kind: str) -> str:
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return f"{column}::DOUBLE"
    return f"{column}::BIGINT" if kind.startswith(NUMBERS) else f"{column}::VARCHAR"


def clock_of(
    path: object, shape: HeaderLayout, names: Sequence[str], types: Sequence[str], unit: str | None
) -> TimeColumn:
    """The clock of the column of time; timestamps are whole nanoseconds."""
    return TimeColumn(path, names[shape.time], "ns" if types[shape.time].startswith(MOMENTS) else unit)


def read_parquet(path: Path, options: TelemetryOptions) -> TelemetryPart:
    """The signals of one file.  Raises InputError, MissingExtraError."""
    database = connection(path)
    names, types = columns_of(path, database)
    shape = layout(path, names, time=options.time, long=options.long)
    chosen, left_out = picked(shape, types, names)
    if not any(chosen[index] for index in [shape.level] if index is not None) and not any(
        chosen[index] for index in shape.signals
    ):
        raise no_signals(str(path), left_out)
    clock = clock_of(path, shape, names, types, options.time_unit)
    arrays = _arrays(path, database, chosen)
    at = times_of(path, clock, arrays[shape.time], 0)
    if not len(at):
        raise refuse(path, 1, "the file has columns and no row", "give at least one row of samples")
    rows = _wide(path, shape, arrays, at) if shape.signal is None else _long(path, shape, arrays, at)
    story = Story(len(at), options.duplicates, (), left_out, "kind" in shape.facts)
    time_text = "timestamps" if types[shape.time].startswith(MOMENTS) else clock.render()
    return part(str(path), f"{shape.form} Parquet", time_text, rows, at, story)


def _arrays(path: Path, database: Any, chosen: Sequence[str]) -> dict[int, Any]:
    wanted = [index for index, expression in enumerate(chosen) if expression]
    aliases = ", ".join(f"c{index}" for index in range(len(chosen)))
    select = ", ".join(f"{chosen[index]} AS v{index}" for index in wanted)
    question = f"SELECT {select} FROM read_parquet(?) AS t({aliases})"  # noqa: S608  (our own names)
    answer = query_rows(path, database, question, str(path))
    try:
        columns = answer.fetchnumpy()
    except Exception as error:  # noqa: BLE001  (a damaged page shows itself when it is fetched)
        raise unreadable(path, error) from None
    return {index: columns[f"v{index}"] for index in wanted}


def times_of(path: object, clock: TimeColumn, column: Any, before: int) -> Floats:
    """Seconds of a column of times; `before`: rows that came before it.  Raises InputError."""
    missing = np.ma.getmaskarray(column)
    if missing.any():
        row = int(np.argmax(missing)) + 1 + before
        raise refuse(path, row, f"row {row} has no time", "give every row a time, or take the row out")
    data = np.ma.getdata(column)
    lines = range(before + 1, before + len(data) + 1)
    return clock.read([str(cell) for cell in data], lines) if data.dtype.kind == "O" else clock.numbers(data, lines)


def _wide(path: Path, shape: HeaderLayout, arrays: dict[int, Any], at: Floats) -> list[Rows]:
    rows = []
    for index, name in shape.signals.items():
        if index in arrays:
            there = ~np.ma.getmaskarray(arrays[index])
            values = np.ma.getdata(arrays[index])
            times, values = (at, values) if there.all() else (at[there], values[there])
            rows.append(Rows(Signal(name, source=str(path)), times, values, np.flatnonzero(there) + 1))
    return rows


def _long(path: Path, shape: HeaderLayout, arrays: dict[int, Any], at: Floats) -> list[Rows]:
    assert shape.signal is not None
    assert shape.level is not None
    lines = range(1, len(at) + 1)
    names = [str(name) for name in arrays[shape.signal]]
    if "" in names:
        row = names.index("") + 1
        raise refuse(path, row, "the name of the signal is missing", "write the name of a signal in every row")
    if shape.labels:
        columns = [arrays[index] for index in shape.labels]
        keys = list(shape.labels.values())
        names = [
            labelled(name, {k: str(v) for k, v in zip(keys, row, strict=True) if v})
            for name, *row in zip(names, *columns, strict=True)
        ]
    facts = {key: [str(cell) for cell in arrays[index]] for key, index in shape.facts.items()}
    signals = long_signals(path, names, facts, lines)
    level = arrays[shape.level]
    there = ~np.ma.getmaskarray(level)
    grouped = long_rows(names, at, np.ma.getdata(level)[there], there, lines)
    return [Rows(signals[name], times, values, own) for name, times, values, own in grouped]
