"""Writes and reads tables as CSV: UTF-8, LF, an absent cell is an empty field, floats in their shortest exact form."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from coherence.base.csv_records import Record, csv_table
from coherence.base.errors import InputError, Problem
from coherence.base.places import Place

QUOTED = frozenset(',"\r\n')


def save(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], texts: Sequence[str]) -> None:
    """Write a table; `texts` does not matter here."""
    del texts
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(",".join(map(_field, row)) + "\n" for row in itertools.chain([header], rows))


def _field(cell: Any) -> str:
    """By RFC 4180; `csv.writer` leaves a lone carriage return unquoted, in some versions of Python."""
    if isinstance(cell, str):
        return '"' + cell.replace('"', '""') + '"' if QUOTED.intersection(cell) else cell
    return "" if cell is None else repr(float(cell))


def load(path: Path) -> tuple[tuple[str, ...], Iterator[Record]]:
    """Returns the header, and the rows with the number of the line on which each begins.  Raises InputError."""
    header, records = csv_table(path, nul=True)
    return tuple(header), _rows(path, records, len(header))


def _rows(path: Path, records: Iterator[Record], width: int) -> Iterator[Record]:
    for line, row in records:
        cells = row or [""]  # an empty line: with one column it is an absent cell
        if len(cells) == width:
            yield line, cells
        elif row:
            message = f"{len(row)} fields in a table of {width} columns"
            raise InputError([Problem(Place(str(path), line, 1, line, 1), message)])
