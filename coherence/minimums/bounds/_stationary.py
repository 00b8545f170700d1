"""Solves chains of states: the share of time in each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def stationary(first: Any, moves: Callable[[Any], list[tuple[Any, float]]]) -> dict[Any, float]:
    """Returns the share of time in every state that can be reached."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    places, order = {first: 0}, [first]
    rows, columns, rates = [], [], []
    for state in order:
        for target, rate in moves(state):
            if target not in places:
                places[target] = len(order)
                order.append(target)
            rows += [places[target], places[state]]
            columns += [places[state]] * 2
            rates += [rate, -rate]
    inside = [k for k, row in enumerate(rows) if row]  # the first line says that the shares add to one
    whole = range(len(order))
    line = [*(rows[k] for k in inside), *([0] * len(order))]
    column, value = [*(columns[k] for k in inside), *whole], [*(rates[k] for k in inside), *([1.0] * len(order))]
    flow = coo_array((value, (line, column))).tocsc()
    shares = spsolve(flow, np.eye(1, len(order)).ravel())
    return dict(zip(order, map(float, shares), strict=True))
