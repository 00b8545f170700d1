"""Causes that nearly always move together: their sum is told, what each of them adds is not.

With a correlation of .9999 a regression gives two numbers with huge intervals, and a sum with a narrow one.  Signals
are one group where
    1. their columns lie in one direction in which the causes hardly move,
    2. the sum of their effects, each for one standard deviation in the common direction, is at least 20 times more
       certain, relative to its size, than that of any member, and
    3. no member's interval is narrower than the sum itself.
SOURCE: Belsley, Kuh and Welsch 1980 (condition indices, and the variance that they account for).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from coherence.causal.answers.intervals import jackknife
from coherence.causal.data.series import Floats
from coherence.causal.fitting.gram import Column

SURER = 20.0  # how much more certain the sum is than any member
FLAT = 1e-2  # eigenvalue of the correlations below which a direction hardly moves (condition index above 10)
PART = 0.1  # of a direction: who belongs to it


def nearly(centred: Floats, columns: Sequence[Column], coefficients: Floats) -> Iterator[tuple[Column, ...]]:
    """Groups of columns of different signals that only their sum tells.

    `centred`: sums of products about the means, in the scale of `coefficients` (1 + B, columns).
    """
    spread = np.sqrt(np.maximum(np.diagonal(centred), 0.0))
    moving = spread > 0
    if len(columns) < 2 or not moving.all():
        return
    even = centred / np.outer(spread, spread)
    sizes, ways = np.linalg.eigh(even)
    effects = coefficients * spread
    for way in ways.T[sizes <= FLAT]:
        members = [number for number in range(len(columns)) if abs(way[number]) >= PART]
        if len({columns[number][0] for number in members}) > 1 and _only_together(even, members, effects):
            yield tuple(columns[number] for number in members)


def _only_together(even: Floats, members: Sequence[int], effects: Floats) -> bool:
    signs = np.sign(even[members[0], members])
    mine = effects[:, members] * signs
    low, high, error = jackknife(mine[0], mine[1:])
    whole = mine.sum(axis=1)
    *_, unsure = jackknife(np.asarray(whole[0]), whole[1:])
    size = abs(float(whole[0]))
    if not np.isfinite(error).all() or not size or not float(unsure) > 0:
        return False
    relative = error / np.maximum(np.abs(mine[0]), 1e-300)
    surer = bool((relative > SURER * float(unsure) / size).all())
    return surer and bool((high - low > size).all())
