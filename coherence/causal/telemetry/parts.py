"""Holds what one file gave: columns of samples in the order of time, and remarks about them.

Rows out of order are sorted and told.  Two equal values at one time are one; two different ones are refused unless
`duplicates` says which is meant (last, mean): a silent choice would be a wrong value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from coherence.base.errors import InputError, Problem
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.problems import problem, quoted, refuse, several
from coherence.simulate.telemetry.contract import LossCause, Origin, Samples, Signal

DUPLICATES = ("refuse", "last", "mean")


@dataclass(frozen=True)
class TelemetryOptions:
    """How files are read.  `time`: the column of time; `time_unit`: s, ms, us, ns; `long`: the form; see `read`."""

    time: str | None = None
    time_unit: str | None = None
    long: bool | None = None
    encoding: str = "utf-8"
    duplicates: str = "refuse"


@dataclass(frozen=True)
class TelemetryPart:
    """Columns of one file: signal -> samples, every time that the file has, and how it was read.

    `kinds`: the file states which signals are counters, so that none is guessed by its name.
    """

    columns: tuple[tuple[Signal, Samples], ...]
    grid: Floats
    origin: Origin
    causes: tuple[LossCause, ...] = field(default=())
    kinds: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows of one column before they are put in order; `lines`: their lines in the file."""

    signal: Signal
    times: Floats
    values: Floats
    lines: Sequence[int] | npt.NDArray[np.int64] = field(default=())


@dataclass(frozen=True)
class Story:
    """What is told of a file beside its samples."""

    rows: int
    duplicates: str = "refuse"
    notes: Sequence[str] = ()
    left_out: Sequence[tuple[str, str, str]] = ()
    kinds: bool = False


def part(file: str, form: str, clock: str, rows: Sequence[Rows], grid: Floats, story: Story) -> TelemetryPart:
    """The columns in order of time.  Raises InputError where a signal has two values at one time."""
    columns: list[tuple[Signal, Samples]] = []
    problems: list[Problem] = []
    disorder = again = 0
    orders = _Orders()
    for rows_of in rows:
        order, falls = orders.of(rows_of.times)
        disorder = max(disorder, falls)
        samples, repeats = _once(file, rows_of, order, story.duplicates, problems)
        again = max(again, repeats)
        columns.append((rows_of.signal, samples))
    if problems:
        raise InputError(problems[:20])
    notes = list(story.notes)
    if disorder:
        notes.append(f"time goes back {several(disorder, 'time')} from one row to the next: rows were sorted")
    if again:
        choice = {"mean": "their mean", "last": "the last"}.get(story.duplicates, "one of two equal values")
        notes.append(f"{several(again, 'time')} stood twice: {choice} was kept")
    names = tuple(signal.name for signal, _ in columns)
    origin = Origin(file, form, clock, names, story.rows, tuple(notes), tuple(story.left_out))
    return TelemetryPart(tuple(columns), np.unique(grid), origin, (), story.kinds)


class _Orders:
    """The order of times; columns of a wide table share their times, and are ordered once."""

    def __init__(self) -> None:
        self.known: tuple[Floats, np.ndarray | None, int] | None = None

    def of(self, times: Floats) -> tuple[np.ndarray | None, int]:
        if self.known is None or self.known[0] is not times:
            falls = int((np.diff(times) < 0).sum())
            self.known = times, np.argsort(times, kind="stable") if falls else None, falls
        return self.known[1], self.known[2]


def _once(
    file: str, signal_rows: Rows, order: np.ndarray | None, how: str, problems: list[Problem]
) -> tuple[Samples, int]:  # fmt: skip
    times, values = (
        (signal_rows.times, signal_rows.values)
        if order is None
        else (signal_rows.times[order], signal_rows.values[order])
    )
    if len(times) < 2 or not (same := times[1:] == times[:-1]).any():
        return Samples(times, values), 0
    alike = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    if how == "refuse" and (differ := same & ~alike).any():
        index = int(np.argmax(differ)) + 1
        row = index if order is None else int(order[index])
        message = (
            f"{quoted(signal_rows.signal.name)} has two values at {times[index]:.15g} s, {values[index - 1]:g} and "
            f"{values[index]:g} ({several(int(differ.sum()), 'such time')})"
        )
        remedy = "name apart what is measured twice (a label, a column each), or say --duplicates last or mean"
        problems.append(problem(file, signal_rows.lines[row] if len(signal_rows.lines) else row + 1, message, remedy))
    repeats = int(same.sum())
    if how == "mean":
        starts = np.flatnonzero(np.append(True, ~same))
        sizes = np.diff(np.append(starts, len(values)))
        return Samples(times[starts], np.add.reduceat(values, starts) / sizes), repeats
    last = np.append(~same, True)
    return Samples(times[last], values[last]), repeats


def no_signals(file: str, left_out: Sequence[tuple[str, str, str]]) -> InputError:
    """The error of a file in which nothing is a signal."""
    why = "; ".join(f"{what}: {reason}" for what, reason, _ in left_out[:3]) or "it has a column of time alone"
    return refuse(file, 1, f"no column is a signal ({why})", "give it at least one column of numbers")


def long_rows(
    names: Sequence[str], times: Floats, values: Floats, present: np.ndarray | None, lines: Sequence[int]
) -> list[tuple[str, Floats, Floats, np.ndarray]]:
    """(name, times, values, lines) of each signal of a long table, in the order of names."""
    codes: dict[str, int] = {}
    code = np.fromiter((codes.setdefault(name, len(codes)) for name in names), np.int64, len(names))
    where = np.arange(len(names)) if present is None else np.flatnonzero(present)
    level = np.full(len(names), np.nan)
    level[where] = values
    code_there = code[where]
    order = where[np.argsort(code_there, kind="stable")]
    ends = np.cumsum(np.bincount(code_there, minlength=len(codes)))
    at = np.asarray(lines)
    pieces = np.split(order, ends[:-1]) if codes else []
    pairs = [(name, times[piece], level[piece], at[piece]) for name, piece in zip(codes, pieces, strict=True)]
    return sorted(pairs, key=lambda pair: pair[0])
