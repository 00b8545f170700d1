"""Shapley values by their definition: over every order of the players."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations


def by_orders(value: Callable[[frozenset[int]], float], players: int) -> list[float]:
    """The mean of what each player adds, over every order."""
    totals = [0.0] * players
    for order in permutations(range(players)):
        there: frozenset[int] = frozenset()
        before = value(there)
        for player in order:
            there |= {player}
            after = value(there)
            totals[player] += after - before
            before = after
    return [total / math.factorial(players) for total in totals]
