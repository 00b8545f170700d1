"""Root-cause data of the PetShop benchmark: a graph of calls, metrics of each service, labelled incidents.

A scenario is a folder: graph.csv (adjacency, caller to callee), noissue/metrics.csv (normal operation), and incidents
<split>/<issue>/{metrics.csv, target.json}.  A metrics file has three header rows (service, metric, statistic), a row
that names its index, and one row for each time (epoch seconds).  The label is read only for scoring, never by a
ranking.  SOURCE: Hardt et al., arXiv 2311.04806.

Costs that callers contain: time of a service in each request of the target = mean latency * requests / requests of
the target, and failures = (100 - availability) / 100 * requests / requests of the target.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.csv_records import csv_records
from coherence.base.errors import InputError, Problem, line_error
from coherence.base.places import Place
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.ranking.rank import ALPHA, Ranking, rank
from coherence.simulate.telemetry.bounded_files import whole_text

COSTS = {"latency": ("Average", "s"), "availability": ("Average", "failures")}
MEASURED_BY_CALLERS = ("_remote", "Database::SQL")  # names of segments that stand for a call, not for a service


@dataclass(frozen=True)
class Metrics:
    """`values[t, i]` of columns[i] = (service, metric, statistic) at times[t] (epoch seconds); NaN: not measured."""

    file: str
    times: Floats
    columns: tuple[tuple[str, str, str], ...]
    values: Floats

    def column(self, *key: str) -> Floats | None:
        """One column, or nothing where the file has none."""
        return self.values[:, self.columns.index(key)] if key in self.columns else None

    @property
    def services(self) -> tuple[str, ...]:
        """Every service that has a column."""
        return tuple(dict.fromkeys(service for service, _, _ in self.columns))


@dataclass(frozen=True)
class Issue:
    """An incident: what was seen (`service`, `metric`), when, and the labelled root cause, for scoring alone."""

    name: str
    metrics: Metrics
    service: str
    metric: str
    statistic: str
    time: float
    label: str


@dataclass(frozen=True)
class Scenario:
    """`calls`: caller -> callees.  `normal` is missing where the folder has no noissue/metrics.csv."""

    name: str
    calls: Mapping[str, tuple[str, ...]]
    normal: Metrics | None
    issues: tuple[Issue, ...]


def scenario(folder: Path) -> Scenario:
    """Read one scenario.  Raises InputError with the file, the line, the value and the remedy."""
    if not (folder / "graph.csv").is_file():
        raise line_error(folder / "graph.csv", 1, "no graph.csv here", "give the folder of one scenario")
    normal = folder / "noissue" / "metrics.csv"
    targets = sorted(folder.glob("*/*/target.json"), key=lambda path: (path.parts[-3], _number(path.parts[-2])))
    return Scenario(
        folder.name,
        calls(folder / "graph.csv"),
        metrics(normal) if normal.is_file() else None,
        tuple(issue(path.parent) for path in targets),
    )


def calls(path: Path) -> dict[str, tuple[str, ...]]:
    """caller -> callees of an adjacency matrix (influence runs the other way: from callee to caller)."""
    lines = _lines(path)
    names = lines[0][1:]
    if not names or len(set(names)) < len(names):
        raise line_error(path, 1, "the first row must name every service once", "write: ,service 1,service 2,...")
    callees: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(names) + 1:
            raise line_error(path, number, f"{len(line) - 1} cells for {len(names)} services", "give one cell for each")
        row = [_float(path, number, cell) for cell in line[1:]]
        callees[line[0]] = tuple(name for name, cell in zip(names, row, strict=True) if cell)
    unknown = sorted(set(names) - set(callees))
    if unknown:
        raise line_error(
            path, len(lines), f"no row for '{unknown[0]}'", "give one row for each service of the first row"
        )
    return callees


def metrics(path: Path) -> Metrics:
    """Read a metrics file; an empty cell is a value that was not measured."""
    lines = _lines(path)
    if len(lines) < 5 or len({len(line) for line in lines[:3]}) != 1:
        raise line_error(path, 1, "three header rows of one length, an index row and data are needed", _HEADERS)
    columns = tuple(zip(*(line[1:] for line in lines[:3]), strict=True))
    if not columns or len(set(columns)) < len(columns):
        twice = max(columns, key=columns.count) if columns else ()
        raise line_error(path, 1, f"two columns are {'/'.join(twice)}" if twice else "no columns", _HEADERS)
    body = [line for line in lines[3:] if any(cell.strip() for cell in line[1:])]
    start = len(lines) - len(body) + 1
    for number, line in enumerate(body, start=start):
        if len(line) != len(columns) + 1:
            raise line_error(
                path, number, f"{len(line) - 1} cells for {len(columns)} columns", "give one cell for each"
            )
    table = np.array([[_float(path, n, cell) for cell in line] for n, line in enumerate(body, start=start)])
    table = table.reshape(len(body), len(columns) + 1)
    if len(table) == 0 or not (np.diff(table[:, 0]) > 0).all() or not np.isfinite(table[:, 0]).all():
        late = int(np.argmin(np.diff(table[:, 0]) > 0)) + 1 if len(table) > 1 else 0
        raise line_error(path, start + late, "times must be epoch seconds that increase", "sort the rows by time")
    return Metrics(str(path), table[:, 0], columns, table[:, 1:])


_HEADERS = "rows: microservice,... / metric,... / statistic,... / unix_timestamp / one row for each time"


def issue(folder: Path) -> Issue:
    """Read one incident."""
    path = folder / "target.json"
    try:
        stated: Any = json.loads(whole_text(path))
        target, label = stated["target"], stated["root_cause"]["node"]
        wanted = [str(target[key]) for key in ("node", "metric", "agg")]
        time = float(target["timestamp"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        need = "write {target: {node, metric, agg, timestamp}, root_cause: {node}}"
        raise line_error(path, 1, f"not an incident: {error!r}", need) from error
    name = "/".join(folder.parts[-3:])
    return Issue(name, metrics(folder / "metrics.csv"), wanted[0], wanted[1], wanted[2], time, str(label))


def costs(table: Metrics, target: str, metric: str, services: Sequence[str]) -> Series:
    """What each service costs a request of the target: seconds, or failures.  No request costs nothing."""
    if metric not in COSTS:
        raise InputError([Problem(Place(table.file, 2, 1, 2, 1), f"no cost for '{metric}'", f"known: {list(COSTS)}")])
    statistic, unit = COSTS[metric]
    base = table.column(target, "requests", "Sum")
    if base is None or table.column(target, metric, statistic) is None:
        here = Place(table.file, 1, 1, 1, 1)
        need = f"columns ({target}, requests, Sum) and ({target}, {metric}, {statistic})"
        raise InputError([Problem(here, f"the target '{target}' is not measured", f"needed: {need}")])
    measured: list[str] = []
    columns: list[Floats] = []
    excluded: list[Excluded] = []
    for service in services:
        number, level = table.column(service, "requests", "Sum"), table.column(service, metric, statistic)
        if number is None or level is None:
            excluded.append(Excluded(service, f"has no {metric} in {Path(table.file).name}", "measure it"))
            continue
        each = level if metric == "latency" else (100.0 - level) / 100.0
        count = np.nan_to_num(number, nan=0.0)
        measured.append(service)
        columns.append(np.where(count > 0, each * count, 0.0) / np.where(base > 0, base, np.nan))
    step = float(np.median(np.diff(table.times))) if len(table.times) > 1 else 300.0
    values = np.column_stack(columns) if columns else np.empty((len(table.times), 0))
    return Series(tuple(measured), values, step, float(table.times[0]), dict.fromkeys(measured, unit), tuple(excluded))


def reached(graph: Mapping[str, tuple[str, ...]], target: str) -> tuple[str, ...]:
    """The target and all that it calls, directly or not, nearest first."""
    services = [target]
    for name in services:
        services += [callee for callee in graph.get(name, ()) if callee not in services]
    return tuple(services)


def measured_by(graph: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Calls that only their caller measures: segments of remote addresses and statements with one caller."""
    callers: dict[str, list[str]] = {}
    for caller, callees in graph.items():
        for callee in callees:
            callers.setdefault(callee, []).append(caller)
    return {
        callee: by[0]
        for callee, by in callers.items()
        if len(by) == 1 and not graph.get(callee) and callee.endswith(MEASURED_BY_CALLERS)
    }


def rank_issue(
    graph: Mapping[str, tuple[str, ...]],
    normal: Metrics,
    seen: Metrics,
    service: str,
    metric: str,
    *,
    alpha: float = ALPHA,
) -> Ranking:
    """Rank the services that may have caused what was seen at a service."""
    services = reached(graph, service)
    before, now = (costs(one, service, metric, services) for one in (normal, seen))
    return rank(before, now, graph, service, calls=True, measured_by=measured_by(graph), alpha=alpha)


def _lines(path: Path) -> list[list[str]]:
    lines = [fields for _, fields in csv_records(path) if fields]
    if not lines:
        raise line_error(path, 1, "is empty", "give a CSV file with its header")
    return lines


def _float(path: Path, line: int, cell: str) -> float:
    if not cell.strip():
        return math.nan
    try:
        return float(cell)
    except ValueError:
        raise line_error(
            path, line, f"{cell!r} is not a number", "leave a cell empty where nothing was measured"
        ) from None


def _number(name: str) -> tuple[str, int]:
    head, _, tail = name.rpartition("_")
    return (head, int(tail)) if tail.isdigit() else (name, 0)


def scenarios(folder: Path) -> Iterator[Scenario]:
    """Every scenario of a data set, by name."""
    yield from (scenario(path.parent) for path in sorted(folder.glob("*/graph.csv")))
