"""Counts how many calls lie between two services of a log, and which services are called from which.

What a log does not name (a pool, a queue) is passed on the way and is no step: two services that call one pool are one
step apart.  A wave goes down with the work and up with the waiting, so steps count in both directions of a call.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coherence.base.graphs import reached
from coherence.causal.data.request_log import Bools, Ints

UNCONNECTED = -1


def hops(services: Sequence[str], calls: Sequence[tuple[str, str]]) -> Ints:
    """Returns (services, services): the fewest steps from one to the other; UNCONNECTED where no calls join them."""
    beside: dict[str, set[str]] = {}
    for caller, callee in calls:
        beside.setdefault(caller, set()).add(callee)
        beside.setdefault(callee, set()).add(caller)
    named = set(services)
    distances = np.full((len(services), len(services)), UNCONNECTED, np.int64)
    for row, start in enumerate(services):
        seen, front, steps = {start}, {start}, 0
        while front:
            for name in front:
                distances[row, services.index(name)] = steps
            between = reached(front, lambda name: beside.get(name, set()) - named)
            front = {other for name in between for other in beside.get(name, set())} & named - seen
            seen |= front
            steps += 1
    return distances


def called_from(services: Sequence[str], calls: Sequence[tuple[str, str]]) -> Bools:
    """Returns (services, services): whether the second is called from the first on, and not the first from it."""
    after: dict[str, list[str]] = {}
    for caller, callee in calls:
        after.setdefault(caller, []).append(callee)
    below = [reached(after.get(name, []), lambda name: after.get(name, [])) for name in services]
    leads = np.array([[other in each for other in services] for each in below], np.bool_).reshape(len(below), -1)
    return np.asarray(leads & ~leads.T, np.bool_)
