"""Lays a directed graph out in columns, so that most edges lead to the right and few cross.

SOURCE: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE
Trans. SMC 1981: edges that go round are turned, nodes get the column of their longest path, long edges pass through
places of their own in the columns between, and columns are ordered by the means of their neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

SWEEPS = 8
Pair = tuple[str, str]
Spot = tuple[str, int]  # a node is (name, -1), the place of edge i in a column between is (str(i), column)


@dataclass(frozen=True)
class LayeredGraph:
    """`nodes`: the column of each node and its height in it, in rows; `routes`: the (column, height) an edge passes."""

    nodes: Mapping[str, tuple[int, float]]
    routes: Mapping[Pair, tuple[tuple[int, float], ...]]


def layered(nodes: Sequence[str], edges: Sequence[Pair]) -> LayeredGraph:
    """Returns where nodes and edges stand.  An edge from a node to itself has no route."""
    pairs = [pair for pair in dict.fromkeys(edges) if pair[0] != pair[1]]
    turned = _turned(nodes, pairs)
    forward = [(b, a) if (a, b) in turned else (a, b) for a, b in pairs]
    column = _columns(nodes, forward)
    chains = [_chain(number, pair, column) for number, pair in enumerate(forward)]
    order = _ordered(nodes, column, chains)
    heights = _heights(order, chains)
    placed = {name: (column[name], heights[name, -1]) for name in nodes}
    routes = {}
    for pair, chain in zip(pairs, chains, strict=True):
        points = [(column[n] if at < 0 else at, heights[n, at]) for n, at in chain]
        routes[pair] = tuple(reversed(points) if pair in turned else points)
    return LayeredGraph(placed, routes)


def _turned(nodes: Sequence[str], pairs: Sequence[Pair]) -> set[Pair]:
    """Returns the edges that close a circle in a walk in depth."""
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in pairs:
        after[a].append(b)
    turned: set[Pair] = set()
    open_: set[str] = set()
    seen: set[str] = set()
    entered = {b for _, b in pairs}
    for root in sorted(nodes, key=lambda name: name in entered):
        walk: list[tuple[str, Iterator[str]]] = [(root, iter(after[root]))] if root not in seen else []
        open_ |= {root} if walk else set()
        seen.add(root)
        while walk:
            node, rest = walk[-1]
            following = next(rest, None)
            if following is None:
                open_.discard(walk.pop()[0])
            elif following in open_:
                turned.add((node, following))
            elif following not in seen:
                seen.add(following)
                open_.add(following)
                walk.append((following, iter(after[following])))
    return turned


def _columns(nodes: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    """Returns the length of the longest path to each node; a node without one stands just before what it leads to."""
    column = dict.fromkeys(nodes, 0)
    for _ in nodes:
        moved = False
        for a, b in pairs:
            if column[b] <= column[a]:
                column[b], moved = column[a] + 1, True
        if not moved:
            break
    entered = {b for _, b in pairs}
    for name in nodes:
        follow = [column[b] for a, b in pairs if a == name]
        if name not in entered and follow:
            column[name] = min(follow) - 1
    return column


def _chain(number: int, pair: Pair, column: Mapping[str, int]) -> list[Spot]:
    between = [(str(number), at) for at in range(column[pair[0]] + 1, column[pair[1]])]
    return [(pair[0], -1), *between, (pair[1], -1)]


def _ordered(nodes: Sequence[str], column: Mapping[str, int], chains: Sequence[list[Spot]]) -> list[list[Spot]]:
    """Returns the spots of each column from top to bottom."""
    columns: list[list[Spot]] = [[] for _ in range(max(column.values(), default=0) + 1)]
    for name in nodes:
        columns[column[name]].append((name, -1))
    for chain in chains:
        for spot in chain[1:-1]:
            columns[spot[1]].append(spot)
    before, after = _neighbours(chains)
    for sweep in range(SWEEPS):
        near = before if sweep % 2 == 0 else after
        rank = {spot: place for spots in columns for place, spot in enumerate(spots)}
        for spots in columns if sweep % 2 == 0 else reversed(columns):
            spots.sort(key=lambda spot: _mean([rank[n] for n in near.get(spot, ())], rank[spot]))
            rank |= {spot: place for place, spot in enumerate(spots)}
    return columns


def _neighbours(chains: Sequence[list[Spot]]) -> tuple[dict[Spot, list[Spot]], dict[Spot, list[Spot]]]:
    before: dict[Spot, list[Spot]] = {}
    after: dict[Spot, list[Spot]] = {}
    for a, b in itertools.chain.from_iterable(map(itertools.pairwise, chains)):
        before.setdefault(b, []).append(a)
        after.setdefault(a, []).append(b)
    return before, after


def _mean(numbers: Sequence[float], other: float) -> float:
    return sum(numbers) / len(numbers) if numbers else other


def _heights(columns: Sequence[list[Spot]], chains: Sequence[list[Spot]]) -> dict[Spot, float]:
    """Returns heights in rows: each spot near the mean of its neighbours, none closer than a row to the next one."""
    before, after = _neighbours(chains)
    heights = {spot: float(place) for spots in columns for place, spot in enumerate(spots)}
    for sweep in range(SWEEPS):
        near = before if sweep % 2 == 0 else after
        for spots in columns if sweep % 2 == 0 else reversed(columns):
            wished = [_mean([heights[n] for n in near.get(spot, ())], heights[spot]) for spot in spots]
            heights |= dict(zip(spots, _apart(wished), strict=True))
    least = min(heights.values(), default=0.0)
    return {spot: height - least for spot, height in heights.items()}


def _apart(wished: Sequence[float]) -> list[float]:
    """Returns heights in this order at least 1 apart and near the wished ones in the mean of squares.

    SOURCE: isotonic regression by pooling neighbours (Ayer and others, 1955), of the wishes less their rank.
    """
    pools: list[tuple[float, int]] = []
    for rank, wish in enumerate(wished):
        mean, count = wish - rank, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    level = [mean for mean, count in pools for _ in range(count)]
    return [mean + rank for rank, mean in enumerate(level)]
