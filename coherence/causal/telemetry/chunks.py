"""Reads telemetry larger than memory as a sequence of series in the order of time, in constant memory (`chunks`).

Each chunk continues the clock of the one before; `overlap` repeats its last rows, so that lags reach over the border.
What is left of a file between two chunks is a few steps of samples.  Chunks hold what `aligned` would give, but for
three things: the step and the phase of the clock come from the first 10,000 rows, signals that never change stay in,
and NaN is taken for a missing value.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coherence.base.errors import InputError, UsageError, did_you_mean
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.telemetry.alignment import (
    MOST_TIMES,
    AlignmentSettings,
    Placing,
    aligned,
    phase_of,
    reduced,
    si_unit,
    spacing_of,
)  # fmt: skip
from coherence.causal.telemetry.batches import FileTable, RowBatch, batches, table_of
from coherence.causal.telemetry.parts import TelemetryOptions
from coherence.causal.telemetry.problems import problem, quoted, refuse, several
from coherence.causal.telemetry.quantities import stated
from coherence.causal.telemetry.resampling import Grid
from coherence.causal.telemetry.sources import Sources, counter_by_name, read
from coherence.simulate.telemetry.contract import KINDS, Samples, Signal, Telemetry

FINE = 10_000  # first times by which the clock is set


@dataclass(frozen=True)
class ChunkPlan:
    """The clock and the signals of a stream; `back`: seconds before the next time that samples are kept for."""

    signals: tuple[Signal, ...]
    spacings: tuple[float, ...]
    grid: Grid  # its count is not used
    settings: AlignmentSettings
    back: float


def chunks(  # noqa: PLR0913  (the options of `read` and of `aligned`)
    sources: Sources, *, step: float | None = None, rows: int = 1 << 16, overlap: int = 0, means: bool = False,
    sort: bool = False, memory: str = "512MB", time: str | None = None, time_unit: str | None = None,
    units: Mapping[str, str] | None = None, kinds: Mapping[str, str] | None = None,
) -> Iterator[Series]:  # fmt: skip
    """Series of at most about `rows` times each, in order.  Files that hold the same columns follow one another.

    Wide CSV and Parquet stream; long tables, folders and OTLP are read whole and cut.  `sort`: the rows are not in the
    order of time, and are sorted (on the disk); `memory`: what duckdb may hold; the rest as in `read` and `aligned`.
    Raises InputError, UsageError, MissingExtraError.
    """
    if rows < 1 or overlap < 0:
        raise UsageError(f"rows(={rows}) must be at least 1, and overlap(={overlap}) at least 0")
    if step is not None and not (np.isfinite(step) and step > 0):
        raise UsageError(f"step(={step}) must be a number of seconds > 0")
    paths = [Path(one) for one in ([sources] if isinstance(sources, (str, Path)) else sources)]
    options = TelemetryOptions(time, time_unit)
    tables = [_table(path, options) for path in paths]
    if any(table is None for table in tables):
        telemetry = read(paths, time=time, time_unit=time_unit, units=units, kinds=kinds)
        return _cut(aligned(telemetry, step=step, means=means, keep=("constant", "copies")), rows, overlap)
    known = [table for table in tables if table is not None]
    return _streamed(
        _alike(known), rows, overlap, AlignmentSettings(means), (step, sort, memory), units or {}, kinds or {}
    )


def _table(path: Path, options: TelemetryOptions) -> FileTable | None:
    if not path.exists():
        raise UsageError(f"no file or folder '{path}'")
    if path.is_dir():
        return None
    with path.open("rb") as file:
        head = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"PAR1"):
        return table_of(path, options, parquet=True)
    if head[:1] in (b"{", b"[") or path.suffix.lower() in (".pb", ".otlp", ".binpb", ".parquet", ".pq", ".json"):
        return None
    return table_of(path, options, parquet=False)


def _alike(tables: Sequence[FileTable]) -> Sequence[FileTable]:
    first = set(tables[0].names)
    wrong = [
        problem(table.path, 1, f"its columns differ from those of {tables[0].path}: {_difference(first, table)}",
                "give files with the same columns, or read them whole")
        for table in tables[1:]
        if set(table.names) != first
    ]  # fmt: skip
    if wrong:
        raise InputError(wrong)
    return tables


def _difference(first: set[str], table: FileTable) -> str:
    return ", ".join(quoted(name) for name in sorted(first.symmetric_difference(table.names))[:3])


def _cut(series: Series, rows: int, overlap: int) -> Iterator[Series]:
    for low in range(0, len(series), rows):
        first = max(0, low - overlap)
        values = series.values[first : low + rows]
        start = series.start + series.step * first
        yield Series(series.names, values, series.step, start, series.units, series.excluded if not low else ())


def _streamed(
    tables: Sequence[FileTable], rows: int, overlap: int, settings: AlignmentSettings,
    how: tuple[float | None, bool, str],
    units: Mapping[str, str], kinds: Mapping[str, str],
) -> Iterator[Series]:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="coherence-") as folder:
        stream = _ordered(tables, rows, how[1], how[2], folder)
        first = _head(stream)
        plan = _plan(tables[0], first, how[0], settings, units, kinds)
        left = tuple(Excluded(*what) for table in tables for what in table.left_out)
        tail, done = first, 0
        before = np.empty((0, len(plan.signals)))
        while tail is not None:
            more = next(stream, None)
            ready = _ready(plan, tail, last=more is None)
            for low in range(done, ready, rows):
                series = _placed(plan, tail, low, min(low + rows, ready), left)
                yield _with_overlap(series, before, overlap)
                before = np.concatenate([before, series.values])[-overlap:] if overlap else before
                left = ()
            done = max(done, ready)
            tail = _joined(plan, tail, more, done)  # type: ignore[assignment]


def _head(stream: Iterator[RowBatch]) -> RowBatch:
    """The first rows, enough to set the clock by."""
    first_batches = [next(stream)]
    while sum(len(batch.times) for batch in first_batches) < FINE and (more := next(stream, None)) is not None:
        first_batches.append(more)
    columns = tuple(np.concatenate(parts) for parts in zip(*(batch.columns for batch in first_batches), strict=True))
    return RowBatch(np.concatenate([batch.times for batch in first_batches]), columns, first_batches[0].row)


def _ordered(tables: Sequence[FileTable], rows: int, sort: bool, memory: str, folder: str) -> Iterator[RowBatch]:
    """Batches of all files, with their columns in the order of the first; each time once, and none goes back."""
    latest: tuple[float, tuple[float, ...]] | None = None
    names = tables[0].names
    for table in tables:
        place = [table.names.index(name) for name in names]
        for batch_of in batches(table, rows, sort=sort, memory=memory, folder=folder):
            batch = RowBatch(batch_of.times, tuple(batch_of.columns[index] for index in place), batch_of.row)
            batch = _rising(table, names, batch, latest)
            if len(batch.times):
                latest = float(batch.times[-1]), tuple(float(column[-1]) for column in batch.columns)
                yield batch


def _rising(
    table: FileTable, names: Sequence[str], batch: RowBatch, latest: tuple[float, tuple[float, ...]] | None
) -> RowBatch:
    """The batch without rows that repeat the one before.  Raises InputError where time goes back, or a row differs."""
    head = np.array([latest[0] if latest else -np.inf])
    steps = np.diff(np.concatenate([head, batch.times]))
    if (steps > 0).all():
        return batch
    at = int(np.argmax(steps < 0)) if (steps < 0).any() else -1
    if at >= 0:
        row = batch.row + at
        message = f"row {row:,}: time goes back by {-steps[at]:g} s, to {batch.times[at]:.15g} s"
        raise refuse(
            table.path, row + bool(table.csv), message, "sort the rows (sort=True), or give the files in order"
        )
    again = steps == 0
    for index, column in enumerate(batch.columns):
        past = np.concatenate([[latest[1][index] if latest else np.nan], column[:-1]])
        differ = again & ~((column == past) | (np.isnan(column) & np.isnan(past)))
        if differ.any():
            row = int(np.argmax(differ))
            message = (
                f"{quoted(names[index])} has two values at {batch.times[row]:.15g} s, {past[row]:g} and {column[row]:g}"
            )
            line = batch.row + row + bool(table.csv)
            raise refuse(
                table.path, line, message, "name apart what is measured twice, or read it whole with --duplicates last"
            )
    return RowBatch(batch.times[~again], tuple(column[~again] for column in batch.columns), batch.row)


def _plan(
    table: FileTable, first: RowBatch, step: float | None, settings: AlignmentSettings, units: Mapping[str, str],
    kinds: Mapping[str, str],
) -> ChunkPlan:  # fmt: skip
    if len(first.times) < 2 and step is None:
        raise refuse(
            table.path, 2, "there is 1 time in all, and a step needs two", "give more samples, or state the step"
        )
    _known(table, units, kinds)
    signals, spacings = [], []
    whole = spacing_of(first.times) if len(first.times) > 1 else float(step or 1.0)
    for name, column in zip(table.names, first.columns, strict=True):
        there = ~np.isnan(column)
        kind = kinds.get(name) or ("counter" if counter_by_name(name, column[there]) else "gauge")
        signals.append(Signal(name, units.get(name, "1"), kind, str(table.path)))
        spacings.append(whole if there.all() or there.sum() < 2 else spacing_of(first.times[there]))
    chosen = step or sorted(spacings)[len(spacings) // 2]
    low = float(first.times[0])
    alike = max(spacings, key=lambda spacing: -abs(spacing / chosen - 1))
    low += phase_of(first.times[:FINE], chosen, low) if abs(alike / chosen - 1) < 0.01 else 0.0
    return ChunkPlan(tuple(signals), tuple(spacings), Grid(low, chosen, 0), settings, 2.5 * max(chosen, *spacings))


def _known(table: FileTable, units: Mapping[str, str], kinds: Mapping[str, str]) -> None:
    for name in (*units, *kinds):
        if name not in table.names:
            raise UsageError(f"telemetry has no signal '{name}': {did_you_mean(name, table.names)}")
    for name, unit in units.items():
        stated(unit, name, None)
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise UsageError(f"kind(={kind}) of {name} must be counter or gauge")


def _ready(plan: ChunkPlan, tail: RowBatch, *, last: bool) -> int:
    """How many times of the clock no later sample can change."""
    steps = (float(tail.times[-1]) - plan.grid.start) / plan.grid.step
    count = int(np.floor(steps + 0.5)) + 1 if last else int(np.floor(steps - 0.5))
    if count > MOST_TIMES * 100:
        raise UsageError(
            f"the clock would have {several(count, 'time')}: state a longer step, or look for a stray time"
        )
    return max(count, 1 if last else 0)


def _placed(plan: ChunkPlan, tail: RowBatch, low: int, high: int, left: tuple[Excluded, ...]) -> Series:
    """Times low .. high - 1 of the clock; one before them is placed too, for rates."""
    early = 1 if low else 0
    step = plan.grid.step
    grid = Grid(plan.grid.start + step * (low - early), step, high - low + early)
    on = Placing(grid, plan.settings)
    values = np.empty((grid.count, len(plan.signals)), order="F")
    for index, (signal, column) in enumerate(zip(plan.signals, tail.columns, strict=True)):
        there = ~np.isnan(column)
        samples = Samples(tail.times, column) if there.all() else Samples(tail.times[there], column[there])
        values[:, index] = on.place(signal, samples, plan.spacings[index])
    telemetry = Telemetry(plan.signals, {}, tail.times)
    units = {signal.name: si_unit(signal) for signal in plan.signals}
    start = plan.grid.start + step * low
    return reduced(
        telemetry, values[early:], Grid(start, step, high - low), units, list(left), ("constant", "copies", "empty")
    )


def _with_overlap(series: Series, before: Floats, overlap: int) -> Series:
    if not overlap or not len(before):
        return series
    values = np.concatenate([before, series.values])
    start = series.start - series.step * len(before)
    return Series(series.names, values, series.step, start, series.units, series.excluded)


def _joined(plan: ChunkPlan, tail: RowBatch, more: RowBatch | None, done: int) -> RowBatch | None:
    """What is still needed of the rows so far, and the next ones."""
    if more is None:
        return None
    edge = plan.grid.start + plan.grid.step * done - plan.back
    first = int(np.searchsorted(tail.times, edge))
    columns = tuple(np.concatenate([a[first:], b]) for a, b in zip(tail.columns, more.columns, strict=True))
    return RowBatch(np.concatenate([tail.times[first:], more.times]), columns, more.row)
