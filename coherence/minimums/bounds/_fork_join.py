"""Requests that fork to n servers at once and join when the last part is done: floors, and an exact chain for two."""

from __future__ import annotations

import math

from coherence.base.bisection import halved
from coherence.minimums.functions import harmonic


def regular_root(load: float) -> float:
    """sigma in (0, 1) with sigma = exp(-(1 - sigma)/load): what an arrival finds busy if arrivals are regular."""
    return halved(lambda sigma: math.exp(-(1 - sigma) / load) > sigma, 0.0, 1.0 - 1e-15)[0]


def floor(n: int, load: float) -> float:
    """In mean service times: one part alone, and all parts under regular arrivals, where they are independent."""
    alone = 1 / (1 - load)
    regular = harmonic(n) / (1 - regular_root(load)) if load else harmonic(n)
    return max(alone, regular)


def two_by_chain(load: float, states: int) -> float:
    """Returns mean time of a request with two parts, from the stationary law of both queue lengths cut off at `states`.

    The time is the number of requests that are not joined, max(i, j), over their rate (Little's law).
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(states), np.arange(states), indexing="ij"))
    rows, columns, rates = [], [], []
    for di, dj, rate in ((1, 1, load), (-1, 0, 1.0), (0, -1, 1.0)):
        a, b = i + di, j + dj
        inside = (a >= 0) & (b >= 0) & (a < states) & (b < states)
        here, there = (i * states + j)[inside], (a * states + b)[inside]
        rows += [there, here]
        columns += [here, here]
        rates += [np.full(len(here), rate), np.full(len(here), -rate)]
    flow = coo_array((np.concatenate(rates), (np.concatenate(rows), np.concatenate(columns)))).tolil()
    flow[0, :] = 1.0  # the shares add to one
    shares = spsolve(flow.tocsc(), np.eye(1, states * states).ravel())
    return float(shares @ np.maximum(i, j)) / load
