"""Computes what Prometheus would read from the testbed's pool if every process were on time.

A replica counts `boot` seconds after it was wanted, and stops counting at once; the newest goes first, so there are
as many ready as there were at the least in the last `boot` seconds.  Every `scrape` seconds the proxy's counters are
read, and what was read stands until the next scrape.  The metric is the mean of that staircase over `window`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.simulate.testbed.autoscaler_law import Behaviour, Controller, Number

Counts = Sequence[tuple[Fraction, int]]  # (from when on, replicas wanted), ascending
LONG_AGO = Fraction(-(10**9))  # when the count before anything was decided came to be


@dataclass(frozen=True)
class PoolPlant:
    """Seconds and requests per second.  `utilization`: the metric is a share of `rate_per_replica`, not a rate.

    Scrapes are at k * `scrape`, decisions at `phase` + k * `period`; `window` 0: the metric is the last scrape.
    """

    rate: Fraction
    rate_per_replica: Fraction
    utilization: bool
    boot: Fraction
    scrape: Fraction
    window: Fraction
    period: Fraction
    phase: Fraction

    def usage(self, replicas: int) -> Fraction:
        """Returns the metric at rest with so many replicas."""
        return self.rate / replicas / (self.rate_per_replica if self.utilization else 1)


@dataclass(frozen=True)
class ReplicaDecision:
    """One decision: when (s), what the metric read, how many replicas there were and how many were wanted."""

    time: Fraction
    measured: Number
    current: int
    desired: int


def ready(counts: Counts, time: Fraction, boot: Fraction) -> int:
    """Replicas that serve at `time`."""
    before = [n for at, n in counts if at <= time - boot]
    return min([before[-1], *(n for at, n in counts if time - boot < at <= time)])


def measured(plant: PoolPlant, counts: Counts, time: Fraction) -> Fraction:
    """Returns the mean over [time - window, time] of what the scrapes read."""

    def read(number: int) -> Fraction:
        return plant.usage(ready(counts, number * plant.scrape, plant.boot))

    last = math.floor(time / plant.scrape)
    if not plant.window:
        return read(last)
    start = time - plant.window
    stairs = range(math.floor(start / plant.scrape), last + 1)
    lengths = [min(time, (k + 1) * plant.scrape) - max(start, k * plant.scrape) for k in stairs]
    return sum((read(k) * length for k, length in zip(stairs, lengths, strict=True)), Fraction(0)) / plant.window


def decisions(behaviour: Behaviour, plant: PoolPlant, initial: int, number: int) -> list[ReplicaDecision]:
    """Returns the first decisions of the loop, after a long time with the initial replicas."""
    controller, rows = Controller(behaviour), []
    counts: list[tuple[Fraction, int]] = [(LONG_AGO, initial)]
    for k in range(number):
        time, current = plant.phase + k * plant.period, counts[-1][1]
        reading = measured(plant, counts, time)
        desired = controller.decide(time, current, reading)
        counts.append((time, desired))
        rows.append(ReplicaDecision(time, reading, current, desired))
    return rows
