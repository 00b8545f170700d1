"""Broadcasts on any fabric: how soon a member can be told at all, and trees in chunks that tell all members.

No member is told sooner than by the quickest flow from the root to it alone.

SOURCE: L. Ford and D. Fulkerson 1958 (flows over time); J. Edmonds 1973 (trees that tell all as fast as the worst).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from coherence.minimums.fabric.cuts import capacity
from coherence.minimums.fabric.quickest import nearest_tree, quickest, streamed_trees
from coherence.minimums.fabric.trees import Tree, executed, trees
from coherence.minimums.fabric.wiring import Fabric

Number = Fraction | float


def distances(fabric: Fabric, roots: Iterable[str], latency: Number = 1, *, back: bool = False) -> dict[str, Fraction]:
    """Returns the least time from the nearest root to each node, with so much over each wire beside its own.

    back: from each node to the nearest root.
    """
    more, own = Fraction(latency), {id(wire.latency): wire.latency for wire in fabric.wires}  # few objects, many wires
    unit = math.lcm(*((time + more).denominator for time in own.values()))
    whole = {each: int((time + more) * unit) for each, time in own.items()}
    after = dict[str, list[tuple[int, str]]]()
    for wire in fabric.wires:
        near, other = (wire.target, wire.source) if back else (wire.source, wire.target)
        after.setdefault(near, []).append((whole[id(wire.latency)], other))
    far, nearest = dict[str, int](), [(0, root) for root in roots]
    heapq.heapify(nearest)
    while nearest:
        at, node = heapq.heappop(nearest)
        if node not in far:
            far[node] = at
            for time, other in after.get(node, ()):
                if other not in far:
                    heapq.heappush(nearest, (at + time, other))
    lengths = {time: Fraction(time, unit) for time in set(far.values())}
    return {node: lengths[time] for node, time in far.items()}


def floor(fabric: Fabric, size: Number, latency: Number) -> Number:
    """Returns when the last member can be told by the first one, at the earliest."""
    root, *others = fabric.names
    if not latency and not any(wire.latency for wire in fabric.wires):
        return max(size * capacity(fabric, (root,), (name,)).time for name in others)
    return max(quickest(fabric, root, name, Fraction(size), Fraction(latency)) for name in others)


def from_root(fabric: Fabric) -> tuple[Fabric, tuple[Tree, ...]]:
    """Returns the fabric whose first member holds all (1 in all), and trees that bring it to the others."""
    root = fabric.names[0]
    held = replace(fabric, members=tuple((name, Fraction(name == root)) for name in fabric.names))
    return held, trees(held)


def told_by_trees(fabric: Fabric, size: Number, latency: Number) -> Number:
    """Returns what trees take in ever smaller chunks: those that share the wires best, or the nearest one if sooner."""
    held, packed = from_root(fabric)
    late = {step: own + Fraction(latency) for step, own in latencies(fabric).items()}
    near = (nearest_tree(fabric, fabric.names[0], Fraction(1), Fraction(latency)),)
    kinds = (packed, near) if any(late.values()) else (packed,)
    return min(streamed_trees(kind, executed(held, kind), Fraction(size), late) for kind in kinds)


def latencies(fabric: Fabric) -> dict[tuple[str, str], Fraction]:
    """Returns the longest latency of the wires between two nodes, for whatever goes over all of them."""
    longest = dict[tuple[str, str], Fraction]()
    for wire in fabric.wires:
        longest[wire.source, wire.target] = max(wire.latency, longest.get((wire.source, wire.target), wire.latency))
    return longest


def told_by_steps(fabric: Fabric, size: Fraction, latency: Fraction, chunks: int) -> Fraction:
    """Runs each tree in so many chunks: a wire sends one at a time, a node sends on what it has whole.

    Returns when the last member has all.
    """
    _, packed = from_root(fabric)
    free, own = dict[tuple[str, str], Fraction](), latencies(fabric)
    rates = {(w.source, w.target): Fraction(0) for w in fabric.wires}
    for wire in fabric.wires:
        rates[wire.source, wire.target] += wire.rate
    end = Fraction(0)
    for tree, arrived in _sent(packed, chunks):
        for path in tree.paths:
            at = arrived[path[0]]
            for step in itertools.pairwise(path):
                free[step] = max(at, free.get(step, Fraction(0))) + size * tree.data / chunks / rates[step]
                at = free[step] + latency + own[step]
            arrived[path[-1]] = at
        end = max(end, *arrived.values())
    return end


def _sent(packed: Sequence[Tree], chunks: int) -> Iterator[tuple[Tree, dict[str, Fraction]]]:
    """Yields the trees in turn, once for each chunk, with when it is where (at the root from the start)."""
    for _ in range(chunks):
        for tree in packed:
            yield tree, {tree.root: Fraction(0)}
