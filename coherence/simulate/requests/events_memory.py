"""Allocates and grows the memory of the event loop, and reads its regions from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coherence.simulate.requests import events_layout as at
from coherence.simulate.requests.draws import BLOCK, Sampler
from coherence.simulate.requests.events_layout import Floats, Ints

SMALLEST = 1024  # records of a kind at the beginning
LINES = 1 << 14  # finished requests, or lines of the trace, before Python is asked to take them
KINDS = (
    (at.REQUESTS_FREE, at.REQUESTS_LEFT, at.R_WIDTH),
    (at.CALLS_FREE, at.CALLS_LEFT, at.C_WIDTH),
    (at.TRIES_FREE, at.TRIES_LEFT, at.T_WIDTH),
)


class EventMemory:
    """One array of words: `n` sees whole numbers, `x` floats.  Regions are added at its end and never move."""

    def __init__(self) -> None:
        self._words: Ints = np.zeros(1 << 16, dtype=np.int64)
        self._end = at.REGISTERS
        self.streams: list[tuple[int, Sampler]] = []
        self.records = [0] * len(KINDS)  # how many there are of each kind
        self._see()

    def _see(self) -> None:
        self.n: Ints = self._words
        self.x: Floats = self._words.view(np.float64)

    def region(self, count: int) -> int:
        """Returns the address of so many new words, all zero."""
        first = self._end
        self._end += count
        if self._end > self._words.size:
            more = np.zeros(max(self._end, 2 * self._words.size) - self._words.size, dtype=np.int64)
            self._words = np.concatenate([self._words, more])
            self._see()
        return first

    def words(self, *numbers: int) -> int:
        """Returns the address of new words that hold whole numbers."""
        first = self.region(len(numbers))
        self.n[first : first + len(numbers)] = numbers
        return first

    def write(self, address: int, fields: Mapping[int, int]) -> None:
        """Whole numbers into a record."""
        for field, number in fields.items():
            self.n[address + field] = number

    def write_floats(self, address: int, fields: Mapping[int, float]) -> None:
        """Floats into a record."""
        for field, number in fields.items():
            self.x[address + field] = number

    def stream(self, sampler: Sampler) -> int:
        """Returns a stream of draws: how many were taken, then a block of them."""
        address = self.region(1 + BLOCK)
        self.n[address] = BLOCK
        self.streams.append((address, sampler))
        return address

    def fill(self) -> None:
        """Move what is left of each block of draws to its front, and draw the rest anew."""
        for address, sampler in self.streams:
            used = int(self.n[address])
            block = self.x[address + 1 : address + 1 + BLOCK]
            if used:
                block[: BLOCK - used] = block[used:].copy()
                block[BLOCK - used :] = sampler(used)
                self.n[address] = 0
        self.n[at.LOW_DRAWS] = 0

    def tables(self, columns: Sequence[int], *, sources: int, trace: bool) -> None:
        """The regions that every run has.  `columns`: addresses of what is sampled; `sources`: most arrivals known."""
        n, margin = self.n, int(self.n[at.MARGIN])
        lines = max(64, LINES // len(columns))
        traced = LINES if trace else margin
        regions = {
            at.ARRIVALS_AT: self.region(sources),
            at.SOURCES_AT: self.region(sources),
            at.FINISHED_AT: self.region(LINES * at.F_WIDTH),
            at.TRACED_AT: self.region(traced * at.L_WIDTH),
            at.SAMPLES_AT: self.region(lines * len(columns)),
            at.COLUMNS_AT: self.words(*columns),
        }
        n = self.n
        for register, address in regions.items():
            n[register] = address
        n[at.FINISHED_HOLDS], n[at.TRACED_HOLDS] = LINES, max(traced, margin)
        n[at.SAMPLES_HOLD], n[at.COLUMNS] = lines, len(columns)
        n[[at.REQUESTS_FREE, at.CALLS_FREE, at.TRIES_FREE]] = at.NOTHING
        self.fill()
        self.make_room()

    def schedule(self, events: Sequence[tuple[float, int, int]]) -> None:
        """The first events: time, kind and record, in order."""
        self.make_room(events=len(events))
        for number, (time, kind, row) in enumerate(events):
            event = int(self.n[at.HEAP_AT]) + at.E_WIDTH * number
            self.x[event] = time
            self.n[event + at.E_KEY], self.n[event + at.E_ROW] = (kind << at.KIND_SHIFT) | number, row
        self.n[at.HEAP] = self.n[at.SEQUENCE] = len(events)

    def make_room(self, *, events: int = 0) -> None:
        """More room where it is short.  `events`: so many are about to be scheduled."""
        margin = int(self.n[at.MARGIN])
        self._tasks_first()
        self._hold(at.TASKS_AT, at.TASKS_HOLD, at.A_WIDTH, int(self.n[at.TAIL]), margin)
        if self.n[at.HEAP] + margin + events > self.n[at.HEAP_HOLDS]:
            self._drop_stale_events()
        self._hold(at.HEAP_AT, at.HEAP_HOLDS, at.E_WIDTH, int(self.n[at.HEAP]), margin + events)
        for kind, (chain, left, width) in enumerate(KINDS):
            while self.n[left] < margin:
                count = max(SMALLEST, self.records[kind])
                self._chain(self.region(count * width), count, width, chain)
                self.n[left] += count
                self.records[kind] += count

    def _hold(self, register: int, holds: int, width: int, used: int, more: int) -> None:
        """A table that moves when it is full, to a place of twice the size."""
        if used + more <= self.n[holds] // 2:
            return
        count = max(SMALLEST, 2 * (used + more))
        old, new = int(self.n[register]), self.region(count * width)
        self.n[new : new + used * width] = self.n[old : old + used * width]
        self.n[register], self.n[holds] = new, count

    def _chain(self, first: int, count: int, width: int, chain: int) -> None:
        """New records at the head of a chain of free ones."""
        addresses = first + width * np.arange(count)
        self.n[addresses[:-1] + at.FREE] = addresses[1:]
        self.n[addresses[-1] + at.FREE] = self.n[chain]
        self.n[chain] = first

    def _tasks_first(self) -> None:
        """What is left to do at this instant, moved to the front."""
        base, head, tail = (int(self.n[register]) for register in (at.TASKS_AT, at.HEAD, at.TAIL))
        left = self.n[base + at.A_WIDTH * head : base + at.A_WIDTH * tail].copy()
        self.n[base : base + left.size] = left
        self.n[at.HEAD], self.n[at.TAIL] = 0, tail - head

    def _drop_stale_events(self) -> None:
        """The heap without events whose try or call is over; sorted, hence a heap."""
        heap = self.table(at.HEAP_AT, at.HEAP, at.E_WIDTH)
        times = heap[:, at.E_TIME].copy().view(np.float64)
        kinds, rows = heap[:, at.E_KEY] >> at.KIND_SHIFT, heap[:, at.E_ROW]
        live = np.ones(len(heap), dtype=bool)
        stamped = (at.RETRY, at.LET_THROUGH, at.OVERDUE)
        for kind, stamp in ((at.DONE, at.T_EVENT), *((kind, at.STAMP) for kind in stamped)):
            those = np.flatnonzero(kinds == kind)
            live[those] = self.n[rows[those] + stamp] == heap[those, at.E_STAMP]
        order = np.flatnonzero(live)
        order = order[np.lexsort((heap[order, at.E_KEY], times[order]))]
        heap[: order.size] = heap[order]
        self.n[at.HEAP] = order.size

    def table(self, register: int, count: int, width: int) -> Any:
        """Returns the lines of a region, as a view."""
        first, lines = int(self.n[register]), int(self.n[count])
        return self.n[first : first + lines * width].reshape(lines, width)
