"""Draws designs whose places go, with a promise about the members on them, and its truth: every state, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from random import Random
from typing import TypeAlias

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.jobs import reached

Nodes: TypeAlias = tuple[int, ...]  # members on each node; -1: it is lost


def promises_while_places_go(random: Random) -> Drawn:
    """Members placed one by one within a must and the room of each node; some nodes are lost, or drained one by one."""
    nodes, members, room = random.randint(2, 4), random.randint(1, 5), random.choice([2, 3, 9])
    skew = random.choice([1, 1, 2, 3, None])
    kind, number = random.choice(["lost", "drained"]), min(random.choice([1, 1, 1, 2]), nodes)
    counts, bound = random.choice(["available", "available", "missing", "by node"]), random.randint(0, members)

    def holds(state: Nodes) -> bool:
        lie = _total(state)
        return {"available": lie >= bound, "missing": members - lie <= bound, "by node": max(state) <= bound}[counts]

    def placed(shut: frozenset[int], state: Nodes) -> list[Nodes]:
        there = [held for held in state if held >= 0]
        able = [n for n, held in enumerate(state) if 0 <= held < room and n not in shut and _total(state) < members]
        return [_with(state, n, state[n] + 1) for n in able if skew is None or state[n] + 1 - min(there) <= skew]

    def moved(shut: frozenset[int], state: Nodes) -> list[Nodes]:
        return placed(shut, state) + [_with(state, node, state[node] - 1) for node in shut if state[node] > 0]

    def following(start: Nodes) -> Iterator[Nodes]:
        yield start
        for many in range(1, number + 1):
            for gone in map(frozenset, combinations(range(nodes), many)):
                first = tuple(-1 if kind == "lost" and n in gone else held for n, held in enumerate(start))
                yield from reached(first, partial(moved, gone))

    full = reached((0,) * nodes, partial(placed, frozenset()))
    blocked = any(_total(state) < members and not placed(frozenset(), state) for state in full)
    cases = [not all(map(holds, following(state))) for state in full if _total(state) == members]
    words = {
        "available": f"always web.available >= {bound}",
        "missing": f"always web.missing <= {bound}",
        "by node": f"always count of web by node <= {bound}",
    }
    text = f"""coherence: 1
components: {{web: {{copies: {members}, needs: {{slots: 1}}}}}}
places: {{node: {{count: {nodes}, slots: {room}, {kind}: {number}}}}}
{"" if skew is None else f"placement: {{web: [spread by node <= {skew}]}}"}
promises: {{p: {words[counts]}}}
"""
    return Drawn(text, ("COH249",), None if blocked else any(cases), None if blocked else all(cases))


def _total(state: Nodes) -> int:
    return sum(held for held in state if held > 0)


def _with(state: Nodes, node: int, held: int) -> Nodes:
    return (*state[:node], held, *state[node + 1 :])


LOSING: tuple[Callable[[Random], Drawn], ...] = (promises_while_places_go,)
