"""All-reduce on fabrics: the named partition beside every partition of small ones, and trees that attain it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.minimums.fabric.cuts import all_gather, every_cut
from coherence.minimums.fabric.reductions import Blocks, all_reduce, best_shares, blocks_of, rate_into, schedule
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring


def drawn(seed: int) -> Fabric:
    """Two to five members and up to two switches, joined at random."""
    draw = random.Random(seed)  # noqa: S311
    members, switches = draw.randint(2, 4), draw.randint(0, 2)
    names = [f"m{k}" for k in range(members)] + [f"s{k}" for k in range(switches)]
    wires: list[Wire] = []
    for k, name in enumerate(names[1:], 1):
        wires += both(name, names[draw.randrange(k)], draw.randint(1, 9))
    for _ in range(draw.randint(0, 4)):
        near, far = draw.sample(names, 2)
        wires += both(near, far, draw.randint(1, 9))
    return fabric(names[:members], wires, name=f"drawn {seed}")


def partitions(nodes: tuple[str, ...]) -> Iterator[tuple[frozenset[str], ...]]:
    """Every partition of the nodes into blocks, and into blocks beside nodes that are in none."""
    blocks: list[set[str]] = []

    def placed(k: int) -> Iterator[tuple[frozenset[str], ...]]:
        if k == len(nodes):
            yield tuple(map(frozenset, blocks))
            return
        for block in [*blocks]:
            block.add(nodes[k])
            yield from placed(k + 1)
            block.remove(nodes[k])
        blocks.append({nodes[k]})
        yield from placed(k + 1)
        blocks.pop()
        yield from placed(k + 1)

    yield from placed(0)


def by_all(made: Fabric) -> Fraction:
    blocks = max(blocks_of(made, sets).time for sets in partitions(made.nodes) if len(sets) > 1)
    return max(blocks, *(1 / cut.rate for cut in every_cut(made)))


def compared(seeds: range) -> int:
    """How many named partitions are the worst of all; none is worse than it, and no trees beat the worst."""
    worst = 0
    for seed in seeds:
        made = drawn(seed)
        floor, least = all_reduce(made), by_all(made)
        assert floor.holds(made)
        assert floor.time <= least <= schedule(made).time
        worst += floor.time == least
    return worst


def test_the_named_partition_is_nearly_always_the_worst_and_no_trees_beat_it() -> None:
    assert compared(range(6)) >= 4  # which blocks the program names may differ with its version


@pytest.mark.slow
def test_more_fabrics() -> None:
    assert compared(range(6, 40)) >= 30


def test_a_hub_that_adds_as_others_send_needs_half_of_both_phases_in_turn() -> None:
    star = fabric("rabcd", itertools.chain.from_iterable(both("r", leaf, 1) for leaf in "abcd"), name="star")
    assert all_reduce(star).time == schedule(star).time == 1


def test_a_switch_that_adds_lies_in_a_block() -> None:
    """Four hosts at one switch: 2 * 3/4 over their links; with sums in the switch no less than the data itself."""
    plain = leaf_spine(1, 4, 0, 1, 1)
    assert all_reduce(plain).time == Fraction(3, 2)
    assert all_reduce(replace(plain, adding=frozenset({"leaf0"}))).time == 1


def test_the_best_shares_gather_sooner_than_even_ones() -> None:
    line = fabric("abc", [*both("a", "b", 3), *both("b", "c", 1)], name="line")
    shared, _ = best_shares(line)
    even = replace(line, members=tuple((name, Fraction(1, 3)) for name in "abc"))
    assert sum(share for _, share in shared.members) == 1
    assert all_gather(shared).time == Fraction(1, 2) < all_gather(even).time == Fraction(2, 3)


def test_rates_that_floats_cannot_hold_together_have_the_floor_of_their_cut() -> None:
    """A link of 1 bit/s behind ports of 400 Gbit/s: the byte that goes each way over it takes eight seconds."""
    slow = fabric("abc", [*both("a", "b", 50 * 10**9), *both("b", "c", Fraction(1, 8))], name="dead link")
    assert all_reduce(slow).time == 8
    assert schedule(slow).time >= 8


def test_what_is_no_partition_says_nothing() -> None:
    made = ring(3)
    assert blocks_of(made, (frozenset({"n0"}), frozenset({"n1"}))).time == 0, "a member is in no block"
    assert blocks_of(made, (frozenset({"n0", "n1"}), frozenset({"n1", "n2"}))).time == 0, "a member is in two"
    assert not Blocks(Fraction(1), (frozenset({"n0"}), frozenset({"n1"}), frozenset({"n2"}))).holds(made)
    assert rate_into(dgx1(), frozenset({"g0"})) == 6
