"""Reads the records of a log of requests, CSV or JSON lines, and knows the names of its columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coherence.base.csv_records import csv_records
from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.simulate.telemetry.bounded_files import whole_text
from coherence.simulate.telemetry.tables_parquet import load_texts

PROMPT_NAMES = (
    "prompt", "prompttokens", "contexttokens", "inputtokens", "inputlength", "inputtoks", "requesttokens",
    "promptlen", "inputlen",
)  # fmt: skip
OUTPUT_NAMES = (
    "answer", "output", "generatedtokens", "outputtokens", "outputlength", "outputtoks", "responsetokens",
    "outputlen", "answertokens",
)  # fmt: skip
PREFIX_NAMES = ("hashids", "prefix", "prefixids")
TIME_NAMES = ("queuedts", "arrivaltimens", "time", "timestamp", "arrival", "arrivaltime", "arrivedat", "date", "t")


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the header and the rows of a CSV or Parquet file, or of one JSON object a line in order of their times.

    The number of a row of Parquet counts from 2, as if its names stood above it.
    """
    if path.suffix == ".parquet":
        names, rows_of_table = load_texts(path)
        yield 1, list(names)
        yield from ((number + 1, ["" if cell is None else cell for cell in row]) for number, row in rows_of_table)
        return
    if path.suffix not in {".jsonl", ".ndjson"}:
        yield from csv_records(path)
        return
    rows = [(line, _object(path, line, text)) for line, text in enumerate(whole_text(path).splitlines(), 1) if text]
    header = list(rows[0][1]) if rows else []
    yield 1, header
    time = column_among(header, TIME_NAMES)
    for line, row in sorted(rows, key=lambda pair: _order(pair[1].get(time))):
        yield line, [_cell(row.get(name, "")) for name in header]


def _object(path: Path, line: int, text: str) -> dict[str, Any]:
    try:
        read = json.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        place = Place(os.fspath(path), line, 1, line, 1)
        raise InputError([Problem(place, "no JSON object", "write one object a line, or give CSV")])
    return read


def _order(cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        return 0.0


def _cell(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def plain(name: str) -> str:
    """Returns the name of a column without case, spaces and underscores."""
    return name.strip().lower().replace("_", "").replace(" ", "")


def column_among(header: Sequence[str], known: Sequence[str]) -> str:
    """Returns the column with the first of the known names that any column has, or nothing."""
    names = {plain(name): name.strip() for name in header}
    return next((names[name] for name in known if name in names), "")
