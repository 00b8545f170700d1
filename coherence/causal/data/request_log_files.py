"""Reads and writes the log of requests in CSV: a row for each request; what is wrong is named with its line.

    arrival,need,end,outcome,deadline,attempts,class,service,devices,held,left.queue,left.execution,need.execution
    12.401,0.112,12.583,completed,0.4,1,chat,eu,1,0.131,12.45,12.583,0.112

Times are seconds on one clock.  `arrival`, `need` and `end` must be there; an empty `end` is a request in flight.
Columns of other names take no part and are named in `excluded`; columns that are absent are named in `lacks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from coherence.base.errors import InputError, Problem, did_you_mean
from coherence.base.places import Place
from coherence.causal.data.request_log import COLUMNS, COMPLETED, IN_FLIGHT, RequestLog, request_log
from coherence.causal.data.series import Excluded, Floats
from coherence.simulate.telemetry import tables_csv

LEFT, NEED = "left.", "need."
TEXTS = ("outcome", "class", "service")
KNOWN = f"known: {', '.join(COLUMNS)}, left.<layer>, need.<layer>"
MOST = 20  # problems told of one file

LIMITS: Mapping[str, tuple[str, float, bool]] = {
    "need": ("must be > 0 s", 0.0, True),
    "deadline": ("must be > 0 s", 0.0, True),
    "attempts": ("must be >= 1", 1.0, False),
    "devices": ("must be > 0", 0.0, True),
    "held": ("must be >= 0 device-seconds", 0.0, False),
}
"""Column -> (what must hold, limit, whether the limit itself is excluded)."""


def read(
    path: Path, *, deadline: float | None = None, needs: Mapping[str, float] | None = None, until: float | None = None
) -> RequestLog:
    """The log of a file.  Raises InputError with the line of everything that is wrong (the first twenty).

    `deadline` (s) holds where the column is absent; `needs` gives the isolated need (s) by service where that is;
    `until` is the end of the window, else the last time of the log.
    """
    header, lines, cells = _cells(path)
    header_problems = _header(path, header, needs=needs is not None)
    if header_problems:
        raise InputError(header_problems)
    columns = dict(zip(header, cells, strict=True))
    problems: list[Problem] = []
    numbers = {name: _numbers(path, lines, name, columns[name], problems) for name in header if _is_number(name)}
    if needs is not None and "need" not in numbers:
        numbers["need"] = _by_service(path, lines, columns["service"], needs, problems)
    problems += _wrong(path, lines, numbers, header, until)
    if problems:
        raise InputError(problems[:MOST])
    return _log_of_columns(header, columns, numbers, deadline, until)


def _cells(path: Path) -> tuple[tuple[str, ...], list[int], list[tuple[str, ...]]]:
    """Header, line numbers and columns of text."""
    header, rows = tables_csv.load(path)
    lines, body = [], []
    for line, row in rows:
        lines.append(line)
        body.append(row)
    if not body:
        raise InputError([_problem(path, 1, "the log has a header and no requests", "write one row for each request")])
    return tuple(name.strip() for name in header), lines, list(zip(*body, strict=True))


def _header(path: Path, header: Sequence[str], *, needs: bool) -> list[Problem]:
    problems = [
        _problem(path, 1, f"two columns are called '{name}'", "give each column its own name")
        for name in dict.fromkeys(header)
        if header.count(name) > 1
    ]
    for name in ("arrival", "service" if needs and "need" not in header else "need", "end"):
        if name not in header:
            near = did_you_mean(name, [one for one in header if one and not _known(one)])
            remedy = f"add it; {COLUMNS[name]}" + (f"; {near}" if near else "")
            problems.append(_problem(path, 1, f"the column '{name}' is missing", remedy))
    layers = {name.removeprefix(LEFT) for name in header if name.startswith(LEFT)}
    problems += [
        _problem(path, 1, f"'{name}' is the need of a layer without a time of leaving", f"add '{LEFT}{name[5:]}'")
        for name in header
        if name.startswith(NEED) and name.removeprefix(NEED) not in layers
    ]
    return problems


def _known(name: str) -> bool:
    return name in COLUMNS or name.startswith((LEFT, NEED))


def _is_number(name: str) -> bool:
    return _known(name) and name not in TEXTS


def _numbers(path: Path, lines: Sequence[int], name: str, cells: Sequence[str], problems: list[Problem]) -> Floats:
    """A column of numbers; an empty cell is NaN."""
    try:
        return np.array([cell or "nan" for cell in cells], np.float64)
    except ValueError:
        pass
    numbers = np.full(len(cells), math.nan)
    for row, cell in enumerate(cells):
        try:
            numbers[row] = float(cell or "nan")
        except ValueError:
            message = f"{name}: '{cell}' is not a number"
            problems.append(_problem(path, lines[row], message, f"write a number; {_meaning(name)}"))
    return numbers


def _meaning(name: str) -> str:
    return COLUMNS.get(name, "seconds")


def _by_service(
    path: Path, lines: Sequence[int], services: Sequence[str], needs: Mapping[str, float], problems: list[Problem]
) -> Floats:
    for name in dict.fromkeys(services):
        if name not in needs:
            line = lines[list(services).index(name)]
            problems.append(_problem(path, line, f"no isolated need of service '{name}'", "give its need"))
    return np.array([needs.get(name, 1.0) for name in services])


def _wrong(
    path: Path, lines: Sequence[int], numbers: Mapping[str, Floats], header: Sequence[str], until: float | None
) -> Iterator[Problem]:
    """What no request can be, each with its first line and how many more there are."""
    arrival, end = numbers["arrival"], numbers["end"]
    with np.errstate(invalid="ignore"):
        yield from _first(path, lines, ~np.isfinite(arrival), "arrival is not a finite number", "write seconds")
        yield from _first(path, lines, np.isinf(end), "end is infinite", "leave it empty while in flight")
        yield from _first(path, lines, end < arrival, "end lies before arrival", "use one clock for both")
        for name, (must, limit, without) in LIMITS.items():
            if name not in numbers:
                continue
            column = numbers[name]
            bad = ~(column > limit) if without else ~(column >= limit)
            bad = bad & ~np.isnan(column) if name == "held" else bad
            yield from _first(path, lines, bad, f"{name} {must}", _meaning(name), column)
        yield from _unordered(path, lines, numbers, header)
        if until is not None:
            late = np.fmax(arrival, end) > until
            yield from _first(path, lines, late, f"lies after the end of the window, {until:g} s", "choose a later end")


def _unordered(
    path: Path, lines: Sequence[int], numbers: Mapping[str, Floats], header: Sequence[str]
) -> Iterator[Problem]:
    before, last = numbers["arrival"], "arrival"
    total = np.zeros(len(before))
    for name in header:
        if name.startswith(LEFT):
            bad = numbers[name] < before
            yield from _first(path, lines, bad, f"{name} lies before {last}", "put layers in the order they are passed")
            before, last = np.where(np.isnan(numbers[name]), before, numbers[name]), name
        elif name.startswith(NEED):
            yield from _first(path, lines, ~(numbers[name] >= 0), f"{name} must be >= 0 s", "write seconds")
            total = total + numbers[name]
    if total.any() and "need" in numbers:
        bad = total > numbers["need"] * (1 + 1e-9)
        yield from _first(path, lines, bad, "the needs of the layers exceed the need", "let them add up to it")


def _first(
    path: Path, lines: Sequence[int], bad: np.ndarray[tuple[int], np.dtype[np.bool_]], message: str, remedy: str,
    column: Floats | None = None,
) -> Iterator[Problem]:  # fmt: skip
    count = int(bad.sum())
    if count:
        row = int(np.argmax(bad))
        value = f" (={float(column[row])!r})" if column is not None else ""
        more = f"; so in {count - 1:,} further rows" if count > 1 else ""
        yield _problem(path, lines[row], f"{message}{value}{more}", remedy)


def _none_completed(outcomes: Sequence[str]) -> Iterator[Excluded]:
    """Every request counts as lost where the log has another word for the good outcome; say so."""
    words = tuple(dict.fromkeys(cell.strip() for cell in outcomes if cell.strip() not in ("", IN_FLIGHT)))
    if words and COMPLETED not in words:
        shown = ", ".join(f"'{word}'" for word in words[:3]) + (" and others" if len(words) > 3 else "")
        yield Excluded("every request", f"no outcome is '{COMPLETED}', they are {shown}", f"write '{COMPLETED}'")


def _log_of_columns(
    header: Sequence[str], columns: Mapping[str, Sequence[str]], numbers: Mapping[str, Floats],
    deadline: float | None, until: float | None,
) -> RequestLog:  # fmt: skip
    end = numbers["end"].copy()
    completed = None
    if "outcome" in columns:
        outcome = np.array([cell.strip() for cell in columns["outcome"]])
        completed = outcome == COMPLETED
        end[outcome == IN_FLIGHT] = math.nan
    layers = {
        name.removeprefix(LEFT): (numbers[name], numbers.get(NEED + name.removeprefix(LEFT)))
        for name in header
        if name.startswith(LEFT)
    }
    strange = [name for name in header if not _known(name)]
    return request_log(
        numbers["arrival"], numbers["need"], end,
        completed=completed,
        deadline=numbers.get("deadline", deadline),
        attempts=numbers.get("attempts"),
        work_class=columns.get("class"),
        service=columns.get("service"),
        devices=numbers.get("devices"),
        held=numbers.get("held"),
        layers=layers,
        until=until,
        excluded=(
            *(Excluded(f"column '{name}'", "no index reads it", KNOWN) for name in strange),
            *_none_completed(columns.get("outcome", ())),
        ),
    )  # fmt: skip


def write(log: RequestLog, path: Path) -> None:
    """Write a log as `read` reads it, with the columns that it has."""
    held = {} if "held" in log.lacks else {"held": log.held}
    columns: dict[str, Sequence[object]] = {"arrival": log.arrival.tolist(), "need": log.need.tolist()}
    columns["end"] = [None if math.isnan(one) else one for one in log.end.tolist()]
    ended = ["in flight" if math.isnan(one) else "gave up" for one in log.end.tolist()]
    columns["outcome"] = [COMPLETED if well else how for well, how in zip(log.completed.tolist(), ended, strict=True)]
    for name, column in {"deadline": log.deadline, "attempts": log.attempts, "devices": log.devices, **held}.items():
        if name not in log.lacks:
            columns[name] = [None if math.isnan(one) else one for one in column.tolist()]
    columns["class"] = [log.classes[one] for one in log.work_class.tolist()]
    columns["service"] = [log.services[one] for one in log.service.tolist()]
    for layer in log.layers:
        columns[LEFT + layer.name] = [None if math.isnan(one) else one for one in layer.left.tolist()]
        columns[NEED + layer.name] = layer.need.tolist()
    written = {name: column for name, column in columns.items() if name not in log.lacks}
    tables_csv.save(path, tuple(written), zip(*written.values(), strict=True), ())


def _problem(path: Path, line: int, message: str, remedy: str) -> Problem:
    return Problem(Place(str(path), line, 1, line, 1), message, remedy)
