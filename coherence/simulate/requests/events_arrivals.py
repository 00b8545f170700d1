"""Merges the arrivals of all sources for the event loop, as far as every source is known."""

from __future__ import annotations

import math

import numpy as np

from coherence.simulate.requests.arrivals import blocks
from coherence.simulate.requests.draws import Floats
from coherence.simulate.requests.events_layout import ARRIVAL, ARRIVALS, ARRIVALS_AT, SOURCES_AT
from coherence.simulate.requests.events_world import EventWorld
from coherence.simulate.requests.program import Program

NEVER = np.array([math.inf])


class Coming:
    """One block of each source stands ready; what is before the first end of a block can be merged."""

    def __init__(self, program: Program, seed: int, world: EventWorld) -> None:
        self.world = world
        self.streams = [blocks(source.arrivals, seed, source.name) for source in program.sources]
        self.ready: list[Floats] = [np.zeros(0) for _ in self.streams]

    def supply(self) -> None:
        """The next arrivals of all sources; at one time, in the order of the sources."""
        for number, block in enumerate(self.ready):
            if not block.size:
                self.ready[number] = next(self.streams[number], NEVER)
        known = min(block[-1] for block in self.ready)
        counts = [int(np.searchsorted(block, known, side="right")) for block in self.ready]
        times = np.concatenate([block[:count] for block, count in zip(self.ready, counts, strict=True)])
        order = np.argsort(times, kind="stable") if len(counts) > 1 else slice(None)
        sources = np.repeat(self.world.sources, counts)
        self.ready = [block[count:] for block, count in zip(self.ready, counts, strict=True)]
        n, x = self.world.memory.n, self.world.memory.x
        n[ARRIVAL], n[ARRIVALS] = 0, times.size
        x[n[ARRIVALS_AT] : n[ARRIVALS_AT] + times.size] = times[order]
        n[n[SOURCES_AT] : n[SOURCES_AT] + times.size] = sources[order]
