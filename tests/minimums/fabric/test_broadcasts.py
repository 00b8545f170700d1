"""Broadcasts on fabrics: the floor by hand, and trees in chunks above it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.fabric.broadcasts import distances, floor, from_root, told_by_steps, told_by_trees
from coherence.minimums.fabric.trees import executed
from coherence.minimums.fabric.wiring import Fabric, both, dgx1, fabric, leaf_spine, ring, rooted
from coherence.minimums.fabric.written_fabrics import written_fabric

LINE = fabric("abc", [*both("a", "b", 2), *both("b", "c", 1)], name="line")


def test_the_last_member_of_a_line_waits_for_two_wires_and_the_narrow_one() -> None:
    assert floor(LINE, Fraction(6), Fraction(1)) == 2 + 6
    assert distances(LINE, ("a",)) == {"a": 0, "b": 1, "c": 2}


def test_wires_have_latencies_of_their_own_and_the_quickest_way_counts() -> None:
    """Two wires of 1 s each are quicker than one of 5 s; the bytes go over both ways."""
    made = fabric("abc", [*both("a", "b", 1, latency=1), *both("b", "c", 1, latency=1), *both("a", "c", 1, latency=5)])
    assert distances(made, ("a",), 0) == {"a": 0, "b": 1, "c": 2}
    assert floor(made, Fraction(6), Fraction(0)) == Fraction(13, 2)
    assert told_by_trees(made, Fraction(6), Fraction(0)) >= Fraction(13, 2)
    assert told_by_steps(made, Fraction(6), Fraction(0), 6) >= Fraction(13, 2)


def test_small_messages_take_the_nearest_tree() -> None:
    made = fabric("abc", [*both("a", "b", 1, latency=1), *both("b", "c", 1, latency=1), *both("a", "c", 1, latency=5)])
    assert told_by_trees(made, Fraction(0), Fraction(0)) == floor(made, Fraction(0), Fraction(0)) == 2


def test_one_way_wires_are_enough_where_the_root_reaches_all() -> None:
    made = written_fabric("a>>b:2B/s,b>>c:1B/s,a>>c:1B/s:1s", check=rooted)
    assert floor(made, Fraction(6), Fraction(0)) == Fraction(7, 2)
    assert told_by_trees(made, Fraction(6), Fraction(0)) >= Fraction(7, 2)
    with pytest.raises(UsageError, match="from b to a"):
        written_fabric("a>>b:2B/s")
    with pytest.raises(UsageError, match="from a to c"):
        written_fabric("a>>b:2B/s,c>>b:1B/s", check=rooted)


@pytest.mark.parametrize("made", [LINE, ring(5), dgx1(), leaf_spine(2, 2, 2, 50, 30)], ids=str)
def test_trees_attain_it_without_latency(made: Fabric) -> None:
    assert told_by_trees(made, Fraction(1), Fraction(0)) == floor(made, Fraction(1), Fraction(0))
    assert executed(*from_root(made)) == floor(made, Fraction(1), Fraction(0))


@pytest.mark.parametrize("made", [LINE, ring(5)], ids=str)
def test_chunks_come_nearer_and_never_below(made: Fabric) -> None:
    size, latency = Fraction(60), Fraction(1)
    ran = [told_by_steps(made, size, latency, chunks) for chunks in (1, 2, 8, 32)]
    assert ran == sorted(ran, reverse=True)
    assert ran[-1] >= floor(made, size, latency)
    assert ran[-1] <= told_by_trees(made, size, latency) * Fraction(11, 10)
