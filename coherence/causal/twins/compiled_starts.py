"""Computes the starts of a first-come-first-served pool in a compiled loop; whoever needs none imports no compiler."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Floats
from coherence.simulate.requests.compiled import entry


@entry
def sifted_starts(arrivals: Floats, needs: Floats, servers: int) -> Floats:  # pragma: no cover  (compiled)
    """Returns the starts, with the free times of the servers in a heap whose root is replaced."""
    free = np.full(servers, -np.inf)
    starts = np.empty(len(arrivals))
    for i in range(len(arrivals)):
        start = max(arrivals[i], free[0])
        starts[i] = start
        last = start + needs[i]
        place = 0
        while True:
            child = 2 * place + 1
            if child >= servers:
                break
            if child + 1 < servers and free[child + 1] < free[child]:
                child += 1
            if free[child] >= last:
                break
            free[place] = free[child]
            place = child
        free[place] = last
    return starts
