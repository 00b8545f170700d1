"""What is reached, and strongly connected components, laid against mutual reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.graphs import components, cycles, reached

NODES = "abcdef"
graphs = st.dictionaries(st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=4))


def reach(graph: dict[str, list[str]], start: str) -> set[str]:
    """The nodes that one or more steps lead to."""
    found: set[str] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += graph.get(node, ())
    return found


def test_what_is_reached_holds_the_starts_and_ends_in_a_circle() -> None:
    after = {"a": ["b"], "b": ["a", "c"], "d": ["a"]}
    assert reached(["a"], lambda node: after.get(node, ())) == {"a", "b", "c"}
    assert reached([], lambda node: after.get(node, ())) == set()


@given(graphs, st.sets(st.sampled_from(NODES)))
def test_what_is_reached_from_several_is_what_is_reached_from_each(
    graph: dict[str, list[str]], starts: set[str]
) -> None:
    each = starts.union(*(reach(graph, start) for start in starts))
    assert reached(starts, lambda node: graph.get(node, ())) == each


def test_two_rings_and_a_bridge() -> None:
    graph = {"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"], "e": ["a"]}
    assert list(components(graph)) == [("c", "d"), ("a", "b"), ("e",)]
    assert list(cycles(graph)) == [("c", "d"), ("a", "b")]


def test_a_node_that_leads_to_itself_is_a_cycle() -> None:
    assert list(cycles({"a": ["a", "b"], "b": []})) == [("a",)]


@pytest.mark.slow
def test_a_long_chain_is_walked() -> None:
    graph = {number: [number + 1] for number in range(100_000)}
    assert sum(1 for _ in components(graph)) == 100_001


@given(graphs)
def test_nodes_of_a_component_reach_each_other_and_no_others(graph: dict[str, list[str]]) -> None:
    nodes = {*graph, *(node for after in graph.values() for node in after)}
    found = list(components(graph))
    assert sorted(node for group in found for node in group) == sorted(nodes)
    for group in found:
        for node in group:
            mutual = {other for other in reach(graph, node) if node in reach(graph, other)}
            assert set(group) == mutual | {node}
    assert [group for group in found if group[0] in reach(graph, group[0])] == list(cycles(graph))


@given(graphs)
def test_a_component_comes_after_what_it_leads_to(graph: dict[str, list[str]]) -> None:
    number = {node: place for place, group in enumerate(components(graph)) for node in group}
    assert all(number[other] <= number[node] for node, after in graph.items() for other in after)
