"""Quickest flows beside flows in networks that have each node once a second, and trees that stop one after another."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.fabric.quickest import filled, nearest_tree, quickest, streamed_trees
from coherence.minimums.fabric.trees import executed
from coherence.minimums.fabric.wiring import Fabric, Wire, both, ring


def drawn(seed: int) -> Fabric:
    """Up to seven nodes, wires of whole rates and seconds; some nodes may be out of reach."""
    draw = random.Random(seed)  # noqa: S311  (graphs, not secrets)
    names = "abcdefg"[: draw.randint(2, 7)]
    wires = [Wire(one, other, Fraction(draw.randint(1, 3)), latency=Fraction(draw.randint(0, 3)))
             for one, other in itertools.permutations(names, 2) if draw.random() < 0.5]  # fmt: skip
    return Fabric(tuple((name, Fraction(1)) for name in names), tuple(wires))


def in_seconds(made: Fabric, source: str, sink: str, horizon: int) -> int:
    """Returns what can have come after so many seconds: a flow through a copy of each node for each of them."""
    import networkx as nx  # type: ignore[import-untyped,unused-ignore]

    graph = nx.DiGraph()
    for now, node in itertools.product(range(horizon + 1), made.nodes):
        graph.add_edge((node, now), (node, now + 1))
    for now, (number, wire) in itertools.product(range(horizon), enumerate(made.wires)):
        there = now + int(wire.latency)
        if there < horizon:
            way = (number, now)
            graph.add_edge((wire.source, now), way, capacity=int(wire.rate))
            graph.add_edge(way, (wire.target, there), capacity=int(wire.rate))
    graph.add_edge((sink, horizon + 1), "end")
    graph.add_edge("begin", (source, 0), capacity=10**6)
    return int(nx.maximum_flow_value(graph, "begin", "end"))


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_least_time_of_all_flows_over_time(seed: int) -> None:
    made = drawn(seed)
    source, sink = made.names[0], made.names[-1]
    come = [in_seconds(made, source, sink, horizon) for horizon in (3, 6, 9)]
    for horizon, most in zip((3, 6, 9), come, strict=True):
        if most:
            assert quickest(made, source, sink, Fraction(most)) <= horizon
        try:
            assert quickest(made, source, sink, most + Fraction(1, 100)) > horizon
        except UsageError:
            assert come == [0, 0, 0]


def test_two_ways_of_unlike_latency_end_together() -> None:
    made = Fabric((("a", Fraction(1)), ("b", Fraction(1))), (Wire("a", "b", Fraction(1), latency=Fraction(2)),
                  Wire("a", "b", Fraction(1), latency=Fraction(5))))  # fmt: skip
    assert quickest(made, "a", "b", Fraction(6)) == Fraction(13, 2)
    assert quickest(made, "a", "b", Fraction(2)) == 4
    assert quickest(made, "a", "b", Fraction(0)) == 2
    assert filled([(Fraction(2), Fraction(1)), (Fraction(5), Fraction(1))], Fraction(6)) == Fraction(13, 2)


def test_what_is_added_to_each_wire_counts() -> None:
    assert quickest(ring(5), "n0", "n2", Fraction(2), Fraction(1)) == Fraction(7, 2)


def test_the_nearest_tree_leads_to_each_member_by_its_shortest_way() -> None:
    wires = [*both("a", "s", 1, latency=1), *both("s", "b", 1, latency=1), *both("b", "c", 1, latency=1)]
    made = Fabric(tuple((name, Fraction(name == "a")) for name in "abc"), tuple(wires))
    tree = nearest_tree(made, "a", Fraction(1))
    assert tree.paths == (("a", "s", "b"), ("b", "c"))
    late = {(wire.source, wire.target): wire.latency for wire in wires}
    assert executed(made, (tree,)) == 1
    assert streamed_trees((tree,), Fraction(1), Fraction(4), late) == 3 + 4
