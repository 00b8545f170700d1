"""Tables as CSV: UTF-8, lines end in LF, an absent cell is an empty field, floats in their shortest exact form."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

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


def load(path: Path) -> tuple[tuple[str, ...], Iterator[tuple[int, Sequence[Any]]]]:
    """The header, and the rows with the number of the line on which each ends.  Raises InputError."""
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError([Problem(Place(str(path), 1, 1, 1, 1), "the table is empty", "begin with a line of names")])
    return tuple(first[1]), rows


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    line, width = 1, 0
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                line, width = reader.line_num, width or len(row)
                if not row and width > 1:  # an empty line; with one column it is an absent cell
                    continue
                if len(row) != width:
                    message = f"{len(row)} fields in a table of {width} columns"
                    raise InputError([Problem(Place(str(path), line, 1, line, 1), message)])
                yield line, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise InputError([Problem(Place(str(path), line, 1, line, 1), f"cannot be read: {reason}")]) from None
