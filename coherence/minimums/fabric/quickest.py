"""The quickest way to bring data from one node to another over wires with latencies: a flow over time.

Ways that begin together and end one after another, each so that its last byte arrives with the others', attain the
least time, and no schedule is quicker, coding or not.  Ways are added from the shortest latency on (each shortest in
what is left of the wires, against earlier ones where that helps) as long as their latency is below the time so far.

SOURCE: L. Ford and D. Fulkerson 1958 (maximal dynamic flows); R. Burkard, K. Dlaska and B. Klinz 1993 (quickest flows).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.fabric.cuts import whole
from coherence.minimums.fabric.trees import Tree
from coherence.minimums.fabric.wiring import Fabric


@dataclass
class _Arc:
    """A wire, or what may be sent back over it: `back` is the place of its turned arc."""

    target: int
    room: int
    late: int
    back: int


class _Wires:
    """Arcs of a fabric in whole numbers, with what is left of them."""

    def __init__(self, fabric: Fabric, latency: Fraction) -> None:
        self.index = {name: k for k, name in enumerate(fabric.nodes)}
        self.after: list[list[_Arc]] = [[] for _ in self.index]
        rooms, self.rate = whole([wire.rate for wire in fabric.wires])
        late = [wire.latency + latency for wire in fabric.wires]
        self.second = Fraction(1, math.lcm(*(time.denominator for time in late)))
        for wire, room, time in zip(fabric.wires, rooms, late, strict=True):
            near, other, steps = self.index[wire.source], self.index[wire.target], int(time / self.second)
            self.after[near].append(_Arc(other, room, steps, len(self.after[other])))
            self.after[other].append(_Arc(near, 0, -steps, len(self.after[near]) - 1))

    def shortest(self, source: int, heights: list[int]) -> tuple[dict[int, int], dict[int, tuple[int, _Arc]]]:
        """Returns distances in what is left, less heights (no arc is below 0 then), and the arc before each node."""
        far, before, done = {source: 0}, dict[int, tuple[int, _Arc]](), set[int]()
        nearest = [(0, source)]
        while nearest:
            at, node = heapq.heappop(nearest)
            if node in done:
                continue
            done.add(node)
            for arc in self.after[node]:
                length = at + arc.late + heights[node] - heights[arc.target]
                if arc.room and arc.target not in done and length < far.get(arc.target, length + 1):
                    far[arc.target], before[arc.target] = length, (node, arc)
                    heapq.heappush(nearest, (length, arc.target))
        return far, before


def quickest(fabric: Fabric, source: str, sink: str, size: Fraction, latency: Fraction = Fraction(0)) -> Fraction:
    """Returns the least time in which so many bytes come from one node to another, with so much over each wire beside
    its own latency.  Raises UsageError where no path of wires leads there.
    """
    wires = _Wires(fabric, latency)
    start, end = wires.index[source], wires.index[sink]
    heights, rate, spent = [0] * len(wires.index), Fraction(0), Fraction(0)
    time: Fraction | None = None
    while True:
        far, before = wires.shortest(start, heights)
        if end not in far:
            break
        most = max(far.values())
        heights = [height + far.get(node, most) for node, height in enumerate(heights)]
        away = (heights[end] - heights[start]) * wires.second
        if time is not None and away >= time:
            break
        more = _sent(wires, before, start, end) * wires.rate
        rate, spent = rate + more, spent + more * away
        time = (size + spent) / rate
    if time is None:
        raise UsageError(f"{fabric.name} is not connected: no path of wires leads from {source} to {sink}")
    return time


def _sent(wires: _Wires, before: dict[int, tuple[int, _Arc]], start: int, end: int) -> int:
    """Sends what fits along the shortest way; returns how much."""
    way, node = list[_Arc](), end
    while node != start:
        node, arc = before[node]
        way.append(arc)
    many = min(arc.room for arc in way)
    for arc in way:
        arc.room -= many
        wires.after[arc.target][arc.back].room += many
    return many


def nearest_tree(fabric: Fabric, root: str, data: Fraction, latency: Fraction = Fraction(0)) -> Tree:
    """Returns a tree over which each member hears by the quickest way for small messages."""
    wires, names = _Wires(fabric, latency), fabric.nodes
    start = wires.index[root]
    _, before = wires.shortest(start, [0] * len(names))
    paths, waiting = list[tuple[str, ...]](), [name for name in fabric.names if name != root]
    reached = {start}
    while waiting:
        path = [wires.index[waiting[-1]]]
        while path[-1] not in reached and (len(path) == 1 or names[path[-1]] not in waiting):
            path.append(before[path[-1]][0])
        if path[-1] in reached:
            paths.append(tuple(names[node] for node in reversed(path)))
            reached.add(path[0])
            waiting.remove(names[path[0]])
        else:
            waiting.append(waiting.pop(waiting.index(names[path[-1]])))  # what lies before it comes first
    return Tree(root, data, tuple(paths))


def filled(windows: Iterable[tuple[Fraction, Fraction]], data: Fraction) -> Fraction:
    """Returns when wires that each begin at a time have carried so much, each at its rate."""
    end, rate, unused = Fraction(0), Fraction(0), Fraction(0)
    for begins, own in sorted(windows):
        if rate and begins >= end:
            break
        rate, unused = rate + own, unused + own * begins
        end = (data + unused) / rate
    return end


def streamed_trees(
    trees: Sequence[Tree], busiest: Fraction, size: Fraction, late: dict[tuple[str, str], Fraction]
) -> Fraction:
    """Returns when trees have brought all data (`size` bytes for each unit of it) to their last members.

    busiest: seconds a byte, of the wire that sends most.  Each tree sends ever smaller chunks at its share of the wires
    and stops so that all trees of one root end together; trees longer than that are not used.
    """
    ends = dict[str, list[tuple[Fraction, Fraction]]]()
    for tree in trees:
        far = {tree.root: Fraction(0)}
        for path in tree.paths:
            far[path[-1]] = far[path[0]] + sum((late[step] for step in itertools.pairwise(path)), Fraction(0))
        ends.setdefault(tree.root, []).append((max(far.values()), tree.data / busiest))
    held = {root: sum((tree.data for tree in trees if tree.root == root), Fraction(0)) for root in ends}
    return max(filled(windows, size * held[root]) for root, windows in ends.items())
