"""Reads files and folders of telemetry, joined on one clock; the format is found out by the content (`read`).

A folder is read with all that is below it.  Two files with a signal of one name are joined where one continues the
other, and kept apart as `file.signal` where they run at the same time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.causal.telemetry.csv_files import read_csv
from coherence.causal.telemetry.joining import joined
from coherence.causal.telemetry.otlp_json import read_json
from coherence.causal.telemetry.otlp_protobuf import read_protobuf
from coherence.causal.telemetry.parquet_files import read_parquet
from coherence.causal.telemetry.parts import DUPLICATES, TelemetryOptions, TelemetryPart
from coherence.causal.telemetry.problems import problem, quoted, refuse, several
from coherence.causal.telemetry.quantities import stated
from coherence.simulate.telemetry import files as telemetry_files
from coherence.simulate.telemetry.contract import KINDS, Origin, Signal, Telemetry

Sources: TypeAlias = str | Path | Iterable[str | Path]

ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".json", ".jsonl", ".ndjson", ".pb", ".otlp", ".binpb")
OURS = [(f"telemetry{'_wide' if wide else ''}.{end}", wide, end == "parquet") for wide in (False, True)
        for end in ("csv", "parquet")]  # fmt: skip
FACTS = ("signals.csv", "causes.csv", "signals.parquet", "causes.parquet")
_COUNTER = re.compile(r"_(total|bucket|count|sum)(\{.*)?$", re.DOTALL)


@dataclass(frozen=True)
class TelemetryFacts:
    """What the user states beside the files: units and kinds by the name of the signal."""

    units: Mapping[str, str]
    kinds: Mapping[str, str]


def read(  # noqa: PLR0913  (one front door for all that a file may need said)
    sources: Sources, *, time: str | None = None, time_unit: str | None = None, long: bool | None = None,
    encoding: str = "utf-8", duplicates: str = "refuse", units: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Telemetry:  # fmt: skip
    """Telemetry of files and folders: CSV, Parquet, OTLP (JSON lines, protobuf).  `origins` says how each was read.

    `time`: the column of time where the header does not tell; `time_unit`: s, ms, us, ns; `long`: the form;
    `duplicates`: refuse, last or mean where a signal has two values at one time; `units` and `kinds` (counter, gauge)
    are by signal.  Counters are known by their names (`_total`, `_bucket`, `_count`, `_sum`) too.  Times are seconds,
    since 1970 or from a start as the files have them.  Raises InputError with every problem of every file, UsageError,
    MissingExtraError.
    """
    if duplicates not in DUPLICATES:
        raise UsageError(f"duplicates(={duplicates}) must be one of {', '.join(DUPLICATES)}")
    if time_unit not in (None, "s", "ms", "us", "ns"):
        raise UsageError(f"time_unit(={time_unit}) must be s, ms, us or ns")
    options = TelemetryOptions(time, time_unit, long, encoding, duplicates)
    parts, problems = [], []
    for source in [sources] if isinstance(sources, (str, Path)) else sources:
        parts_of, wrong = _of_source(Path(source), options)
        parts += parts_of
        problems += wrong
    if problems:
        raise InputError(problems)
    if not parts:
        raise UsageError("no telemetry: give a file or a folder")
    return joined(
        [_with(one, TelemetryFacts(units or {}, kinds or {})) for one in _checked(parts, units or {}, kinds or {})]
    )


def _of_source(path: Path, options: TelemetryOptions) -> tuple[list[TelemetryPart], list[Problem]]:
    if not path.exists():
        raise UsageError(f"no file or folder '{path}': {_near(path)}")
    if path.is_dir():
        return _folder(path, options)
    try:
        return [one_file(path, options)], []
    except InputError as error:
        return [], list(error.problems)


def _near(path: Path) -> str:
    there = [str(other) for other in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(str(path), there) or "give the path of a file or a folder"


def _folder(folder: Path, options: TelemetryOptions) -> tuple[list[TelemetryPart], list[Problem]]:
    for name, wide, parquet in OURS:
        if (folder / name).exists() and (folder / f"signals.{'parquet' if parquet else 'csv'}").exists():
            return [_ours(folder, wide, parquet)], []
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not _hidden(path, folder))
    chosen = [path for path in files if path.suffix.lower() in ENDINGS and path.name not in FACTS]
    if not chosen:
        contents = f"its files are {', '.join(path.name for path in files[:6])}" if files else "it is empty"
        remedy = f"files of telemetry end in {', '.join(ENDINGS)}"
        return [], [problem(folder, 1, f"there is no telemetry in the folder ({contents})", remedy)]
    parts, problems = [], []
    for path in chosen:
        parts_of, wrong = _of_source(path, options)
        parts += parts_of
        problems += wrong
    others = [path for path in files if path not in chosen and path.name not in FACTS]
    if parts and others:
        left = tuple(
            (str(path), f"{quoted(path.suffix)} is no ending of telemetry", "name the file itself") for path in others
        )
        first = parts[0]
        parts[0] = TelemetryPart(first.columns, first.grid, _but(first.origin, first.origin.notes, left))
    return _stated_in(folder, parts), problems


def _hidden(path: Path, folder: Path) -> bool:
    return any(piece.startswith(".") for piece in path.relative_to(folder).parts)


def _but(origin: Origin, notes: Iterable[str], left: tuple[tuple[str, str, str], ...] = ()) -> Origin:
    return Origin(
        origin.name, origin.form, origin.clock, origin.signals, origin.rows, tuple(notes), (*origin.left_out, *left)
    )


def _ours(folder: Path, wide: bool, parquet: bool) -> TelemetryPart:
    telemetry = telemetry_files.read(folder, wide=wide, parquet=parquet)
    name = str(folder / telemetry_files._paths(folder, wide=wide, parquet=parquet)[0].name)  # noqa: SLF001
    columns = tuple((signal, telemetry[signal.name]) for signal in telemetry.signals)
    rows = len(telemetry.grid) if wide else sum(len(one) for _, one in columns)
    form = f"{'wide' if wide else 'long'} {'Parquet' if parquet else 'CSV'} with its table of signals"
    names = tuple(signal.name for signal in telemetry.signals)
    return TelemetryPart(
        columns,
        telemetry.grid,
        Origin(name, form, "column 'time': seconds from a start", names, rows),
        telemetry.causes,
    )


def _stated_in(folder: Path, parts: list[TelemetryPart]) -> list[TelemetryPart]:
    """Units and kinds of a table of signals that stands beside files of the user's own."""
    path = folder / "signals.csv"
    if not path.exists():
        return parts
    known: dict[str, tuple[str, str]] = {}
    for line, row in telemetry_files._texts(path, telemetry_files.SIGNALS[:3]):  # noqa: SLF001
        stated(row[1], path, line)
        if row[2] not in ("", *KINDS):
            raise refuse(path, line, f"{quoted(row[2])} is no kind of signal", "write counter or gauge")
        known[row[0]] = row[1], row[2]
    facts = TelemetryFacts({n: u for n, (u, _) in known.items() if u}, {n: k for n, (_, k) in known.items() if k})
    return [_with(part, facts, guess=False) for part in parts]


def one_file(path: Path, options: TelemetryOptions) -> TelemetryPart:
    """The telemetry of one file, by its first bytes.  Raises InputError."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 12)
    except OSError as error:
        raise refuse(path, 1, f"cannot be read: {error.strerror}", "give a file that can be read") from None
    if head.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq"):
        if not os.path.getsize(path):  # noqa: PTH202
            raise refuse(path, 1, "the file is empty", "write it anew")
        return read_parquet(path, options)
    if path.suffix.lower() in (".pb", ".otlp", ".binpb") and head.lstrip()[:1] != b"{":
        return read_protobuf(path, options)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") or path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        return read_json(path, options)
    return read_csv(path, options)


def _checked(parts: list[TelemetryPart], *stated_by_user: Mapping[str, str]) -> list[TelemetryPart]:
    known = {signal.name for part in parts for signal, _ in part.columns}
    for given in stated_by_user:
        for name in given:
            if name not in known:
                raise UsageError(f"telemetry has no signal '{name}': {did_you_mean(name, known)}")
    for name, unit in stated_by_user[0].items():
        stated(unit, name, None)
    for name, kind in stated_by_user[1].items():
        if kind not in KINDS:
            raise UsageError(f"kind(={kind}) of {name} must be counter or gauge")
    return parts


def _with(part: TelemetryPart, facts: TelemetryFacts, *, guess: bool = True) -> TelemetryPart:
    """The part with stated units and kinds, and counters known by their names."""
    columns, by_name = [], []
    for signal, samples in part.columns:
        kind = facts.kinds.get(signal.name)
        if kind is None and guess and not part.kinds and counter_by_name(signal.name, samples.values):
            kind = "counter"
            by_name.append(signal.name)
        unit = facts.units.get(signal.name, signal.unit)
        same = unit == signal.unit and kind in (None, signal.kind)
        columns.append((signal if same else Signal(signal.name, unit, kind or signal.kind, signal.source), samples))
    notes = list(part.origin.notes)
    if by_name:
        shown = ", ".join(by_name[:3]) + (", ..." if len(by_name) > 3 else "")
        notes.append(f"{several(len(by_name), 'signal')} read as counters by their names: {shown}")
    kinds = part.kinds or bool(facts.kinds and not guess)
    return TelemetryPart(tuple(columns), part.grid, _but(part.origin, notes), part.causes, kinds)


def counter_by_name(name: str, values: np.ndarray) -> bool:
    """Named like a counter, and falling in at most one step of ten."""
    if _COUNTER.search(name) is None:
        return False
    steps = np.diff(values)
    return not len(steps) or bool((steps < 0).mean() <= 0.1)
