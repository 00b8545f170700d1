"""Simulates the coordinated twin: the same arrivals on one first-come-first-served pool, `gamma` times as slow.

No tick, no switch, no batch in front, no retry.  The indices ask how slow this machine would have to be to serve
as the measured one did, so a ratio of delays, which grows without bound with load, is never formed.

    start_i = max(a_i, earliest free server),   end_i = start_i + gamma * s_i          (c servers, needs s_i)

Starts and ends grow with gamma on every path, so means and shares are monotone in it and are inverted by bracketing.
SOURCE: Kiefer, Wolfowitz, On the theory of queues with many servers, 1955; definitions 2.1.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.request_log import Bools, RequestLog
from coherence.causal.data.series import Floats


def _heaped(arrivals: Floats, needs: Floats, servers: int) -> Floats:
    """Returns the starts too, without a compiler."""
    free = [-math.inf] * servers
    starts = []
    for arrival, need in zip(arrivals.tolist(), needs.tolist(), strict=True):
        start = max(arrival, free[0])
        starts.append(start)
        heapq.heapreplace(free, start + need)
    return np.asarray(starts, np.float64)


def starts(arrivals: Floats, needs: Floats, servers: int) -> Floats:
    """Returns when each request, in the order of arrival, begins its service (s).  O(n log servers)."""
    if servers < 1:
        raise ValueError(f"servers(={servers}) must be >= 1")
    from coherence.causal.twins.compiled_starts import sifted_starts
    from coherence.simulate.requests.compiled import COMPILES

    if COMPILES:
        begun: Floats = sifted_starts(np.ascontiguousarray(arrivals), np.ascontiguousarray(needs), servers)
        return begun
    return _heaped(arrivals, needs, servers)


@dataclass(frozen=True)
class Twin:
    """Arrivals (ascending, s), isolated needs (s), deadlines (s after arrival) and servers of a coordinated machine."""

    arrivals: Floats
    needs: Floats
    deadlines: Floats
    servers: int

    def __post_init__(self) -> None:
        if self.servers < 1:
            raise ValueError(f"servers(={self.servers}) must be >= 1")

    def sojourns(self, gamma: float) -> Floats:
        """Returns the seconds from arrival to end of each request where needs are gamma times as long."""
        needs = gamma * self.needs
        sojourns: Floats = starts(self.arrivals, needs, self.servers) + needs - self.arrivals
        return sojourns

    def delays(self, gamma: float) -> Floats:
        """Returns the sojourns less the isolated needs (s)."""
        delays: Floats = self.sojourns(gamma) - self.needs
        return delays

    def in_time(self, gamma: float) -> Bools:
        """Returns which requests end within their deadlines."""
        in_time: Bools = self.sojourns(gamma) <= self.deadlines
        return in_time

    def mean_delay(self, gamma: float) -> float:
        """Returns Wbar*(gamma): mean of sojourn - need (s); grows with gamma."""
        return float(self.delays(gamma).mean())

    def share_in_time(self, gamma: float) -> float:
        """Returns G*(gamma): share of the work that ends within its deadline; falls with gamma."""
        in_time = np.where(self.in_time(gamma), self.needs, 0.0)  # summed in the same order: 1 and 0 come out exactly
        return float(in_time.sum() / self.needs.sum())


def twin(log: RequestLog, servers: int) -> Twin:
    """Returns the twin of a log: its first attempts and isolated needs on `servers` coordinated servers."""
    return Twin(log.arrival, log.need, log.deadline, servers)
