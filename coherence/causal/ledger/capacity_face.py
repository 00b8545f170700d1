"""Bounds a share over all shadow prices, where more than one set of prices is optimal: two programs a share.

All optimal prices form one face: y[d] >= r[d,k] z[k], with equality where an optimal plan has d at work on k, y[d] = 0
where devices are left over, z[k] = 0 where a class is in surplus.  All of this is homogeneous, and so is every amount
of a ledger, so a ratio p.v / q.v over the face is one linear programme with q.v = 1 (Charnes and Cooper 1962).
"""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import Capacity


def extremes(given: Capacity, above: Floats, below: Floats) -> tuple[float, float]:
    """Least and greatest (above.v) / (below.v) over optimal prices v = (y, z); NaN where the ratio has no meaning.

    With unique prices both are the one value.
    """
    if not np.any(above) and np.any(below):
        return 0.0, 0.0
    prices = np.concatenate([given.y, given.z])
    if given.unique:
        whole = float(below @ prices)
        ratio = float(above @ prices) / whole if whole else np.nan
        return ratio, ratio
    return _least(given, above, below), -_least(given, -above, below)


def value_of(given: Capacity) -> Floats:
    """The functional that is 1 on every optimal price: sum_k m[k] z[k]."""
    return np.concatenate([np.zeros(len(given.y)), given.fleet.mix])


def _least(given: Capacity, above: Floats, below: Floats) -> float:
    from scipy.optimize import linprog

    scale = float(np.abs(above).max()) or 1.0
    under = float(np.abs(below).max())
    if not under:
        return float("nan")
    rows, equal = _cone(given)
    answer = linprog(
        above / scale,
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=np.vstack([equal, below / under]),
        b_eq=np.concatenate([np.zeros(len(equal)), [1.0]]),
        bounds=list(zip(np.zeros(len(above)), _tops(given), strict=True)),
        method="highs",
    )
    if answer.status == 3:
        return float("-inf")
    return float(answer.fun) * scale / under if answer.status == 0 else float("nan")


def _cone(given: Capacity) -> tuple[Floats, Floats]:
    """(rows <= 0, rows = 0) of r z - y."""
    devices, classes = given.fleet.rate.shape
    rows: list[Floats] = []
    tied: list[Floats] = []
    for d, k in np.ndindex(devices, classes):
        row = np.zeros(devices + classes)
        row[d], row[devices + k] = -1.0, given.fleet.rate[d, k]
        (tied if given.used[d, k] and given.fleet.rate[d, k] else rows).append(row)
    empty = np.zeros((0, devices + classes))
    return np.array(rows) if rows else empty, np.array(tied) if tied else empty


def _tops(given: Capacity) -> list[float | None]:
    """None: no upper end; 0 where complementary slackness says so."""
    return [None if one else 0.0 for one in (*given.full, *given.bound)]
