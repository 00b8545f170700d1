"""Simulates nodes that live, fail, are repaired and replaced."""

from __future__ import annotations

import heapq
import math

import numpy as np

from coherence.simulate.jobs.job import JobProgram
from coherence.simulate.jobs.ticks import NEVER, Ticks, draw_one, generator, in_ticks


class Nodes:
    """When each node of the job fails next, which are down, and when a spare is there.  Wall-clock nanoseconds."""

    def __init__(self, job: JobProgram, seed: int) -> None:
        self.failures, self.recovery = job.failures, job.recovery
        self.rng, self.bench = generator(seed, "failures"), generator(seed, "repairs")
        self.spares = job.recovery.spares if job.recovery else math.inf
        self.mended: list[int] = []  # times at which nodes come back from repair
        self.down: list[int] = []
        self.ends: Ticks = self._lives(job.nodes) if job.failures else np.full(job.nodes, NEVER, np.int64)
        self._look()

    def _lives(self, count: int) -> Ticks:
        assert self.failures is not None
        scale = self.failures.mtbf / math.gamma(1 + 1 / self.failures.shape)
        return in_ticks(scale * self.rng.weibull(self.failures.shape, count))

    def _look(self) -> None:
        self.node = int(self.ends.argmin())
        self.next = int(self.ends[self.node])  # when the next node fails

    def fail(self) -> int:
        """Returns the next node goes down; which one it is."""
        node = self.node
        self.ends[node] = NEVER
        self.down.append(node)
        self._look()
        return node

    def send_to_repair(self, count: int, now: int) -> None:
        """`count` failed nodes were noticed now."""
        if self.recovery is not None and self.recovery.repair is not None:
            for _ in range(count):
                heapq.heappush(self.mended, now + draw_one(self.recovery.repair, self.bench))

    def ready(self, now: int) -> int:
        """Returns when there is a spare for each node that is down: now, later, or NEVER."""
        while self.mended and self.mended[0] <= now:
            heapq.heappop(self.mended)
            self.spares += 1
        missing = len(self.down) - self.spares
        if missing <= 0:
            return now
        return sorted(self.mended)[int(missing) - 1] if missing <= len(self.mended) else NEVER

    def replace(self, now: int) -> None:
        """New nodes take the places of those that are down."""
        self.spares -= len(self.down)
        if self.down and self.failures is not None:
            self.ends[self.down] = np.minimum(now + self._lives(len(self.down)), NEVER)
        self.down.clear()
        self._look()
