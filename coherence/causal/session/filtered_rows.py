"""Prepares an equation for tests of its form: rows from which the memory of the effect's own part is filtered out.

What is left of the effect beside its causes is e; a further column z, filtered alike and cleared of the causes, has
nothing to do with e where the equation has the right form.  Products e z, summed over contiguous batches, are nearly
independent, so that their mean over its spread is a t value that holds for any variance of e and for heavy tails.
SOURCE: Rao 1948 (score test); Wooldridge 1991 (its form for any variance); Student 1908.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherence.causal.answers.intervals import batches
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import FittedNode
from coherence.causal.fitting.gram import BATCHES, FEWEST, ROWS_IN_BATCH

MOST_ROWS = 20_000  # the last ones: what does not show in so many is not material
NOTHING = 1e-9  # share of the variance of a column from which it is a sum of others


@dataclass(frozen=True)
class ColumnTest:
    """What one more column says: its slope and standard error, its p value, the share of the rest it explains."""

    slope: float
    error: float
    p: float
    explains: float


@dataclass(frozen=True)
class FilteredRows:
    """Filtered rows of an equation: the effect, what is held fixed (causes, clocks, a constant last), the memory."""

    series: Series
    effect: Floats
    held: Floats  # (rows, columns)
    memory: Floats
    deepest: int

    def column(self, values: Floats, lag: int) -> Floats:
        """Values on the clock of the series, `lag` steps before, filtered as the effect is."""
        return _filtered(shifted(values, lag), self.memory)

    def tests(self, columns: Sequence[Floats], *, constant: bool = True) -> list[ColumnTest]:
        """Tests each column by itself beside what is held; `constant`: whether a constant is held too."""
        held = self.held if constant else self.held[:, :-1]
        table = np.column_stack([held, self.effect, *columns])
        rows = table[np.isfinite(table).all(axis=1)]
        width = held.shape[1]
        if len(rows) < FEWEST * (width + 2):
            return [ColumnTest(0.0, np.inf, 1.0, 0.0)] * len(columns)
        spread = np.sqrt((rows**2).mean(axis=0))
        scale = np.where(spread > 0, spread, 1.0)
        even = rows / scale
        fixed, _ = np.linalg.qr(even[:, :width])
        left = even[:, width:] - fixed @ (fixed.T @ even[:, width:])
        return [_tested(left[:, 0], left[:, 1 + n], scale[width] / scale[width + 1 + n]) for n in range(len(columns))]

    def holding(self, column: Floats) -> FilteredRows:
        """The rows with one more column held fixed."""
        held = np.column_stack([column, self.held])
        return FilteredRows(self.series, self.effect, held, self.memory, self.deepest)


def filtered_rows(series: Series, node: FittedNode) -> FilteredRows:
    """Returns the last rows of a series, made ready for an equation, whose clocks are among its signals."""
    short = series.between(series.start + (len(series) - MOST_ROWS - 0.5) * series.step, np.inf)
    causes = [(shifted(short[name], lag)) for name, lag in node.equation.columns]
    timed = [shifted(short[name], lag) for name, lag in node.equation.clocks]
    own = short[node.effect] - sum(
        (float(weight) * part for weight, part in zip(node.coefficients[0], causes, strict=True)), np.zeros(len(short))
    )
    memory = _memory(own, timed, node.equation.memory)
    constant = np.ones(len(short))
    held = np.column_stack([_filtered(part, memory) for part in (*causes, *timed, constant)])
    deepest = max(lag for _, lag in node.equation.columns)
    return FilteredRows(short, _filtered(short[node.effect], memory), held, memory, deepest)


def _memory(own: Floats, timed: Sequence[Floats], depth: int) -> Floats:
    """The regression of the own part on its past, the clocks held fixed."""
    pasts = [shifted(own, back) for back in range(1, depth + 1)]
    table = np.column_stack([own, *pasts, *timed, np.ones(len(own))])
    rows = table[np.isfinite(table).all(axis=1)]
    if len(rows) <= table.shape[1]:
        return np.zeros(depth)
    return np.asarray(np.linalg.lstsq(rows[:, 1:], rows[:, 0], rcond=None)[0][:depth], np.float64)


def shifted(values: Floats, lag: int) -> Floats:
    """Returns a series so many steps later, with no numbers before its first."""
    return np.concatenate([np.full(lag, np.nan), values[: len(values) - lag]]) if lag else values


def _filtered(values: Floats, memory: Floats) -> Floats:
    return np.asarray(
        values - sum((phi * shifted(values, back) for back, phi in enumerate(memory, start=1)), np.zeros(len(values)))
    )


def _tested(left: Floats, column: Floats, ratio: float) -> ColumnTest:
    """The t value of batch sums of products; both are already cleared of what is held."""
    from scipy.special import stdtr

    size = float(column @ column)
    if size <= NOTHING * len(column):
        return ColumnTest(0.0, np.inf, 1.0, 0.0)
    parts = batches(len(left), max(min(BATCHES, len(left) // ROWS_IN_BATCH), FEWEST))
    total, rest = float(left @ column), float(left @ left)
    by_chance = _spread(left * column, parts)
    error = _spread((left - total / size * column) * column, parts) / size * ratio
    t = abs(total) / by_chance if by_chance > 0 else 0.0
    explains = total**2 / (size * rest) if rest > 0 else 0.0
    return ColumnTest(total / size * ratio, error, float(2 * stdtr(len(parts) - 1, -t)), explains)


def _spread(products: Floats, parts: Sequence[slice]) -> float:
    """The standard error of a sum, from the sums of its batches."""
    sums = np.array([products[part].sum() for part in parts])
    return float(np.sqrt(len(sums) / (len(sums) - 1) * ((sums - sums.mean()) ** 2).sum()))
