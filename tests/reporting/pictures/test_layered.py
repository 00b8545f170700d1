"""Layered graphs: edges lead to the right where no circle forbids it, and nothing stands on something else."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from coherence.base import graphs
from coherence.reporting.pictures.layered import layered

NODES = tuple("abcdefgh")
EDGES = st.lists(st.integers(0, 63), max_size=20).map(lambda numbers: [(NODES[n // 8], NODES[n % 8]) for n in numbers])


def test_a_chain_stands_in_one_row() -> None:
    laid = layered(["c", "b", "a"], [("a", "b"), ("b", "c")])
    assert laid.nodes == {"a": (0, 0.0), "b": (1, 0.0), "c": (2, 0.0)}


@given(EDGES)
def test_edges_lead_to_the_right_where_there_is_no_circle(edges: list[tuple[str, str]]) -> None:
    laid = layered(NODES, edges)
    successors: dict[str, list[str]] = {name: [] for name in NODES}
    for a, b in edges:
        successors[a].append(b)
    together = [set(cycle) for cycle in graphs.cycles(successors)]
    for a, b in edges:
        if not any({a, b} <= zone for zone in together):
            assert laid.nodes[a][0] < laid.nodes[b][0]
        if a != b:
            route = laid.routes[a, b]
            assert route[0] == laid.nodes[a]
            assert route[-1] == laid.nodes[b]
            assert all(abs(x1 - x0) == 1 for (x0, _), (x1, _) in itertools.pairwise(route))


@given(EDGES)
def test_no_two_things_of_a_column_are_closer_than_a_row(edges: list[tuple[str, str]]) -> None:
    laid = layered(NODES, edges)
    columns: dict[int, list[float]] = {}
    for column, height in laid.nodes.values():
        columns.setdefault(column, []).append(height)
    for route in laid.routes.values():
        for column, height in route[1:-1]:
            columns.setdefault(column, []).append(height)
    for heights in columns.values():
        heights.sort()
        assert all(b - a > 1 - 1e-6 for a, b in itertools.pairwise(heights))
    assert min(height for heights in columns.values() for height in heights) > -1e-9
