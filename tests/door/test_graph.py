"""The graph of a design as a graph of networkx, and back."""

from __future__ import annotations

import networkx as nx
import pytest

import coherence as co
from coherence.door.graph import from_networkx
from coherence.model.graph import graph as graph_of
from tests.paths import SPECS


@pytest.mark.parametrize(
    "name", sorted(folder.name for folder in SPECS.iterdir() if (folder / "design.yaml").is_file())
)
def test_every_graph_comes_back(name: str) -> None:
    design = co.read(SPECS / name / "design.yaml")
    drawn, again = graph_of(design), from_networkx(co.graph(design))
    assert again.nodes == drawn.nodes
    assert sorted(map(str, again.edges)) == sorted(map(str, drawn.edges))


def test_algorithms_of_networkx_run_on_it() -> None:
    network = co.graph(SPECS / "retry-storm" / "design.yaml")
    assert nx.shortest_path(network, "clients", "workers") == ["clients", "workers"]
    assert network.nodes["workers"]["kind"] == "component"


def test_entries_say_where_they_stand() -> None:
    network = co.graph(SPECS / "hpa-metric-lag" / "design.yaml")
    assert network.nodes["hpa"]["place"].startswith(str(SPECS))
    assert network.nodes["pool"]["place"].endswith("design.yaml:11:3")


def test_findings_stand_at_the_nodes_that_they_name() -> None:
    text = (
        "coherence: 1\nworkload: {users: {rate: 4 req/s}}\ncomponents: {web: {takes: {serve: 200 ms}}}\n"
        "calls:\n  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}\n"
    )
    found = co.check(text, select="COH201")
    network = co.graph(text, findings=found.conflicts)
    assert network.nodes["web"]["findings"] == ("COH201",)
