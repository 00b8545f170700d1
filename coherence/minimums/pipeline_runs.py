"""Executes pipelines of unlike stages: a given order at each stage, all orders of small ones, a split backward.

A pass is (kind, micro-batch): `F` forward, `B` backward for inputs (or all of the backward pass), `W` for weights.
Communication is free, as in every floor of a pipeline.  Times in seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

Pass = tuple[str, int]
Times = Mapping[str, Sequence[Fraction]]  # kind -> seconds at each stage


def makespan(orders: Sequence[Sequence[Pass]], times: Times) -> Fraction | None:
    """Returns when the last stage is done (s); None where the orders wait for each other for ever."""
    finished = ended(orders, times)
    return max((end for end, _ in finished.values()), default=Fraction(0)) if finished is not None else None


def ended(
    orders: Sequence[Sequence[Pass]], times: Times
) -> dict[tuple[str, int, int], tuple[Fraction, Fraction]] | None:
    """Returns (end, begin) of every pass by (kind, stage, micro-batch); None where the orders wait for ever."""
    stages, done = len(orders), dict[tuple[str, int, int], tuple[Fraction, Fraction]]()
    free, at = [Fraction(0)] * stages, [0] * stages
    moved = True
    while moved:
        moved = False
        for stage, order in enumerate(orders):
            while at[stage] < len(order):
                kind, batch = order[at[stage]]
                before = needed(kind, stage, batch, stages)
                if before is not None and before not in done:
                    break
                begin = max(free[stage], done[before][0] if before is not None else Fraction(0))
                free[stage] = begin + times[kind][stage]
                done[kind, stage, batch] = (free[stage], begin)
                at[stage] += 1
                moved = True
    return done if all(at[s] == len(orders[s]) for s in range(stages)) else None


def needed(kind: str, stage: int, batch: int, stages: int) -> tuple[str, int, int] | None:
    """Returns the pass whose end one waits for; None for the first forward pass."""
    if kind == "F":
        return ("F", stage - 1, batch) if stage else None
    if kind == "W":
        return ("B", stage, batch)
    return ("F", stage, batch) if stage == stages - 1 else ("B", stage + 1, batch)


def one_by_one(stages: int, batches: int) -> list[list[Pass]]:
    """Returns the order one forward, one backward: stage s begins with p - s forward passes, then alternates."""
    orders: list[list[Pass]] = []
    for stage in range(stages):
        first = min(stages - stage, batches)
        order: list[Pass] = [("F", batch) for batch in range(first)]
        for batch in range(batches):
            order.append(("B", batch))
            if batch + first < batches:
                order.append(("F", batch + first))
        orders.append(order)
    return orders


def split(stages: int, batches: int) -> list[list[Pass]]:
    """Returns that order with weight gradients put off: stage s keeps s of them back to fill its drain."""
    orders: list[list[Pass]] = []
    for stage, order in enumerate(one_by_one(stages, batches)):
        late: list[Pass] = []
        passes: list[Pass] = []
        for kind, batch in order:
            passes.append((kind, batch))
            if kind == "B":
                late.append(("W", batch))
            if kind == "B" and len(late) > stage:
                passes.append(late.pop(0))
        orders.append(passes + late)
    return orders


def orders(batches: int) -> Iterator[tuple[Pass, ...]]:
    """Yields every order of the forward and backward passes of one stage in which a backward follows its forward."""
    every = [(kind, batch) for kind in ("F", "B") for batch in range(batches)]
    for order in itertools.permutations(every):
        if all(order.index(("F", batch)) < order.index(("B", batch)) for batch in range(batches)):
            yield order


def shortest(stages: int, batches: int, times: Times) -> Fraction:
    """Returns the least makespan over every order at every stage.  Of small pipelines only: (2 m)!/2^m orders a
    stage."""
    found = (makespan(chosen, times) for chosen in itertools.product(tuple(orders(batches)), repeat=stages))
    return min(one for one in found if one is not None)


def stage_floor(batches: int, times: Times) -> Fraction:
    """Returns the time (s) below which no schedule of a step with a flush gets, whatever each stage takes.

    For every stage: nothing reaches it before the forward passes of the stages before it, and after its last pass,
    a backward one, those of the same stages are left.  Between lie its own passes; or all its backward passes after
    the first gradient can have come back; or all its forward passes, and the way of the last one to the end and back.
    """
    forward, backward = times["F"], times["B"]
    best = Fraction(0)
    for stage in range(len(forward)):
        into, out = sum(forward[:stage], Fraction(0)), sum(backward[:stage], Fraction(0))
        beyond = sum(forward[stage + 1 :], Fraction(0)) + sum(backward[stage + 1 :], Fraction(0))
        own = batches * (forward[stage] + backward[stage])
        first = forward[stage] + beyond + batches * backward[stage]
        last = batches * forward[stage] + beyond + backward[stage]
        best = max(best, into + max(own, first, last) + out)
    return best
