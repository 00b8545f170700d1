"""Finds the floor of an all-reduce on any fabric, and trees that add and spread in the least time.

Cut the fabric into blocks that hold all members (and all switches that add).  Of each number the blocks are told at
least 2 (t - 1) partial sums before all t of them have the whole one (one-way gossip), and what tells them enters over
their wires.  Two blocks also send each other the number once, each way.  So for every partition

    T >= 2 (t - 1) / (rate of the wires into the blocks),        T >= 1 / (rate out of one side of a cut)

seconds a byte.  A reduce-scatter over trees and an all-gather back attain it wherever wires have one rate both ways and
the worst blocks hold every member: who gathers how much is chosen by linear programming, each cut as it is violated.

SOURCE: A. Frank 1978 (branchings with free roots; disjoint sets decide); F. Harary and A. Schwenk 1974 (one-way
gossip); ForestColl, arXiv 2402.06787.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.minimums.fabric.cuts import FabricCut, all_gather, capacity, cut_of
from coherence.minimums.fabric.trees import Tree, busiest, loads, trees
from coherence.minimums.fabric.wiring import Fabric, turned

ROUNDS = 200  # cuts that are added one by one
GRAIN = 5040  # parts of the data in which shares are counted
CLOSE = 1e-9


@dataclass(frozen=True)
class Blocks:
    """Disjoint sets of nodes: `time` in seconds per byte of an all-reduce; one set alone is a side of a cut."""

    time: Fraction
    sets: tuple[frozenset[str], ...]

    def holds(self, fabric: Fabric) -> bool:
        """Adds it up again from the fabric alone."""
        return self.time == blocks_of(fabric, self.sets).time


def blocks_of(fabric: Fabric, sets: Sequence[frozenset[str]]) -> Blocks:
    """Returns what a partition says; nothing where a member or a switch that adds is in no block, or in two."""
    covered = list(itertools.chain.from_iterable(sets))
    alone = len(covered) != len(set(covered)) or not {*fabric.names, *fabric.adding} <= set(covered)
    if len(sets) == 1:
        inside = sets[0] & set(fabric.names)
        splits = bool(inside) and len(inside) < len(fabric.names)
        return Blocks(1 / cut_of(fabric, sets[0]).rate if splits else Fraction(0), tuple(sets))
    if alone or any(not block & set(fabric.names) for block in sets):
        return Blocks(Fraction(0), tuple(sets))
    into = sum((rate_into(fabric, block) for block in sets), Fraction(0))
    return Blocks(Fraction(2 * (len(sets) - 1)) / into, tuple(sets))


def rate_into(fabric: Fabric, block: frozenset[str]) -> Fraction:
    """Returns what the wires into a set of nodes carry in one second."""
    return sum((w.rate for w in fabric.wires if w.target in block and w.source not in block), Fraction(0))


def all_reduce(fabric: Fabric) -> Blocks:
    """Returns the worst of the partitions and single cuts that count."""
    return max((blocks_of(fabric, sets) for sets in candidates(fabric)), key=lambda blocks: blocks.time)


def candidates(fabric: Fabric) -> tuple[tuple[frozenset[str], ...], ...]:
    """Returns the partitions that the linear program names, that of single members, and all single cuts."""
    _, tight = best_shares(fabric)
    first, *others = fabric.names
    pairs = [(first, other) for other in others] + [(other, first) for other in others]
    cuts = [(capacity(fabric, (source,), (sink,)).inside,) for source, sink in pairs]
    return (*_partitions(fabric, tight), *cuts)


def _partitions(fabric: Fabric, tight: Sequence[frozenset[str]]) -> Iterator[tuple[frozenset[str], ...]]:
    """Yields disjoint ones of the tight sets, the smallest first or the largest, and the rest as one block or apart."""
    yield tuple(frozenset({name}) for name in fabric.names)
    for largest in (False, True):
        chosen: list[frozenset[str]] = []
        for block in sorted(tight, key=lambda nodes: (len(nodes), sorted(nodes)), reverse=largest):
            if not any(block & other for other in chosen):
                chosen.append(block)
        rest = frozenset(fabric.nodes) - frozenset().union(*chosen)
        apart = [frozenset({name}) for name in fabric.names if name in rest]
        yield (*chosen, rest) if rest & set(fabric.names) else tuple(chosen)
        yield (*chosen, *apart)


def best_shares(fabric: Fabric) -> tuple[Fabric, tuple[frozenset[str], ...]]:
    """Returns the fabric with shares (1 in all) whose all-gather is quickest, and the sets that are told too slowly by
    any others (complements of the cuts that have a price).
    """
    even = _shared(fabric, [1.0] * len(fabric.members))
    cuts = [cut_of(fabric, frozenset(fabric.nodes) - {name}) for name in fabric.names]
    best, best_time = even, all_gather(even).time
    prices: Sequence[float] = ()
    for _ in range(ROUNDS):
        solved = _solved(fabric, cuts)
        if solved is None:
            break
        shares, time, prices = solved
        trial = _shared(fabric, shares)
        worst = all_gather(trial)
        if worst.time < best_time:
            best, best_time = trial, worst.time
        if float(worst.time) <= time * (1 + CLOSE) or worst.inside in {cut.inside for cut in cuts}:
            break
        cuts.append(worst)
    priced = [cut for cut, price in zip(cuts, prices, strict=False) if price > CLOSE]
    return best, tuple(frozenset(fabric.nodes) - cut.inside for cut in priced)


def _shared(fabric: Fabric, shares: Sequence[float]) -> Fabric:
    """Returns the fabric with shares that add up to 1: the simplest fractions nearby, or whole parts of the grain."""
    exact = [Fraction(share / sum(shares)).limit_denominator(GRAIN) for share in shares]
    if sum(exact) != 1:
        grains = GRAIN * len(shares)
        exact = [Fraction(round(share * grains), grains) for share in exact]
        exact[exact.index(max(exact))] += 1 - sum(exact)
    return replace(fabric, members=tuple(zip(fabric.names, exact, strict=True)))


def _solved(fabric: Fabric, cuts: Iterable[FabricCut]) -> tuple[list[float], float, list[float]] | None:
    """Minimises T over shares that add up to 1, where what each cut holds leaves it in T; also the cuts' prices.

    None where floats cannot hold rates that are so far apart: what the caller has is the answer then.
    """
    import numpy as np
    from scipy.optimize import linprog

    listed, count = list(cuts), len(fabric.members)
    scale = float(max(cut.rate for cut in listed))
    rows = [[float(n in cut.inside) for n in fabric.names] + [-float(cut.rate) / scale] for cut in listed]
    goal = np.array([0.0] * count + [1.0])
    answer = linprog(goal, A_ub=np.array(rows), b_ub=np.zeros(len(rows)),
                     A_eq=np.array([[1.0] * count + [0.0]]), b_eq=[1.0], method="highs")  # fmt: skip
    if answer.x is None:
        return None
    return list(answer.x[:-1]), float(answer.x[-1]) / scale, [-price for price in answer.ineqlin.marginals]


@dataclass(frozen=True)
class Reduction:
    """Trees over which the parts are added (`up`, against their paths, to the root), and the sums spread (`down`).

    Both go on at the same time: what is added is spread at once.  `time`: seconds per byte.
    """

    up: tuple[Tree, ...]
    down: tuple[Tree, ...]
    time: Fraction


def schedule(fabric: Fabric) -> Reduction:
    """Returns trees of an all-reduce: with the best shares, or with one root for all (whichever is quicker).

    Raises UsageError for a switch that carries more in than out.
    """
    widest = max(fabric.names, key=lambda name: rate_into(fabric, frozenset({name})))
    alone = replace(fabric, members=tuple((name, Fraction(name == widest)) for name in fabric.names))
    grown = ((shared, trees(turned(shared)), trees(shared)) for shared in (best_shares(fabric)[0], alone))
    return min((reduction_of(*each) for each in grown), key=lambda found: found.time)


def reduction_of(shared: Fabric, up: tuple[Tree, ...], down: tuple[Tree, ...]) -> Reduction:
    """Returns an all-reduce over trees whose roots hold these shares: `up` of the turned fabric, `down` of itself."""
    load = loads(shared, down)
    for (source, target), amount in loads(turned(shared), up).items():
        load[target, source] = load.get((target, source), Fraction(0)) + amount
    return Reduction(up, down, busiest(shared, load))
