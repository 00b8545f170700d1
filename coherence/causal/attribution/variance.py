"""Splits the slow variation of a loss over the own parts of the signals that act on it.

With batch means x_b and own parts u_b = x_b - sum over lags k of M_k x_b(k), where x_b(k) is the mean of the same rows
k steps before, L_b is the sum over j of T[L, j] u_jb, and what delays carry over the ends of the batch.  So the
variance of the batch means of the loss, times the batch length (its long-run variance), is the sum of one term for each
own part, and of one for the pairs of own parts that move together and for what delays carry over.  That one is a
group of its own: no rule divides it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.data.series import Floats
from coherence.causal.fitting.effects import knots, matrix, radius, total
from coherence.causal.fitting.fit import Fitted
from coherence.causal.fitting.gram import means

TOLD = 0.05  # share of the variance above which a pair is named


@dataclass(frozen=True)
class VariancePart:
    """What one own part (or one pair: its covariance, twice) makes of the variance; `share` of the whole."""

    causes: tuple[str, ...]
    amount: Estimate
    share: float
    refused: str = ""


@dataclass(frozen=True)
class Variance:
    """sum(parts) + together = total, exactly.  Long-run variances, in (unit of the loss)^2 seconds."""

    loss: str
    total: Estimate
    parts: tuple[VariancePart, ...]
    together: Estimate  # all pairs, and what delays carry from one batch into the next
    pairs: tuple[VariancePart, ...]  # the large ones among them

    @property
    def error(self) -> float:
        """|parts + together - total| over the largest."""
        values = [part.amount.value for part in self.parts] + [self.together.value]
        size = max(map(abs, [*values, self.total.value]), default=0.0)
        return abs(sum(values) - self.total.value) / size if size else 0.0


def variance(fitted: Fitted, loss: str) -> Variance:
    """Split the long-run variance of a signal over the own parts behind it.  Raises UsageError."""
    if loss not in fitted.signals:
        raise UsageError(f"'{loss}' is not among the fitted signals: {did_you_mean(loss, fitted.signals)}")
    if fitted.batches < 3:
        raise UsageError(f"{fitted.batches} batches are too few for a variance between them: give a longer record")
    if radius(fitted) >= 1:
        raise UsageError("the fitted feedback does not die out: it has no long-run variance")
    teams = _teams(fitted, loss)
    tables, whole = _covariances(fitted, loss, [names for names, _ in teams])
    size = float(whole[0])
    parts = [
        VariancePart(names, _estimate_of(tables[:, n, n]), float(tables[0, n, n]) / size if size else 0.0, why)
        for n, (names, why) in enumerate(teams)
        if np.any(tables[:, n, n])
    ]
    together = whole - np.trace(tables, axis1=1, axis2=2)
    pairs = [
        VariancePart((*teams[n][0], *teams[k][0]), _estimate_of(2 * tables[:, n, k]), float(2 * tables[0, n, k]) / size)
        for n in range(len(teams))
        for k in range(n)
        if size and abs(2 * float(tables[0, n, k])) > TOLD * size
    ]
    return Variance(loss, _estimate_of(whole), tuple(parts), _estimate_of(together), tuple(pairs))


def _teams(fitted: Fitted, loss: str) -> list[tuple[tuple[str, ...], str]]:
    tied = knots(fitted, loss)
    taken = {name for knot in tied for name in knot.members}
    alone = [((name,), "") for name in fitted.signals if name not in taken]
    return [*alone, *((knot.members, knot.why) for knot in tied)]


def _own(fitted: Fitted) -> Floats:
    """(1 + B, signals, B): the mean of each own part in each batch, with the coefficients that lack batch b."""
    level = means(fitted.grams, fitted.grams.batches)
    levels = np.stack([level[name, 0] for name in fitted.signals])[None].repeat(fitted.batches + 1, axis=0)
    at = {name: number for number, name in enumerate(fitted.signals)}
    for effect, node in fitted.nodes.items():
        for number, column in enumerate(node.equation.columns):
            levels[:, at[effect]] -= node.coefficients[:, number, None] * level[column]
    return levels


def _covariances(fitted: Fitted, loss: str, teams: list[tuple[str, ...]]) -> tuple[Floats, Floats]:
    """Long-run covariances of what each team sends to the loss, and the loss's variance; row b lacks batch b.

    (1 + B, teams, teams) and (1 + B,).
    """
    at = fitted.signals.index(loss)
    sent = total(matrix(fitted))[:, at, :, None] * _own(fitted)
    grouped = np.stack([sent[:, [fitted.signals.index(n) for n in names]].sum(axis=1) for names in teams], axis=1)
    count = fitted.batches
    weights = np.ones((count + 1, count))
    weights[np.arange(1, count + 1), np.arange(count)] = 0.0
    each = weights.sum(axis=1)
    moved = means(fitted.grams, fitted.grams.batches)[loss, 0]
    both = np.concatenate([grouped, np.broadcast_to(moved, (count + 1, 1, count))], axis=1)
    middle = (both * weights[:, None]).sum(axis=2) / each[:, None]
    off = (both - middle[:, :, None]) * weights[:, None]
    seconds = float(fitted.grams.rows.mean()) * fitted.step
    tables = np.asarray(off @ off.transpose(0, 2, 1) / (each - 1)[:, None, None] * seconds, np.float64)
    return tables[:, :-1, :-1], tables[:, -1, -1]


def _estimate_of(row: Floats) -> Estimate:
    return estimate(float(row[0]), row[1:])
