"""Collectives over wires with latencies: floors beside every schedule of a few chunks, and beside plain sums."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.minimums.fabric.broadcasts import distances
from coherence.minimums.fabric.cuts import all_gather, cut_of, every_cut
from coherence.minimums.fabric.latencies import (
    LateBlocks,
    LateCut,
    _late_cut,
    gathered,
    instant,
    longest,
    reduced,
    streamed,
    told_by_all,
)
from coherence.minimums.fabric.quickest import filled
from coherence.minimums.fabric.reductions import all_reduce, schedule
from coherence.minimums.fabric.symmetry import representatives
from coherence.minimums.fabric.trees import executed, trees
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring, turned
from tests.minimums.fabric.test_reductions import drawn


def late_cut(fabric: Fabric, size: Fraction, sink: str, away: Fraction, inside: Iterable[str]) -> LateCut:
    """Returns what one cut says of the members that are so far from a sink outside of it; from the fabric alone."""
    far = distances(fabric, (sink,), 0, back=True)
    distant = {name for name in fabric.names if far[name] >= away}
    return _late_cut(fabric, size, sink, away, cut_of(fabric, inside), distant)


Sums = tuple[frozenset[int], ...]  # of each chunk, the sums that a node has: whose parts, as bits
State = tuple[tuple[Sums, ...], frozenset[tuple[int, int, int, int]]]  # of each node; on their way: when, where, what


def linked(names: str, *links: tuple[str, str, int]) -> Fabric:
    """Members with links of 1 B/s that take so many seconds beside the bytes."""
    return fabric(names, [wire for one, other, late in links for wire in both(one, other, 1, latency=late)])


PAIR, LINE = linked("ab", ("a", "b", 2)), linked("abc", ("a", "b", 1), ("b", "c", 2))
TRIANGLE = linked("abc", ("a", "b", 1), ("b", "c", 1), ("a", "c", 4))
HUB, PATH = linked("abc", ("a", "s", 1), ("b", "s", 1), ("c", "s", 3)), linked("ab", ("a", "s", 1), ("b", "s", 2))


def circle(members: str, *late: int) -> Fabric:
    """Members and perhaps a switch in a circle, joined one way round."""
    nodes = [*members, *"s"][: len(late)]
    ways = zip(nodes, nodes[1:] + nodes[:1], late, strict=True)
    return fabric(members, [Wire(one, other, Fraction(1), latency=Fraction(own)) for one, other, own in ways])


ROUND, CIRCLE = circle("ab", 1, 1, 1), circle("abc", 1, 2, 1)


class Played:
    """All schedules of whole chunks of 1 B, second by second: each second each wire takes up one, or none.

    A node keeps every sum that it had; a member also adds what has no part in common.  So more is never worse, and a
    wire rests only where it has nothing new to carry.
    """

    def __init__(self, kind: str, made: Fabric, chunks: int) -> None:
        self.kind, self.made, self.chunks = kind, made, chunks
        self.whole = (1 << len(made.names)) - 1
        self.index = {node: k for k, node in enumerate(made.nodes)}

    def least(self) -> int:
        """Returns when the first of them has ended."""
        states: set[State] = {(tuple(self.first(k) for k in range(len(self.made.nodes))), frozenset())}
        for now in range(1, 20):
            states = {after for state in states for after in self.second(state, now)}
            if any(self.ended(held) for held, _ in states):
                return now
        raise AssertionError("no schedule ends")

    def first(self, node: int) -> Sums:
        member = node < len(self.made.names)
        if self.kind == "all_gather":
            return tuple(frozenset({self.whole} if node == chunk else ()) for chunk in range(self.chunks))
        return (frozenset({1 << node} if member else ()),) * self.chunks

    def ended(self, held: tuple[Sums, ...]) -> bool:
        members = range(len(self.made.names))
        wanted = zip(members, members, strict=True) if self.kind == "reduce_scatter" else None
        pairs = wanted or itertools.product(members, range(self.chunks))
        return all(self.whole in held[member][chunk] for member, chunk in pairs)

    def second(self, state: State, now: int) -> Iterator[State]:
        held, flying = state
        for sent in itertools.product(*(self.news(state, wire, now) for wire in self.made.wires)):
            ways = zip(self.made.wires, sent, strict=True)
            air = {(now + int(w.latency), self.index[w.target], *each) for w, each in ways if each} | flying
            after = [list(sums) for sums in held]
            for at, node, chunk, parts in sorted(air):
                if at == now:
                    after[node][chunk] = self.joined(node, after[node][chunk], parts)
            yield tuple(map(tuple, after)), frozenset(each for each in air if each[0] > now)

    def news(self, state: State, wire: Wire, now: int) -> list[tuple[int, int] | None]:
        """Returns what its source has and its target neither has nor gets by then."""
        (held, flying), node = state, self.index[wire.target]
        coming = {each[1:] for each in flying if each[0] <= now + wire.latency}
        news = [(chunk, parts) for chunk, sums in enumerate(held[self.index[wire.source]]) for parts in sums
                if parts not in held[node][chunk] and (node, chunk, parts) not in coming]  # fmt: skip
        return [*news] or [None]

    def joined(self, node: int, sums: frozenset[int], parts: int) -> frozenset[int]:
        added = {parts | mine for mine in sums if not parts & mine} if node < len(self.made.names) else set()
        return sums | {parts} | added


SMALL = [
    ("all_gather", PAIR, 2, 3), ("all_gather", LINE, 3, 5), ("all_gather", TRIANGLE, 3, 4), ("all_gather", HUB, 3, 7),
    ("all_gather", CIRCLE, 3, 5), ("reduce_scatter", PAIR, 2, 3), ("reduce_scatter", PATH, 2, 5),
    ("reduce_scatter", ROUND, 2, 4), ("all_reduce", PAIR, 1, 3), ("all_reduce", PAIR, 2, 4),
    ("all_reduce", LINE, 1, 5), ("all_reduce", TRIANGLE, 1, 4), ("all_reduce", HUB, 1, 7), ("all_reduce", CIRCLE, 1, 5),
]  # fmt: skip


def floor(kind: str, made: Fabric, chunks: int) -> Fraction:
    if kind == "all_reduce":
        return reduced(made, Fraction(chunks)).time
    return gathered(turned(made) if kind == "reduce_scatter" else made, Fraction(1)).time


@pytest.mark.parametrize(("kind", "made", "chunks", "least"), SMALL)
def test_no_schedule_is_quicker(kind: str, made: Fabric, chunks: int, least: int) -> None:
    assert floor(kind, made, chunks) <= Played(kind, made, chunks).least() == least


def late(made: Fabric, seed: int) -> Fabric:
    """The fabric with a latency of up to 3 s for each link."""
    draw = random.Random(seed)  # noqa: S311  (graphs, not secrets)
    own = {frozenset((wire.source, wire.target)): draw.randint(0, 3) for wire in made.wires}
    return replace(
        made, wires=tuple(replace(w, latency=Fraction(own[frozenset((w.source, w.target))])) for w in made.wires)
    )


@pytest.mark.parametrize("made", [ring(5), dgx1(), leaf_spine(2, 2, 2, 5, 3), *map(drawn, range(4))], ids=str)
def test_the_floor_lies_between_that_without_latency_and_trees_in_small_chunks(made: Fabric) -> None:
    plain, size = late(made, 1), Fraction(4)
    assert reduced(made, size).time == size * all_reduce(made).time
    assert gathered(made, size).time == size * all_gather(made).time
    cut, blocks, grown = gathered(plain, size), reduced(plain, size), trees(plain)
    assert late_cut(plain, size, cut.sink, cut.away, cut.inside) == cut
    ran = max(longest(plain, grown).values()) + size * executed(plain, grown)
    assert size * all_gather(made).time <= cut.time <= ran
    assert size * all_reduce(made).time <= blocks.time <= streamed(plain, schedule(plain), size)
    far = max(Fraction(time) for name in plain.names for time in distances(plain, (name,), 0).values())
    assert gathered(plain, Fraction(0)).time == reduced(plain, Fraction(0)).time <= far
    assert streamed(plain, schedule(plain), Fraction(0)) == reduced(plain, Fraction(0)).time  # small messages attain it
    assert told_by_all(plain, Fraction(0), grown) == gathered(plain, Fraction(0)).time


@pytest.mark.slow
def test_it_is_the_worst_of_all_cuts_sinks_and_distances() -> None:
    for seed in range(6):
        made = late(drawn(seed), seed)
        every = (late_cut(made, Fraction(3), sink, Fraction(away), cut.inside).time
                 for cut in every_cut(made) for sink in made.names for away in range(15))  # fmt: skip
        assert gathered(made, Fraction(3)).time == max(every)


def test_wires_that_begin_late_carry_what_is_left_of_the_time() -> None:
    assert filled([(Fraction(0), Fraction(1)), (Fraction(10), Fraction(9))], Fraction(4)) == 4
    assert filled([(Fraction(0), Fraction(1)), (Fraction(2), Fraction(1))], Fraction(4)) == 3
    assert filled([(Fraction(5), Fraction(1))], Fraction(0)) == 5


def test_blocks_that_hear_late_are_told_less() -> None:
    """Two members, 6 bytes, links of 1 B/s and 2 s: each is told the other's 6 from the second second on."""
    assert reduced(PAIR, Fraction(6)) == LateBlocks(Fraction(8), reduced(PAIR, Fraction(6)).sets)
    assert instant(ring(3))
    assert not instant(PAIR)


def test_members_are_alike_where_latencies_are_too() -> None:
    made = ring(4)
    one_late = replace(made, wires=(replace(made.wires[0], latency=Fraction(1)), *made.wires[1:]))
    assert len(representatives(made)) < 4
    assert len(representatives(one_late)) == 4
    assert gathered(one_late, Fraction(6)).time == max(
        late_cut(one_late, Fraction(6), sink, Fraction(away), cut.inside).time
        for cut in every_cut(one_late) for sink in made.names for away in (0, 1)
    )  # fmt: skip
