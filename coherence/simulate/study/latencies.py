"""Counts latencies in windows of time and in bins of one relative width, so that memory does not grow with a run.

A bin goes from one power of GAMMA to the next: a quantile read from it is off by at most a bin, and counts of runs add.
SOURCE: Masson, Rim, Lee, DDSketch: a fast and fully-mergeable quantile sketch (2019), section 2 (the mapping).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestRecords, RequestResult
    from coherence.simulate.serving.engine import Served

Array = NDArray[Any]
GAMMA = 1.004  # a bin is 0.4 % wide
LEAST = 1e-9  # s: what is shorter counts as no time
PENDING = 1 << 17  # latencies that are counted at once
_LOG = math.log(GAMMA)
NONE = math.floor(math.log(LEAST) / _LOG)  # the bin of what took no time


@dataclass
class Latencies:
    """Latencies of one source in one run, by the window in which a request arrived.

    `edges`: ends of the windows (s); `counts`: answered requests by window and bin, `first` the number of the first
    bin; `sums`, `bin_sums`: their latencies by window and by bin (s); `failed`: requests that ended without an answer;
    `arrived`: all.
    """

    edges: Array
    first: int = 0
    counts: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    sums: Array = field(default_factory=lambda: np.zeros(0))
    bin_sums: Array = field(default_factory=lambda: np.zeros(0))
    failed: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    arrived: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        windows = len(self.edges) - 1
        if not len(self.sums):
            self.counts, self.sums = np.zeros((windows, 0), dtype=np.int64), np.zeros(windows)
            self.failed, self.arrived = np.zeros((2, windows), dtype=np.int64)

    @property
    def uppers(self) -> Array:
        """Upper ends of the bins (s); of what took no time, 0."""
        bins = self.first + np.arange(self.counts.shape[1])
        ends: Array = np.where(bins <= NONE, 0.0, np.exp(_LOG * (bins + 1)))
        return ends

    @property
    def ended(self) -> int:
        """Requests that ended, with an answer or without."""
        return int(self.counts.sum() + self.failed.sum())

    def copy(self) -> Latencies:
        """Returns what was counted so far."""
        tables = (table.copy() for table in (self.counts, self.sums, self.bin_sums, self.failed, self.arrived))
        return Latencies(self.edges, self.first, *tables)

    def add(self, start: Array, end: Array, answered: Array) -> None:
        """Counts requests that ended; those that arrived outside of the windows are left out."""
        place = self.windows(start)
        inside = (place >= 0) & (place < len(self.sums))
        self.failed += np.bincount(place[inside & ~answered], minlength=len(self.sums))
        good = inside & answered
        place, latency = place[good], (end - start)[good]
        if not len(place):
            return
        self.sums += np.bincount(place, weights=latency, minlength=len(self.sums))
        bins = np.floor(np.log(np.maximum(latency, LEAST)) / _LOG).astype(np.int64)
        self.cover(int(bins.min()), int(bins.max()) + 1)
        shape = self.counts.shape
        keys, numbers = np.unique(place * shape[1] + bins - self.first, return_counts=True)
        self.counts.reshape(-1)[keys] += numbers
        self.bin_sums += np.bincount(bins - self.first, weights=latency, minlength=shape[1])

    def windows(self, start: Array) -> Array:
        """Returns the number of the window in which each time lies; -1 and the number of windows are outside."""
        place: Array = np.searchsorted(self.edges, start, side="left") - 1
        place[start == self.edges[0]] = 0
        return place

    def cover(self, first: int, beyond: int) -> None:
        """Adds bins, so that all from `first` to before `beyond` are there."""
        width = self.counts.shape[1]
        if width:
            first, beyond = min(first, self.first), max(beyond, self.first + width)
        else:
            self.first = first
        if beyond - first > width:
            wider = np.zeros((len(self.sums), beyond - first), dtype=np.int64)
            wider[:, self.first - first : self.first - first + width] = self.counts
            sums = np.zeros(beyond - first)
            sums[self.first - first : self.first - first + width] = self.bin_sums
            self.first, self.counts, self.bin_sums = first, wider, sums


class LatencyRecorder:
    """Takes the finished requests of a run as they leave its memory, and counts them by source.

    `keeps`: every request is kept besides, for who asks of single ones.
    """

    def __init__(self, sources: int, edges: Array, *, keeps: bool = False) -> None:
        self._keeps, self._all = keeps, list[tuple[Array, ...]]()
        self.latencies = [Latencies(edges) for _ in range(sources)]
        self._waiting: list[tuple[Array, ...]] = []
        self._count = 0

    def __call__(self, columns: tuple[Array, ...]) -> None:
        """Takes source, start, end, tries, outcome and need of finished requests."""
        source, start, end, _, outcome, _ = columns
        if self._keeps:
            self._all.append(columns)
        self._waiting.append((source, start, end, outcome))
        self._count += len(source)
        if self._count >= PENDING:
            self.flush()

    def requests(self) -> RequestRecords:
        """Returns every request so far, where they are kept; else none."""
        from coherence.simulate.requests.engine import RequestRecords

        if not self._all:
            return RequestRecords(*np.zeros((6, 0)))
        return RequestRecords(*(np.concatenate(column) for column in zip(*self._all, strict=True)))

    def flush(self) -> None:
        """Counts what waits to be counted."""
        if not self._waiting:
            return
        source, start, end, outcome = (np.concatenate(column) for column in zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        for number, latencies in enumerate(self.latencies):
            mine = source == number
            latencies.add(start[mine], end[mine], outcome[mine] == 0)


def arrived(result: RequestResult, source: str, edges: Array, before: int) -> Array:
    """Returns how many requests of a source arrived in each window, from the samples at its ends.

    `before`: those that had arrived when the first window began.
    """
    series = result.series
    at = np.searchsorted(series["time"], edges[1:-1] * (1 - 1e-9))
    last = before + result.counters[f"{source}.arrivals"]
    sampled = np.append(series[f"{source}.arrivals"], last)  # a run that was stopped has no samples further on
    gained: Array = np.diff(np.concatenate(([before], sampled[at], [last])))
    return gained


def served_times(name: str, served: Served, edges: Array) -> dict[tuple[str, str], Latencies]:
    """Returns what the users of an inference server waited for, by kind: those not served yet have arrived only."""
    begun = {"wait": served.load.arrival, "first token": served.load.since, "whole answer": served.load.since}
    ends = {"wait": served.scheduled, "first token": served.first_token, "whole answer": served.last_token}
    counted = {}
    came = served.load.arrival[~served.rejected]
    for kind, end in ends.items():
        times = Latencies(edges)
        there = np.isfinite(end) & ~served.rejected
        taken = (end - begun[kind])[there]
        times.add(served.load.arrival[there], served.load.arrival[there] + taken, np.ones(len(taken), dtype=bool))
        place = times.windows(came)
        times.arrived = np.bincount(place[(place >= 0) & (place < len(edges) - 1)], minlength=len(edges) - 1)
        counted[name, kind] = times
    return counted
