"""Writes and reads tables as Parquet, by duckdb: numbers as doubles, texts as strings, an absent cell as NULL."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.errors import InputError, MissingExtraError, Problem
from coherence.base.places import Place

BATCH = 1 << 16  # rows read at a time


def _connection() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("Parquet", "simulate") from None
    return _database(duckdb).cursor()


@functools.cache
def _database(duckdb: Any) -> Any:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")  # rows are written in their order
    connection.execute("SET enable_progress_bar = false")  # it would stand in the middle of our output
    return connection


def save(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], texts: Sequence[str]) -> None:
    """Write a table; the columns `texts` hold text.  Raises ValueError where names differ by case only."""
    connection = _connection()
    _refuse_alike(header)
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(header)
    table: dict[str, Any] = {}
    picked = []
    for index, (name, cells) in enumerate(zip(header, columns, strict=True)):
        quoted = '"' + name.replace('"', '""') + '"'
        if name in texts:
            table[f"c{index}"] = np.array(cells, dtype=object)
            picked.append(f"c{index}::VARCHAR AS {quoted}")
        else:  # duckdb takes every NaN of an array for NULL, so which is which stands beside it
            table[f"c{index}"] = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
            table[f"n{index}"] = np.array([cell is not None and cell != cell for cell in cells], np.bool_)  # noqa: PLR0124
            picked.append(f"CASE WHEN n{index} THEN 'NaN'::DOUBLE ELSE c{index} END AS {quoted}")
    connection.register("written", table)
    place = str(path).replace("'", "''")
    select = f"SELECT {', '.join(picked)} FROM written"  # noqa: S608  (names are quoted)
    connection.execute(f"COPY ({select}) TO '{place}' (FORMAT parquet)")
    connection.close()


def _refuse_alike(header: Sequence[str]) -> None:
    folded = [name.casefold() for name in header]
    bad = next((name for name in header if folded.count(name.casefold()) > 1 or "\0" in name), None)
    if bad is not None:
        raise ValueError(f"{bad!r} cannot be a column of Parquet: names must differ by more than case; write it long")


def load(path: Path) -> tuple[tuple[str, ...], Iterator[tuple[int, Sequence[Any]]]]:
    """Returns the header, and the rows with their numbers, in batches from the disk.  Raises InputError."""
    return _selected(path, "*")


def load_texts(path: Path) -> tuple[tuple[str, ...], Iterator[tuple[int, Sequence[str | None]]]]:
    """Returns the same with every cell as text, exactly: dates by ISO 8601, lists in brackets.  Raises InputError."""
    return _selected(path, "COLUMNS(*)::VARCHAR")


def _selected(path: Path, what: str) -> tuple[tuple[str, ...], Iterator[tuple[int, Sequence[Any]]]]:
    connection = _connection()
    try:
        answer = connection.execute(f"SELECT {what} FROM read_parquet(?)", [str(path)])  # noqa: S608  (our own words)
    except Exception as error:  # noqa: BLE001  (duckdb has many errors, all of which mean an unreadable file)
        reason = str(error).splitlines()[0]
        raise InputError([Problem(Place(str(path), 1, 1, 1, 1), f"cannot be read: {reason}")]) from None
    return tuple(column[0] for column in answer.description), _rows(answer)


def _rows(found: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    number = 0
    while batch := found.fetchmany(BATCH):
        yield from enumerate(batch, number + 1)
        number += len(batch)
