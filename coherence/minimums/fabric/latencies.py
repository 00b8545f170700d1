"""Floors of collectives over wires with latencies of their own: what comes from afar has less time on the wires.

Of the data of members at least `away` seconds from a member v, what crosses a cut before v left them earlier and
arrives later, by the wires before and behind it: it has T - away seconds there.  So, over sinks, distances and cuts,

    all-gather      T >= away + (data inside, of members that far) / (rate out)
    reduce-scatter  the same against the wires: each sum that is wanted inside has a part of v in it
    all-reduce      T >= the quickest flow of each pair, and what enters blocks has over each wire what is left of T
                    after the way to it from the nearest other block

SOURCE: L. Ford and D. Fulkerson 1958 (flows over time); otherwise as `cuts` and `reductions`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.minimums.fabric.broadcasts import distances, latencies
from coherence.minimums.fabric.cuts import FabricCut, Trials, added, all_gather, capacity, cut_of
from coherence.minimums.fabric.quickest import filled, nearest_tree, quickest, streamed_trees
from coherence.minimums.fabric.reductions import Reduction, blocks_of, candidates, reduction_of
from coherence.minimums.fabric.symmetry import representatives
from coherence.minimums.fabric.trees import Tree, executed
from coherence.minimums.fabric.wiring import Fabric, Wire, turned

FEW = 64  # members up to which each is asked, without a search for those that are alike


@dataclass(frozen=True)
class LateCut:
    """`time`: seconds in all, of which `away` pass on the way to `sink`; the rest over the `wires` out of `inside`."""

    time: Fraction
    away: Fraction
    sink: str
    inside: frozenset[str]
    wires: tuple[Wire, ...]


@dataclass(frozen=True)
class LateBlocks:
    """`time`: seconds in all; the sets of a partition, or one side of a cut."""

    time: Fraction
    sets: tuple[frozenset[str], ...]


def instant(fabric: Fabric) -> bool:
    """Returns whether no wire has a latency."""
    return not any(wire.latency for wire in fabric.wires)


def _late_cut(
    fabric: Fabric, size: Fraction, sink: str, away: Fraction, cut: FabricCut, distant: Collection[str]
) -> LateCut:
    data = added(share for name, share in fabric.members if name in cut.inside and name in distant)
    return LateCut(away + size * data / cut.rate if sink not in cut.inside and data else Fraction(0),
                   away, sink, cut.inside, cut.wires)  # fmt: skip


def gathered(fabric: Fabric, size: Fraction) -> LateCut:
    """Returns the worst cut of an all-gather of so many bytes for each unit of share."""
    kinds = representatives(fabric) if len(fabric.members) > FEW or not instant(fabric) else fabric.names
    trials, nodes = Trials(fabric), frozenset(fabric.nodes)
    plain = all_gather(fabric, kinds, trials)
    outside = next(name for name in fabric.names if name not in plain.inside)
    worst = LateCut(size * plain.time, Fraction(0), outside, plain.inside, plain.wires)
    if instant(fabric):
        return worst
    for sink in kinds:
        far, distant, layers = distances(fabric, (sink,), 0, back=True), set[str](), dict[Fraction, list[str]]()
        for name in fabric.names:
            if name != sink:
                layers.setdefault(far[name], []).append(name)
        for away in sorted(layers, reverse=True):
            if away + size * plain.time <= worst.time:
                break  # what is nearer can be no worse
            distant.update(layers[away])
            inside: frozenset[str] | None = nodes - {sink}
            while inside is not None:
                worst = max(worst, _late_cut(fabric, size, sink, away, cut_of(fabric, inside), distant), key=_time)
                inside = trials.short_of(sink, (worst.time - away) / size, distant) if size else None
    return worst


def _time(cut: LateCut) -> Fraction:
    return cut.time


def reduced(fabric: Fabric, size: Fraction) -> LateBlocks:
    """Returns the worst partition, or pair of members, of an all-reduce of so many bytes."""
    plain = candidates(fabric)
    floors = [LateBlocks(size * blocks_of(fabric, sets).time, sets) for sets in plain]
    if instant(fabric):
        return max(floors, key=lambda found: found.time)
    narrowest = max(found.time for found in floors if len(found.sets) == 1)
    worst = max([*floors, *(_entered(fabric, size, sets) for sets in plain)], key=lambda found: found.time)
    for away, source, sink in sorted(_pairs(fabric), reverse=True):
        if away + narrowest <= worst.time:
            break
        time = quickest(fabric, source, sink, size)
        if time > worst.time:
            worst = LateBlocks(time, (capacity(fabric, (source,), (sink,)).inside,))
    return worst


def _pairs(fabric: Fabric) -> Iterator[tuple[Fraction, str, str]]:
    for source in representatives(fabric):
        far = distances(fabric, (source,), 0)
        yield from ((far[sink], source, sink) for sink in fabric.names if sink != source)


def _entered(fabric: Fabric, size: Fraction, sets: tuple[frozenset[str], ...]) -> LateBlocks:
    """Returns when the parts that 2 (t - 1) receipts tell can have entered t blocks."""
    if len(sets) == 1 or not blocks_of(fabric, sets).time:
        return LateBlocks(Fraction(0), sets)
    windows = [window for block in sets for window in _windows(fabric, block, sets)]
    return LateBlocks(filled(windows, 2 * (len(sets) - 1) * size), sets)


def _windows(
    fabric: Fabric, block: frozenset[str], sets: tuple[frozenset[str], ...]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields how soon something of another block can be in over each wire, and the wire's rate."""
    far = distances(fabric, (node for other in sets if other != block for node in other), 0)
    for wire in fabric.wires:
        if wire.target in block and wire.source not in block and wire.source in far:
            yield far[wire.source] + wire.latency, wire.rate


def longest(fabric: Fabric, trees: Iterable[Tree]) -> dict[str, Fraction]:
    """Returns the longest time of a way from each root over its trees, without the bytes."""
    own, most = latencies(fabric), dict[str, Fraction]()
    for tree in trees:
        far = {tree.root: Fraction(0)}
        for path in tree.paths:
            far[path[-1]] = far[path[0]] + sum((own[step] for step in itertools.pairwise(path)), Fraction(0))
        most[tree.root] = max(*far.values(), most.get(tree.root, Fraction(0)))
    return most


def told_by_all(fabric: Fabric, size: Fraction, packed: Sequence[Tree] = ()) -> Fraction:
    """Returns what an all-gather takes in ever smaller chunks over these trees, or over the nearest ones if sooner."""
    late, near = latencies(fabric), [nearest_tree(fabric, name, share) for name, share in fabric.members if share]
    kinds = (packed,) if instant(fabric) else (packed, near)
    return min(streamed_trees(kind, executed(fabric, kind), size, late) for kind in kinds if kind)


def streamed(fabric: Fabric, reduction: Reduction, size: Fraction) -> Fraction:
    """Returns what an all-reduce takes in ever smaller chunks: the longest way up and down, and the busiest wire.

    Where wires have latencies nearest trees may be sooner: of all members, each of which adds its part of the numbers,
    or of the one that is nearest to all; or each tells all it has, and all add.
    """
    plain = _up_and_down(fabric, reduction, size)
    if instant(fabric):
        return plain
    part = Fraction(1, len(fabric.names))
    ends = {name: (nearest_tree(turned(fabric), name, part), nearest_tree(fabric, name, part)) for name in fabric.names}
    ways = {name: longest(turned(fabric), (up,))[name] + longest(fabric, (down,))[name]
            for name, (up, down) in ends.items()}  # fmt: skip
    middle = min(ways, key=ways.__getitem__)
    central = tuple(replace(tree, data=Fraction(1)) for tree in ends[middle])
    shared = replace(fabric, members=tuple((name, part) for name in fabric.names))
    alone = replace(fabric, members=tuple((name, Fraction(name == middle)) for name in fabric.names))
    ups, downs = zip(*ends.values(), strict=True)
    near = (reduction_of(shared, ups, downs), reduction_of(alone, (central[0],), (central[1],)))
    by_all = told_by_all(replace(fabric, members=tuple((name, Fraction(1)) for name in fabric.names)), size)
    return min(plain, by_all, *(_up_and_down(fabric, each, size) for each in near))


def _up_and_down(fabric: Fabric, reduction: Reduction, size: Fraction) -> Fraction:
    up, down = longest(turned(fabric), reduction.up), longest(fabric, reduction.down)
    return max(up[root] + down[root] for root in up) + size * reduction.time
