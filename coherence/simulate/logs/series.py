"""Converts tables into typed series: what an autoscaler showed, and what each pod was measured to use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import Problem
from coherence.simulate.logs.tables import SnapshotRow, SnapshotTable

_MILLI = re.compile(r"([0-9]{1,9})m|([0-9]{1,6})")


@dataclass(frozen=True)
class Shown:
    """One line of `kubectl get hpa`.  `share`: the reading (None: <unknown>) and `setpoint`, of the request."""

    time: int
    name: str
    target: str  # the Deployment that it scales
    share: Fraction | None
    setpoint: Fraction
    least: int
    most: int
    replicas: int


@dataclass(frozen=True)
class PodReading:
    """What metrics-server served for a pod: cores in use, from `time` until the next one."""

    time: int
    cores: Fraction


@dataclass(frozen=True)
class RecordedSeries:
    """Lines of one kind in time order, and the lines that could not be read."""

    shown: tuple[Shown, ...] = ()
    readings: tuple[tuple[str, tuple[PodReading, ...]], ...] = ()  # pod -> its readings, in order of first sight
    problems: tuple[Problem, ...] = ()


def autoscaler(table: SnapshotTable) -> RecordedSeries:
    """`kubectl get hpa`: NAME, REFERENCE, TARGETS, MINPODS, MAXPODS, REPLICAS, AGE."""
    rows: list[Shown] = []
    problems = list(table.problems)
    for snapshot in table.snapshots:
        for row in snapshot.rows:
            try:
                rows.append(_shown(snapshot.time, row))
            except (ValueError, IndexError):
                problems.append(_unread(table, row, "NAME, REFERENCE, 100%/50%, 1, 6, 4, 2m3s"))
    return RecordedSeries(shown=tuple(rows), problems=tuple(problems))


def _shown(time: int, row: SnapshotRow) -> Shown:
    name, reference, targets, least, most, replicas = row.cells[:6]
    share, _, setpoint = targets.partition("/")
    measured = None if share == "<unknown>" else _percent(share)
    target = reference.rpartition("/")[2]
    return Shown(time, name, target, measured, _percent(setpoint), int(least), int(most), int(replicas))


def _percent(text: str) -> Fraction:
    if not text.endswith("%"):
        raise ValueError(text)
    return Fraction(int(text[:-1]), 100)


def pods(table: SnapshotTable) -> RecordedSeries:
    """`kubectl top pod`: NAME, CPU(cores), MEMORY(bytes)."""
    by_pod: dict[str, list[PodReading]] = {}
    problems = list(table.problems)
    for snapshot in table.snapshots:
        for row in snapshot.rows:
            cores = _cores(row.cells[1]) if len(row.cells) > 1 else None
            if cores is None:
                problems.append(_unread(table, row, "a pod, then its CPU such as 101m"))
            else:
                by_pod.setdefault(row.cells[0], []).append(PodReading(snapshot.time, cores))
    return RecordedSeries(readings=tuple((pod, tuple(seen)) for pod, seen in by_pod.items()), problems=tuple(problems))


def _cores(text: str) -> Fraction | None:
    match = _MILLI.fullmatch(text)
    if not match:
        return None
    return Fraction(int(match[1]), 1000) if match[1] else Fraction(int(match[2]))


def _unread(table: SnapshotTable, row: SnapshotRow, expected: str) -> Problem:
    return Problem(table.place(row), f"cannot be read: {','.join(row.cells)[:80]}", f"expected {expected}")
