"""Broadcasts on any fabric: how soon a member can be told at all, and trees in chunks that tell all members.

To a member v nothing comes before its distance from the root, and after that no more than the least cut carries: what
crosses the cut leaves the root earlier and arrives later by the wires before and behind it.

SOURCE: L. Ford and D. Fulkerson 1958 (flows over time); J. Edmonds 1973 (trees that tell all as fast as the worst).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from coherence.minimums.fabric.cuts import capacity
from coherence.minimums.fabric.trees import Tree, executed, trees
from coherence.minimums.fabric.wiring import Fabric

Number = Fraction | float


def distances(fabric: Fabric, root: str) -> dict[str, int]:
    """Returns how many wires lie between the root and each node that it reaches, by the shortest way."""
    far, layer = {root: 0}, [root]
    while layer:
        layer = list(dict.fromkeys(w.target for w in fabric.wires if w.source in layer and w.target not in far))
        far.update(dict.fromkeys(layer, max(far.values()) + 1))
    return far


def floor(fabric: Fabric, size: Number, latency: Number) -> Number:
    """Returns when the last member can be told by the first one, at the earliest."""
    root, *others = fabric.names
    far = distances(fabric, root)
    return max(far[name] * latency + size * capacity(fabric, (root,), (name,)).time for name in others)


def from_root(fabric: Fabric) -> tuple[Fabric, tuple[Tree, ...]]:
    """Returns the fabric whose first member holds all (1 in all), and trees that bring it to the others."""
    root = fabric.names[0]
    held = replace(fabric, members=tuple((name, Fraction(name == root)) for name in fabric.names))
    return held, trees(held)


def told_by_trees(fabric: Fabric, size: Number, latency: Number) -> Number:
    """Returns what trees take in ever smaller chunks: their longest way, and the busiest wire."""
    held, packed = from_root(fabric)
    deepest = max(depth for tree in packed for depth in _depths(tree).values())
    return deepest * latency + size * executed(held, packed)


def _depths(tree: Tree) -> dict[str, int]:
    far = {tree.root: 0}
    for path in tree.paths:
        far[path[-1]] = far[path[0]] + len(path) - 1
    return far


def told_by_steps(fabric: Fabric, size: Fraction, latency: Fraction, chunks: int) -> Fraction:
    """Runs each tree in so many chunks: a wire sends one at a time, a node sends on what it has whole.

    Returns when the last member has all.
    """
    _, packed = from_root(fabric)
    free: dict[tuple[str, str], Fraction] = {}
    rates = {(w.source, w.target): Fraction(0) for w in fabric.wires}
    for wire in fabric.wires:
        rates[wire.source, wire.target] += wire.rate
    end = Fraction(0)
    for tree, arrived in _sent(packed, chunks):
        for path in tree.paths:
            at = arrived[path[0]]
            for step in itertools.pairwise(path):
                free[step] = max(at, free.get(step, Fraction(0))) + size * tree.data / chunks / rates[step]
                at = free[step] + latency
            arrived[path[-1]] = at
        end = max(end, *arrived.values())
    return end


def _sent(packed: Sequence[Tree], chunks: int) -> Iterator[tuple[Tree, dict[str, Fraction]]]:
    """Yields the trees in turn, once for each chunk, with when it is where (at the root from the start)."""
    for _ in range(chunks):
        for tree in packed:
            yield tree, {tree.root: Fraction(0)}
