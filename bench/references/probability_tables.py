"""Discrete networks: tables of conditional probabilities, draws from them, and counting them back.

Refitting a discrete network is counting: the estimate of P(x | causes) from n draws with those causes has the
standard error sqrt(p (1 - p) / n), so every estimate has its own distance from the truth in standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats

Codes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ProbabilityTable:
    """`probabilities[states of the parents.., state]` of one variable."""

    name: str
    parents: tuple[str, ...]
    probabilities: Floats


@dataclass(frozen=True)
class Tables:
    """A discrete network."""

    states: Mapping[str, tuple[str, ...]]
    tables: tuple[ProbabilityTable, ...]

    def drawn(self, count: int, seed: int) -> dict[str, Codes]:
        """variable -> numbers of the states of `count` independent draws."""
        random = np.random.default_rng(seed)
        of = {table.name: table for table in self.tables}
        codes: dict[str, Codes] = {}
        for name in TopologicalSorter({table.name: set(table.parents) for table in self.tables}).static_order():
            table = of[name]
            rows = table.probabilities[tuple(codes[parent] for parent in table.parents)]
            below = np.cumsum(np.broadcast_to(rows, (count, rows.shape[-1])), axis=1)
            codes[name] = np.minimum((random.random((count, 1)) >= below).sum(axis=1), rows.shape[-1] - 1)
        return codes


def counted(table: ProbabilityTable, drawn: Mapping[str, Codes]) -> tuple[Floats, Floats]:
    """(estimates, numbers of draws with those causes), shaped as the table and as its causes; NaN without a draw."""
    shape = table.probabilities.shape
    flat = np.ravel_multi_index(tuple(drawn[name] for name in (*table.parents, table.name)), shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)
    given = counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts / given[..., None], given


def distances(table: ProbabilityTable, drawn: Mapping[str, Codes], *, fewest: int = 0) -> Floats:
    """Estimates from the truth, in standard errors, where the causes were drawn more than `fewest` times.

    A probability of 0 or 1 has no error: its distance is 0 if it is met exactly, else infinite.
    """
    estimates, given = counted(table, drawn)
    wide = np.broadcast_to(given[..., None], estimates.shape)
    error = np.sqrt(table.probabilities * (1 - table.probabilities) / np.maximum(wide, 1))
    away = np.abs(estimates - table.probabilities)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.where(error > 1e-12, away / error, np.where(away > 1e-9, np.inf, 0.0))
    return np.asarray(far[wide > fewest], np.float64)
