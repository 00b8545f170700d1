"""Gathers what a run leaves behind: finished requests, samples and the trace, from the tables of the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coherence.simulate.requests import events_layout as at
from coherence.simulate.requests.events_layout import Ints
from coherence.simulate.requests.events_world import EventWorld
from coherence.simulate.requests.program import Program

Array = NDArray[Any]


class Kept:
    """Blocks of records that were taken out of the memory of a run.

    `sink`, if there is one, is given the columns of finished requests in place of their being kept.
    """

    def __init__(self, world: EventWorld, sink: Callable[[tuple[Array, ...]], None] | None = None) -> None:
        self.world, self.sink = world, sink
        n = world.memory.n
        self.sampled_before = int(n[at.SAMPLES_BEFORE] - n[at.SAMPLED])
        self.finished: list[tuple[Array, ...]] = [_columns(np.zeros((0, at.F_WIDTH), dtype=np.int64))]
        self.sampled: list[Array] = [np.zeros((0, int(n[at.COLUMNS])), dtype=np.int64)]
        self.traced: list[Array] = [np.zeros((0, at.L_WIDTH), dtype=np.int64)]

    def fresh(self, since: float) -> Kept:
        """Returns a new start that keeps only the samples since a time."""
        records = Kept(self.world, self.sink)
        _, rows = self.samples(since)
        records.sampled.append(rows)
        records.sampled_before -= len(rows)
        return records

    def empty(self) -> None:
        """Take the records out of the memory."""
        (self.sink or self.finished.append)(_columns(self._taken(at.FINISHED_AT, at.FINISHED, at.F_WIDTH)))
        self.sampled.append(self._taken(at.SAMPLES_AT, at.SAMPLED, int(self.world.memory.n[at.COLUMNS])).copy())
        self.traced.append(self._taken(at.TRACED_AT, at.TRACED, at.L_WIDTH).copy())

    def _taken(self, register: int, count: int, width: int) -> Array:
        """Returns the lines of a region, which is empty afterwards; to be copied before the loop goes on."""
        lines: Array = self.world.memory.table(register, count, width)
        self.world.memory.n[count] = 0
        return lines

    def note(self, action: int, which: int, number: int) -> None:
        """A line of the trace that the loop did not write."""
        memory = self.world.memory
        if memory.n[at.TRACING]:
            self.empty()
            line = np.array([[0, action, which, at.NOTHING, number, 0, 0]], dtype=np.int64)
            line.view(np.float64)[0, at.L_TIME] = memory.x[at.NOW]
            self.traced.append(line)

    def requests(self, since: float) -> tuple[Array, ...]:
        """source, start, end, tries, outcome, need of the requests that began since a time."""
        columns = tuple(np.concatenate(column) for column in zip(*self.finished, strict=True))
        begun = columns[1] >= since
        return columns if begun.all() else tuple(column[begun] for column in columns)

    def trace(self) -> tuple[Array, ...]:
        """time, action, which, request, number, cause, where."""
        lines = np.concatenate(self.traced)
        lines[:, at.L_WHICH] = self._numbers(lines[:, at.L_WHICH])
        return (lines.view(np.float64)[:, at.L_TIME].copy(), *lines[:, at.L_ACTION :].T)

    def _numbers(self, addresses: Array) -> Array:
        """Returns the places of sources, stations and routes in the program, by their addresses."""
        parts = (self.world.sources, self.world.stations, self.world.routes)
        known = np.array([address for part in parts for address in part])  # ascending: they were made in this order
        numbers = np.array([number for part in parts for number in range(len(part))])
        places: Array = numbers[np.searchsorted(known, addresses)]
        return places

    def samples(self, since: float) -> tuple[Array, Array]:
        """Times and rows of counts, since a time."""
        rows = np.concatenate(self.sampled)
        every = float(self.world.memory.x[at.EVERY])
        times = (self.sampled_before + np.arange(len(rows))) * every if len(rows) else np.zeros(0)
        return times[times >= since], rows[times >= since]


def _columns(lines: Array) -> tuple[Array, ...]:
    """source, start, end, tries, outcome, need, each by itself."""
    times = lines.view(np.float64)
    source, tries, cause = (lines[:, column].astype(np.int32) for column in (at.F_SOURCE, at.F_TRIES, at.F_CAUSE))
    start, end, need = (times[:, column].copy() for column in (at.F_START, at.F_END, at.F_NEED))
    return source, start, end, tries, cause, need


def names_of(program: Program) -> list[str]:
    """Returns the names of all counts, in their order."""
    return [
        f"{part.name}.{count}"
        for parts, counts in (
            (program.sources, at.SOURCE_COUNTS),
            (program.stations, at.STATION_COUNTS),
            (program.routes, at.ROUTE_COUNTS),
        )
        for part in parts
        for count in counts
    ]


def counters_of(program: Program, counts: Ints, *, since: Ints | None = None) -> dict[str, int]:
    """Counts by name; those that only grow are counted from `since` on."""
    before = since if since is not None else np.zeros_like(counts)
    return {
        name: int(count) - (0 if name.rpartition(".")[2] in at.LEVELS else int(earlier))
        for name, count, earlier in zip(names_of(program), counts, before, strict=True)
    }


def series_of(program: Program, times: Array, rows: Array) -> dict[str, Array]:
    """Each count over time."""
    return {"time": times, **{name: rows[:, column] for column, name in enumerate(names_of(program))}}
