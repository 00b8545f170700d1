"""Computes exact Shapley values and interactions of a game whose value is known for every coalition.

Coalitions are bit masks: coalition c holds player p where bit p of c is set, so `values[..., c]` has 2^n entries.
The Harsanyi dividend of a coalition is what its members cause together and no smaller group of them causes:

    d(S) = sum over R within S of (-1)^(|S| - |R|) v(R),    phi(p) = sum over S with p of d(S) / |S|

so that sum of phi = v(all) - v(nobody), always.  Nothing is sampled: more than 12 players are refused.
SOURCE: Shapley 1953; Harsanyi 1963 (dividends).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats

MOST_PLAYERS = 12
TOLD = 0.05  # share of the loss above which an interaction is reported


class NotSplitError(UsageError):
    """A loss that cannot be split exactly as asked; the message says what would help."""


def members(coalition: int, players: int) -> tuple[int, ...]:
    """The players of a coalition."""
    return tuple(player for player in range(players) if coalition >> player & 1)


def dividends(values: Floats) -> Floats:
    """d(S) for every coalition S, along the last axis; the first is v(nobody)."""
    worth = np.array(values, np.float64)
    count = worth.shape[-1]
    for player in range(count.bit_length() - 1):
        shaped = worth.reshape(*worth.shape[:-1], -1, 2, 1 << player)
        shaped[..., 1, :] -= shaped[..., 0, :]
    return worth


def shapley(values: Floats) -> Floats:
    """(..., players): what each player is worth.  Sums to v(all) - v(nobody) to rounding."""
    count = values.shape[-1]
    players = count.bit_length() - 1
    shared = dividends(values)
    sizes = np.array([max(coalition.bit_count(), 1) for coalition in range(count)])
    even = shared / sizes
    holds = (np.arange(count)[:, None] >> np.arange(players)) & 1
    with np.errstate(invalid="ignore"):  # what is infinite without a player is no number: those who ask refuse it
        return np.asarray(even @ holds, np.float64)


def refuse_many(players: Sequence[str], what: str = "causes that act together through non-linear mechanisms") -> None:
    """Raise NotSplitError where an exact split would need more than 2^12 evaluations."""
    if len(players) > MOST_PLAYERS:
        raise NotSplitError(
            f"{len(players)} {what} ({', '.join(players[:6])}, ...): exact Shapley values stop at {MOST_PLAYERS} "
            "players, and a sampled split is not exact; put players into groups"
        )
