"""Keeps of a stream what decides which of its signals can be used: how many values each has, and between which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series


@dataclass(frozen=True)
class Extents:
    """Of each signal: its finite values, the smallest and the largest one; `rows`: all times."""

    names: tuple[str, ...]
    rows: int
    counts: Floats
    low: Floats
    high: Floats

    def of(self, names: Iterable[str]) -> Extents:
        """The same of these signals, in this order."""
        places = [self.names.index(name) for name in names]
        return Extents(
            tuple(self.names[place] for place in places), self.rows, self.counts[places], self.low[places],
            self.high[places],
        )  # fmt: skip


def extents_of(chunks: Iterable[Series]) -> Extents | None:
    """The extents of series that follow each other; None without one."""
    whole: Extents | None = None
    for chunk in chunks:
        here = _extents(chunk.of(whole.names) if whole is not None else chunk)
        if whole is not None:
            low, high = np.fmin(whole.low, here.low), np.fmax(whole.high, here.high)
            here = Extents(here.names, whole.rows + here.rows, whole.counts + here.counts, low, high)
        whole = here
    return whole


def _extents(series: Series) -> Extents:
    finite = np.isfinite(series.values)
    low = np.where(finite, series.values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, series.values, -np.inf).max(axis=0, initial=-np.inf)
    return Extents(series.names, len(series), finite.sum(axis=0).astype(float), low, high)
