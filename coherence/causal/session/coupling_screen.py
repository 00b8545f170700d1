"""Screens which signals may be coupled to an effect, so that only those are estimated with intervals.

The screen is the ordinary t test of a signal's delays beside each other, with the effect's own columns held fixed.
What does not pass it cannot pass the family-wise test.  Of very many signals that are not of the design each is
screened against the same sums of products of the design's signals, so that time grows with their number alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Column, lagged

EXACT = 1e-9  # share of its variance: a signal with less of its own follows from what is held fixed
SCREEN = 1e-2  # of the ordinary t test: what does not pass it cannot pass the family-wise one
BLOCK = 4_000_000  # values of signals that are screened at a time
PLAIN = 1e-6  # determinant of correlations from which columns are told apart without a pseudo-inverse


@dataclass(frozen=True)
class EffectColumns:
    """An effect, the columns held fixed beside it, and the delays in steps at which others are looked for."""

    effect: str
    held: tuple[Column, ...]
    lags: tuple[int, ...]


def least_squared_t(rows: float, held: int, memory: int, chance: float) -> tuple[float, float]:
    """Returns (free rows, squared t value that a column without an effect exceeds with this chance)."""
    from scipy.special import stdtrit

    free = max(rows - held - memory - 2, 1.0)
    return free, float(stdtrit(free, 1 - chance / 2)) ** 2


def squared_t(inner: Floats, across: Floats, total: float | Floats, free: float) -> Floats:
    """Returns the largest squared t value of the columns of each group, beside each other.

    `inner` (groups, columns, columns): sums of products of the columns; `across` (groups, columns): with the effect;
    `total`: the effect's own; `free`: rows beyond the coefficients.
    """
    spread = np.sqrt(np.maximum(np.diagonal(inner, axis1=1, axis2=2), 1e-300))
    apart = np.linalg.det(inner / spread[:, :, None] / spread[:, None, :]) > PLAIN
    inverse = np.empty_like(inner)
    inverse[apart] = np.linalg.inv(inner[apart])
    inverse[~apart] = np.linalg.pinv(inner[~apart], rcond=1e-10, hermitian=True)
    slopes = (inverse @ across[..., None])[..., 0]
    rest = np.maximum(total - (across * slopes).sum(axis=1), 1e-300)
    variance = np.maximum(np.diagonal(inverse, axis1=1, axis2=2), 1e-300)
    return np.asarray((slopes**2 / variance).max(axis=1) * free / rest, np.float64)


def largest_of_blocks(left: Floats, blocks: Sequence[Sequence[int]], free: float) -> list[float]:
    """Returns the largest squared t value of the columns of each block of `left`, whose first is the effect; 0 of none.

    `left`: sums of products of what is held fixed explains nothing of.
    """
    values = [0.0] * len(blocks)
    for size in {len(block) for block in blocks} - {0}:
        places = [number for number, block in enumerate(blocks) if len(block) == size]
        at = np.array([blocks[number] for number in places])
        largest = squared_t(left[at[:, :, None], at[:, None, :]], left[at, 0], float(left[0, 0]), free)
        for number, value in zip(places, largest.tolist(), strict=True):
            values[number] = value
    return values


def possible_causes(
    own: Series, series: Series, others: Sequence[str], effects: Sequence[EffectColumns], memory: int, chance: float
) -> list[str]:
    """Returns which of the others pass the screen of some effect.

    `own`: the design's signals and the clocks; `series`: where the others stand, at the same times; `chance`: of a
    signal without an effect to pass, at each of its delays.
    """
    furthest = 1 + max((lag for wanted in effects for lag in wanted.lags), default=0)
    deepest = max((lag for wanted in effects for _, lag in wanted.held), default=0)
    columns = tuple(dict.fromkeys(column for wanted in effects for column in ((wanted.effect, 0), *wanted.held)))
    rows = lagged(own, columns)[max(furthest - deepest, 0) :]
    complete = np.isfinite(rows).all(axis=1)
    passing: set[str] = set()
    for missing, names in _by_missing(series, others).items():
        known = ~np.frombuffer(missing, np.bool_)
        there = complete.copy()
        for lag in range(furthest + 1):
            there &= known[len(known) - lag - len(rows) : len(known) - lag]
        if not there.any():
            continue
        held = _HeldColumns(columns, rows[there], np.flatnonzero(there) + len(known) - len(rows))
        width = max(BLOCK // len(known), 64)
        for at in range(0, len(names), width):
            part = names[at : at + width]
            passes = held.passes(series.of(part).values, effects, memory, chance)
            passing.update(name for name, seen in zip(part, passes.tolist(), strict=True) if seen)
    return [name for name in others if name in passing]


def _by_missing(series: Series, names: Sequence[str]) -> Mapping[bytes, list[str]]:
    """Returns the names by the times at which their signals have no value: most have them in common."""
    groups: dict[bytes, list[str]] = {}
    for name in names:
        groups.setdefault(np.isnan(series[name]).tobytes(), []).append(name)
    return groups


class _HeldColumns:
    """Columns that are held fixed, scaled, at the rows `at` of the record."""

    def __init__(self, columns: Sequence[Column], rows: Floats, at: npt.NDArray[np.int64]) -> None:
        self.place = {column: number for number, column in enumerate(columns, start=1)}
        self.at = at
        spread = rows.std(axis=0)
        scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        self.rows = np.column_stack([np.ones(len(rows)), scaled])
        self.products = self.rows.T @ self.rows

    def passes(
        self, values: Floats, effects: Sequence[EffectColumns], memory: int, chance: float
    ) -> npt.NDArray[np.bool_]:
        """Returns which columns of `values` (times, signals) pass the screen of some effect."""
        values = np.where(np.isnan(values), 0.0, values)  # at no row that counts
        spread = values.std(axis=0)
        values = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        lags = sorted({lag for wanted in effects for lag in (*wanted.lags, max(wanted.lags) + 1)})
        moved = {lag: values[self.at - lag] for lag in lags}
        products = np.split(self.rows.T @ np.hstack([*moved.values()]), len(lags), axis=1)
        across = dict(zip(lags, products, strict=True))
        inner = {
            (first, last): np.einsum("nk,nk->k", moved[first], moved[last])
            for first in lags
            for last in lags
            if first <= last
        }
        passing = np.zeros(values.shape[1], np.bool_)
        for wanted in effects:
            passing |= self._passes_of(wanted, across, inner, memory, chance)
        return passing

    def _passes_of(
        self, wanted: EffectColumns, across: Mapping[int, Floats], inner: Mapping[tuple[int, int], Floats], memory: int,
        chance: float,
    ) -> npt.NDArray[np.bool_]:  # fmt: skip
        held, target = [0, *(self.place[column] for column in wanted.held)], self.place[wanted.effect, 0]
        free, limit = least_squared_t(len(self.rows), len(held), memory, chance)
        fixed = np.linalg.pinv(self.products[np.ix_(held, held)], rcond=1e-10, hermitian=True)
        weights = fixed @ self.products[held, target]
        total = float(self.products[target, target] - self.products[held, target] @ weights)
        lags = (*wanted.lags, max(wanted.lags) + 1)
        alone = [across[lag][target] - weights @ across[lag][held] for lag in lags]
        left = {lag: fixed @ across[lag][held] for lag in lags}
        groups = np.empty((len(alone[0]), len(lags), len(lags)))
        for row, first in enumerate(lags):
            for column, second in enumerate(lags):
                explained = np.einsum("hk,hk->k", across[first][held], left[second])
                groups[:, row, column] = inner[min(first, second), max(first, second)] - explained
        if total <= EXACT * max(
            float(self.products[target, target] - self.products[0, target] ** 2 / len(self.rows)), 1e-300
        ):
            return np.zeros(len(groups), np.bool_)  # the declared causes say everything
        own = np.stack([inner[lag, lag] - across[lag][0] ** 2 / len(self.rows) for lag in lags], axis=1)
        still = np.diagonal(groups, axis1=1, axis2=2) <= EXACT * np.maximum(own, 1e-300)
        between = np.where(still, 0.0, np.stack(alone, axis=1))
        # a column that follows from what is held fixed explains nothing: it stands alone, with nothing in common
        groups = np.where(still[:, :, None] | still[:, None, :], np.eye(len(lags)), groups)
        return np.asarray(squared_t(groups, between, total, free) > limit)
