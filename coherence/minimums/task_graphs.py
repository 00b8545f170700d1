"""Computes longest paths of task graphs with times, and executes schedules of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction

from coherence.base.errors import UsageError

Edge = tuple[int, int]
Number = Fraction | float


def checked(times: Sequence[Number], edges: Iterable[Sequence[int]]) -> tuple[Edge, ...]:
    """Returns the edges as pairs of task numbers.  Raises UsageError for an unknown task, a negative time or a
    cycle."""
    pairs = tuple((int(a), int(b)) for a, b in edges)
    wrong = next((e for e in pairs if not all(0 <= end < len(times) for end in e)), None)
    if wrong is not None:
        raise UsageError(f"edge {wrong[0]} > {wrong[1]}: tasks are numbered 0 to {len(times) - 1}")
    if not times or min(times) < 0:
        raise UsageError("times of a task graph: one or more, none below 0 s")
    order(len(times), pairs)
    return pairs


def order(count: int, edges: Sequence[Edge]) -> list[int]:
    """Tasks, each behind all that it needs.  Raises UsageError for a cycle."""
    needs = [0] * count
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        needs[b] += 1
        after[a].append(b)
    ready = [task for task in range(count) if not needs[task]]
    for task in ready:  # grows while it is walked
        for following in after[task]:
            needs[following] -= 1
            if not needs[following]:
                ready.append(following)
    if len(ready) < count:
        stuck = next(task for task in range(count) if needs[task])
        raise UsageError(f"task {stuck} needs itself: the graph has a cycle")
    return ready


def longest_path(times: Sequence[Number], edges: Sequence[Edge]) -> Number:
    """Returns the largest sum of times along a path."""
    done: list[Number] = list(times)
    before: list[list[int]] = [[] for _ in times]
    for a, b in edges:
        before[b].append(a)
    for task in order(len(times), edges):
        done[task] = times[task] + max((done[one] for one in before[task]), default=0)
    return max(done)


def listed(times: Sequence[Number], edges: Sequence[Edge], workers: int, priority: Sequence[int]) -> Number:
    """Returns the length of the schedule in which a free worker takes the first ready task of a list (Graham)."""
    needs = [0] * len(times)
    for _, b in edges:
        needs[b] += 1
    waiting = [task for task in priority if not needs[task]]
    rank = {task: place for place, task in enumerate(priority)}
    running: list[tuple[Number, int]] = []
    now: Number = Fraction(0)
    while waiting or running:
        waiting.sort(key=rank.__getitem__)
        while waiting and len(running) < workers:
            task = waiting.pop(0)
            running.append((now + times[task], task))
        now = min(end for end, _ in running)
        ended = [task for end, task in running if end == now]
        running = [one for one in running if one[0] != now]
        for a, b in edges:
            if a in ended:
                needs[b] -= 1
                if not needs[b]:
                    waiting.append(b)
    return now


def shortest_listed(times: Sequence[Number], edges: Sequence[Edge], workers: int, *, most: int = 5040) -> Number:
    """Returns the best of the list schedules (of the first `most` lists)."""
    lists = itertools.islice(itertools.permutations(range(len(times))), most)
    return min(listed(times, edges, workers, one) for one in lists)
