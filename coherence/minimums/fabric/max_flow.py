"""Maximum flow and minimum cut with whole numbers: exact, of any size.

Small graphs are solved by Dinic's algorithm on Python integers; large ones by scipy where all numbers fit its 32 bits.

SOURCE: E. Dinic 1970; L. Ford and D. Fulkerson 1956 (the flow equals the cut).
"""

from __future__ import annotations

from collections.abc import Sequence

LARGE = 600  # arcs from which scipy is asked
MOST = 2**30
Arc = tuple[int, int, int]  # from, to, capacity


def flow(nodes: int, arcs: Sequence[Arc], source: int, sink: int) -> tuple[int, frozenset[int]]:
    """Returns the largest flow, and the side of the source in a least cut (what it still reaches)."""
    if len(arcs) >= LARGE and _fits(nodes, arcs):
        return _scipy(nodes, arcs, source, sink)
    return Residual(nodes, arcs).run(source, sink)


def _fits(nodes: int, arcs: Sequence[Arc]) -> bool:
    """What can enter or leave a node in all fits 31 bits, so that no residual passes 32."""
    if sum(capacity for _, _, capacity in arcs) <= MOST:
        return True
    into = [0] * nodes
    out = [0] * nodes
    for source, other, capacity in arcs:
        out[source] += capacity
        into[other] += capacity
    return max(*into, *out) <= MOST


def _scipy(nodes: int, arcs: Sequence[Arc], source: int, sink: int) -> tuple[int, frozenset[int]]:
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    start, other, capacity = (np.array(column, dtype=np.int64) for column in zip(*arcs, strict=True))
    graph = csr_matrix((capacity, (start, other)), shape=(nodes, nodes)).astype(np.int32)  # parallel arcs are added
    flow = maximum_flow(graph, source, sink)
    left = (graph - flow.flow).tocsr()
    left.eliminate_zeros()
    side = breadth_first_order(left, source, return_predecessors=False)
    return int(flow.flow_value), frozenset(side.tolist())


class Residual:
    """What may still flow; every arc stands beside its way back."""

    def __init__(self, nodes: int, arcs: Sequence[Arc]) -> None:
        self.after: list[list[int]] = [[] for _ in range(nodes)]
        self.head: list[int] = []
        self.left: list[int] = []
        for source, other, capacity in arcs:
            self.after[source].append(len(self.head))
            self.after[other].append(len(self.head) + 1)
            self.head += (other, source)
            self.left += (capacity, 0)

    def run(self, source: int, sink: int) -> tuple[int, frozenset[int]]:
        """Blocking flows along shortest paths until none is left."""
        total = 0
        while True:
            level = self._levels(source, sink)
            if level[sink] < 0:
                return total, frozenset(k for k, depth in enumerate(level) if depth >= 0)
            total += self._blocking(source, sink, level)

    def _levels(self, source: int, sink: int) -> list[int]:
        level = [-1] * len(self.after)
        level[source] = 0
        layer = [source]
        while layer and level[sink] < 0:
            after = []
            for node in layer:
                for arc in self.after[node]:
                    other = self.head[arc]
                    if self.left[arc] and level[other] < 0:
                        level[other] = level[node] + 1
                        after.append(other)
            layer = after
        return level

    def _blocking(self, source: int, sink: int, level: list[int]) -> int:
        """Depth first, without recursion; an arc that leads nowhere is not tried again."""
        total, path = 0, list[int]()
        tried = [0] * len(self.after)
        node = source
        while True:
            if node == sink:
                least = min(self.left[arc] for arc in path)
                total += least
                node, path = self._push(source, path, least)
                continue
            arc = self._next(node, level, tried)
            if arc is not None:
                path.append(arc)
                node = self.head[arc]
            elif node == source:
                return total
            else:
                node = self.head[path.pop() ^ 1]
                tried[node] += 1

    def _next(self, node: int, level: list[int], tried: list[int]) -> int | None:
        arcs = self.after[node]
        while tried[node] < len(arcs):
            arc = arcs[tried[node]]
            if self.left[arc] and level[self.head[arc]] == level[node] + 1:
                return arc
            tried[node] += 1
        return None

    def _push(self, source: int, path: list[int], least: int) -> tuple[int, list[int]]:
        """Send `least` along the path, and go back to before its first arc that is full now."""
        first = len(path)
        for index in range(len(path) - 1, -1, -1):
            arc = path[index]
            self.left[arc] -= least
            self.left[arc ^ 1] += least
            if not self.left[arc]:
                first = index
        start = path[:first]
        return (self.head[start[-1]] if start else source), start
