"""Makes the runs of a study, one for each seed: here, in other processes or on a cluster, and keeps them in a file.

What a run shows depends on the design, its setting and its seed alone, and runs are joined in the order of their seeds:
the result is the same bit for bit whoever makes them, and where work that was stopped goes on from its file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.jobs import HERE, WorkerPool, finished, in_order
from coherence.base.kept_results import KeptResults
from coherence.base.places import Place
from coherence.base.reads import note_places
from coherence.base.version import VERSION
from coherence.simulate.study.latencies import Array, Latencies
from coherence.simulate.study.promises import ConditionNotes
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting
from coherence.simulate.study.start_up import StationLoad

MOST_WORDS = 10**8  # of one table of latencies in a file
TABLES = ("counts", "sums", "bin_sums", "failed", "arrived")


@dataclass(frozen=True)
class SeedResult:
    """What the run of one seed shows, what it notes of promises, and which values of the design it read."""

    record: RunRecord
    notes: Mapping[str, ConditionNotes]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Labour:
    """Who makes runs, and where they are kept.  `sources`: the texts of the design; `design`: their SHA-256."""

    workers: WorkerPool = HERE
    store: KeptRuns | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    design: str = ""


ALONE = Labour()


class KeptRuns:
    """Runs in a file, by design, seed and times."""

    def __init__(self, file: Path, setting: Setting) -> None:
        head = {"coherence_simulate": 1, "version": VERSION, "setting_sha256": _digest(setting)}
        self._file = KeptResults(file, head, "setting of runs")
        self._rows = {_key(row): row for row in self._file.rows}

    def get(self, design: str, setting: Setting) -> SeedResult | None:
        """Returns the run of a setting with one seed; None where it is not there, or damaged."""
        row = self._rows.get(_key(_named(design, setting)))
        return None if row is None else result_from(row)

    def has(self, design: str, setting: Setting) -> bool:
        """Returns whether the run of a setting with one seed is there, whole."""
        return self.get(design, setting) is not None

    def add(self, design: str, setting: Setting, result: SeedResult) -> None:
        """Appends a run."""
        self._file.add({**_named(design, setting), **as_json(result)})


def _named(design: str, setting: Setting) -> dict[str, Any]:
    return {"design": design, "until": setting.until, "warmup": setting.warmup, "seed": setting.seeds[0]}


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(repr(row.get(name)) for name in ("design", "until", "warmup", "seed"))


def _digest(setting: Setting) -> str:
    """Returns the SHA-256 of what a run depends on beside design, seed and times."""
    values = sorted((name, str(value)) for name, value in setting.values.items())
    traces = sorted((name, trace.digest) for name, trace in setting.trace.items())
    return hashlib.sha256(repr((values, traces, setting.pauses, setting.live, setting.events)).encode()).hexdigest()


def seed_results(
    job: Callable[[Setting], SeedResult], setting: Setting, labour: Labour, ended: Callable[[], None]
) -> Iterator[SeedResult]:
    """Yields the runs of a setting in the order of its seeds; `ended` is told of each that is there."""
    single = [replace(setting.alone(seed), draws=setting.draws and not turn) for turn, seed in enumerate(setting.seeds)]
    store = labour.store
    known = (
        {}
        if store is None
        else {number: store.get(labour.design, alone) for number, alone in enumerate(single) if not alone.draws}
    )  # no file has the course of a run
    there = {number: result for number, result in known.items() if result is not None}
    missing = [number for number in range(len(single)) if number not in there]

    def every() -> Iterator[tuple[int, SeedResult]]:
        yield from there.items()
        for turn, result in finished(job, [single[number] for number in missing], labour.workers):
            alone = single[missing[turn]]
            if store is not None and not (alone.draws and store.has(labour.design, alone)):
                store.add(labour.design, alone, result)
            yield missing[turn], result

    for result in in_order(_counted(every(), ended)):
        note_places(result.places)
        yield result


def _counted(results: Iterator[tuple[int, SeedResult]], ended: Callable[[], None]) -> Iterator[tuple[int, SeedResult]]:
    for numbered in results:
        ended()
        yield numbered


def as_json(result: SeedResult) -> dict[str, Any]:
    """Returns a run as data for JSON, from which `result_from` makes the same bits."""
    record = result.record
    return {
        "sample": [[*key, value] for key, value in record.sample.items()],
        "latencies": {name: _latencies(one) for name, one in record.latencies.items()},
        "served": [[name, kind, _latencies(one)] for (name, kind), one in record.served.items()],
        "loads": {name: list(asdict(load).values()) for name, load in record.loads.items()},
        "stopped": record.stopped,
        "notes": {name: _notes(one) for name, one in result.notes.items()},
        "places": [list(asdict(place).values()) for place in result.places],
    }


def _latencies(of: Latencies) -> dict[str, Any]:
    return {"first": of.first, "edges": of.edges.tolist(), **{name: _sparse(getattr(of, name)) for name in TABLES}}


def _sparse(table: Array) -> dict[str, Any]:
    flat = table.reshape(-1)
    where = np.flatnonzero(flat)
    return {"shape": table.shape, "type": table.dtype.str, "at": where.tolist(), "is": flat[where].tolist()}


def _notes(of: ConditionNotes) -> dict[str, Any]:
    moments = {name: _moment(getattr(of, name)) for name in ("broken", "late")}
    latest = None if of.latest is None else str(of.latest)
    fields = {name: getattr(of, name) for name in ("values", "reached", "open", "after", "at_latest", "rates")}
    return {**fields, "latest": latest, **moments}


def _moment(moment: tuple[int | None, Fraction] | None) -> list[Any] | None:
    return None if moment is None else [moment[0], str(moment[1])]


def result_from(row: Mapping[str, Any]) -> SeedResult | None:
    """Returns a run from JSON; None where it was damaged, and is made again."""
    try:
        record = RunRecord(
            {(str(of), str(what), str(unit)): float(value) for of, what, unit, value in row["sample"]},
            {name: _latencies_from(one) for name, one in row["latencies"].items()},
            {name: _load_from(*one) for name, one in row["loads"].items()},
            {(str(name), str(kind)): _latencies_from(one) for name, kind, one in row["served"]},
            stopped=str(row["stopped"]),
        )
        notes = {name: _notes_from(one) for name, one in row["notes"].items()}
        return SeedResult(record, notes, tuple(_place_from(*one) for one in row["places"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError):
        return None


def _load_from(busy: float, had: float, time: float, most: int) -> StationLoad:
    return StationLoad(float(busy), float(had), float(time), int(most))


def _place_from(file: str, line: int, column: int, end_line: int, end_column: int, label: str) -> Place:
    return Place(str(file), int(line), int(column), int(end_line), int(end_column), str(label))


def _latencies_from(row: Mapping[str, Any]) -> Latencies:
    edges = np.array(row["edges"], dtype=np.float64)
    tables = {name: _table_from(row[name]) for name in TABLES}
    windows, width = len(edges) - 1, tables["counts"].shape[1]
    if {name: table.shape for name, table in tables.items()} != {
        "counts": (windows, width), "sums": (windows,), "bin_sums": (width,), "failed": (windows,),
        "arrived": (windows,),
    }:  # fmt: skip
        raise ValueError("tables of different sizes")
    return Latencies(edges, int(row["first"]), **tables)


def _table_from(row: Mapping[str, Any]) -> Array:
    shape = tuple(int(size) for size in row["shape"])
    if row["type"] not in ("<i8", "<f8") or not all(size >= 0 for size in shape) or np.prod(shape) > MOST_WORDS:
        raise ValueError("no table")
    flat = np.zeros(int(np.prod(shape)), dtype=row["type"])
    flat[np.array(row["at"], dtype=np.int64)] = np.array(row["is"], dtype=row["type"])
    return flat.reshape(shape)


def _notes_from(row: Mapping[str, Any]) -> ConditionNotes:
    broken, late = (_moment_from(row[name]) for name in ("broken", "late"))
    latest = None if row["latest"] is None else Fraction(row["latest"])
    return ConditionNotes(
        broken, str(row["values"]), int(row["reached"]), str(row["open"]), latest, late, bool(row["after"]),
        bool(row["at_latest"]), bool(row["rates"]),
    )  # fmt: skip


def _moment_from(moment: Sequence[Any] | None) -> tuple[int | None, Fraction] | None:
    if moment is None:
        return None
    seed, time = moment
    return (None if seed is None else int(seed)), Fraction(time)
