"""Reads CSV of the user's own: any column names, long or wide, comma, semicolon, tab or bar between fields.

SOURCE: RFC 4180; the first line holds the names.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from coherence.base.csv_records import SEPARATORS, Record, csv_table
from coherence.base.errors import InputError, Problem
from coherence.causal.telemetry.cells import Cells
from coherence.causal.telemetry.clocks import TimeColumn
from coherence.causal.telemetry.header import HeaderLayout, labelled, layout
from coherence.causal.telemetry.parts import Rows, Story, TelemetryOptions, TelemetryPart, long_rows, no_signals, part
from coherence.causal.telemetry.problems import problem, quoted, refuse, several
from coherence.causal.telemetry.quantities import stated as parses
from coherence.simulate.telemetry.contract import KINDS, Signal

BATCH = 1 << 13  # rows at a time


def read_csv(path: Path, options: TelemetryOptions) -> TelemetryPart:
    """The signals of one file.  Raises InputError with the lines of what cannot be read."""
    header, rows = table(path, options.encoding)
    shape = layout(path, header, time=options.time, long=options.long)
    clock = TimeColumn(path, header[shape.time], options.time_unit)
    columns = [Cells(name) for name in header]
    times, lines = [np.zeros(0)], array("q")
    texts: list[list[str]] = [[] for _ in header]
    named = [] if shape.signal is None else [shape.signal]
    read_columns = {*named, *shape.labels, *shape.facts.values()}
    levels = [shape.level] if shape.level is not None else [*shape.signals]
    for numbers, batch in _batches(path, rows, len(header)):
        cells = list(zip(*batch, strict=True))
        times.append(clock.read([cell.strip() for cell in cells[shape.time]], numbers))
        lines.extend(numbers)
        for index in levels:
            columns[index].add(cells[index], numbers)
        for index in read_columns:
            texts[index].extend(cells[index])
    _enough(path, len(lines))
    wrong = [found for column in columns if (found := column.problem(path)) is not None]
    if wrong:
        raise InputError(wrong[:20])
    at = np.concatenate(times)
    if shape.signal is None:
        return _wide(path, shape, clock, columns, at, lines, options)
    return _long(path, shape, clock, columns, texts, at, lines, options)


def table(path: Path, encoding: str = "utf-8") -> tuple[list[str], Iterator[Record]]:
    """Returns the header, and (line, fields) of every row that is not empty.  Raises InputError."""
    remedy = "save it as UTF-8, or say its encoding, such as encoding=latin-1 or encoding=utf-16"
    header, records = csv_table(path, encoding=encoding, separators=SEPARATORS, remedy=remedy)
    return header, ((line, row) for line, row in records if row)


def _batches(path: Path, rows: Iterator[Record], width: int) -> Iterator[tuple[list[int], list[list[str]]]]:
    numbers, batch = [], []
    wrong: list[Problem] = []
    for line, row in rows:
        if len(row) != width:
            message = f"{several(len(row), 'field')} in a table of {several(width, 'column')}"
            wrong.append(problem(path, line, message, "a field for each column; quote a field that holds a separator"))
            if len(wrong) == 20:
                break
            continue
        numbers.append(line)
        batch.append(row)
        if len(batch) == BATCH and not wrong:
            yield numbers, batch
            numbers, batch = [], []
    if wrong:
        raise InputError(wrong)
    if batch:
        yield numbers, batch


def _enough(path: Path, rows: int) -> None:
    if not rows:
        raise refuse(path, 1, "the file has a header and no row", "give at least one row of samples")


def _wide(
    path: Path, shape: HeaderLayout, clock: TimeColumn, columns: Sequence[Cells], at: np.ndarray, lines: Sequence[int],
    options: TelemetryOptions,
) -> TelemetryPart:  # fmt: skip
    rows, left_out = [], []
    where = np.asarray(lines)
    for index, name in shape.signals.items():
        column = columns[index]
        if column.text:
            left_out.append((name, f"text, such as {quoted(column.word and column.word[1])}", "give numbers"))
            continue
        values, there = column.samples()
        times, own = (at, where) if there is None else (at[there], where[there])
        rows.append(Rows(Signal(name, source=str(path)), times, values, own))
    if not rows:
        raise no_signals(str(path), left_out)
    story = Story(len(at), options.duplicates, _truths(columns), left_out)
    return part(str(path), "wide CSV", clock.render(), rows, at, story)


def _truths(columns: Sequence[Cells]) -> list[str]:
    return [f"'{c.name}': true and false were read as 1 and 0" for c in columns if c.truths]


def _long(  # noqa: PLR0913, PLR0917
    path: Path, shape: HeaderLayout, clock: TimeColumn, columns: Sequence[Cells],
    texts: Sequence[Sequence[str]], at: np.ndarray,
    lines: Sequence[int], options: TelemetryOptions,
) -> TelemetryPart:  # fmt: skip
    assert shape.signal is not None
    assert shape.level is not None
    names = _names(path, shape, texts, lines)
    values, present = columns[shape.level].samples()
    if columns[shape.level].text:
        raise no_signals(str(path), [(columns[shape.level].name, "text", "")])
    facts = {key: texts[index] for key, index in shape.facts.items()}
    signals = long_signals(path, names, facts, lines)
    grouped = long_rows(names, at, values, present, lines)
    rows = [Rows(signals[name], times, levels, own) for name, times, levels, own in grouped]
    story = Story(len(at), options.duplicates, _truths(columns), kinds="kind" in shape.facts)
    return part(str(path), "long CSV", clock.render(), rows, at, story)


def _names(path: Path, shape: HeaderLayout, texts: Sequence[Sequence[str]], lines: Sequence[int]) -> list[str]:
    assert shape.signal is not None
    plain = texts[shape.signal]
    bare = next((index for index, name in enumerate(plain) if not name), None)
    if bare is not None:
        raise refuse(path, lines[bare], "the name of the signal is missing", "write the name of a signal in every row")
    if not shape.labels:
        return list(plain)
    keys, columns = list(shape.labels.values()), [texts[index] for index in shape.labels]
    known: dict[tuple[str, ...], str] = {}
    return [
        known.get(row)
        or known.setdefault(row, labelled(row[0], {k: v for k, v in zip(keys, row[1:], strict=True) if v}))
        for row in zip(plain, *columns, strict=True)
    ]


def long_signals(
    path: object, names: Sequence[str], facts: Mapping[str, Sequence[str]], lines: Sequence[int]
) -> dict[str, Signal]:
    """Signals of a long table with their unit, kind and source.  Raises InputError where two rows disagree."""
    known: dict[str, tuple[str, ...]] = {}
    columns = [facts.get(key, [""] * len(names)) for key in ("unit", "kind", "source")]
    for name, line, *stated in zip(names, lines, *columns, strict=True):
        before = known.get(name)
        if before is None:
            known[name] = before = tuple(stated)
            parses(stated[0], path, line)
        if before != tuple(stated):
            message = (
                f"{quoted(name)} is {' '.join(filter(None, stated))} here and {' '.join(filter(None, before))} above"
            )
            raise refuse(path, line, message, "state one unit, kind and source for a signal")
        if stated[1] and stated[1] not in KINDS:
            raise refuse(path, line, f"{quoted(stated[1])} is no kind of signal", "write counter or gauge")
    return {
        n: Signal(n, unit or "1", kind or "gauge", source or str(path)) for n, (unit, kind, source) in known.items()
    }
