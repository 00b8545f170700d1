"""Evens out states of devices that were written with few decimals, so that their sums are the devices there are.

An exporter that writes three decimals makes ten devices 10.001 or 9.999.  A column's rounding is told from its values:
the coarsest decimal of which all are multiples.  Whole numbers are counts and are not evened out.
"""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Floats

MOST_DECIMALS = 9


def rounding(values: Floats) -> float:
    """Returns by how much each of some values may be off for its decimals; 0 for whole numbers and exact floats."""
    for decimals in range(MOST_DECIMALS + 1):
        if np.allclose(values, np.round(values, decimals), rtol=0, atol=1e-12):
            return 0.5 * 10.0**-decimals if decimals else 0.0
    return 0.0


def evened(states: Floats, count: float, off: float) -> tuple[Floats, int]:
    """Returns the states of one device over time, shape (times, states), and how many times were evened out.

    count: devices there are; off: by how much a sum may be off.  Other sums stay, for they say that something is wrong.
    """
    total = states.sum(axis=1)
    apart = abs(total - count)
    rounded = (apart <= off * (1 + 1e-9)) & (apart > 1e-9 * max(count, 1.0)) & (total > 0)
    scale = np.where(rounded, count / np.where(total > 0, total, 1.0), 1.0)
    return states * scale[:, None], int(rounded.sum())
