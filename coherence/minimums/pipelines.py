"""Pipelines of stages, executed: one forward one backward, and every order of small ones."""

from __future__ import annotations

import itertools
from fractions import Fraction


def one_forward_one_backward(stages: int, batches: int, forward: Fraction, backward: Fraction) -> Fraction:
    """Makespan of one step: stage s warms up with p - s forward passes, then one backward after each forward.

    A forward pass waits for the stage before, a backward pass for the stage behind; communication is free.
    """
    orders = [_order(stages - stage, batches) for stage in range(stages)]
    done: dict[tuple[str, int, int], Fraction] = {}
    free = [Fraction(0)] * stages
    at = [0] * stages
    left = 2 * stages * batches
    while left:
        for stage in range(stages):
            if at[stage] == len(orders[stage]):
                continue
            kind, batch = orders[stage][at[stage]]
            begin = _ready(done, kind, stage, batch, stages)
            if begin is None:
                continue
            free[stage] = max(free[stage], begin) + (forward if kind == "F" else backward)
            done[kind, stage, batch] = free[stage]
            at[stage] += 1
            left -= 1
    return max(free)


def _order(warm: int, batches: int) -> list[tuple[str, int]]:
    first = min(warm, batches)
    made = [("F", batch) for batch in range(first)]
    for batch in range(batches):
        made.append(("B", batch))
        if batch + first < batches:
            made.append(("F", batch + first))
    return made


def _ready(
    done: dict[tuple[str, int, int], Fraction], kind: str, stage: int, batch: int, stages: int
) -> Fraction | None:
    """When its input is there; None where what makes it has not been placed."""
    if kind == "F":
        return Fraction(0) if stage == 0 else done.get(("F", stage - 1, batch))
    return done.get(("F", stage, batch)) if stage == stages - 1 else done.get(("B", stage + 1, batch))


def idle_share(makespan: Fraction, stages: int, batches: int, work: Fraction) -> Fraction:
    """Idle device time over all device time; `work`: seconds of one micro-batch on one stage."""
    return 1 - Fraction(batches) * work / makespan if stages else Fraction(0)


def shortest_forward(stages: int, batches: int) -> int:
    """The fewest slots in which micro-batches pass all stages, over every order at every stage."""
    best = None
    for orders in itertools.product(itertools.permutations(range(batches)), repeat=stages):
        ready = [0] * batches
        for order in orders:
            free = 0
            for batch in order:
                free = max(free, ready[batch]) + 1
                ready[batch] = free
        best = max(ready) if best is None else min(best, max(ready))
    return best or 0
