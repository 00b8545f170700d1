"""Makes the graph of a design a graph of networkx, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherence.door.sources import Source, read
from coherence.model.graph import Edge, Graph, Node, node_places
from coherence.model.graph import graph as graph_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from networkx import MultiDiGraph

    from coherence.findings.finding import Finding


def graph(design: Source, *, findings: Iterable[Finding] = ()) -> MultiDiGraph:
    """Returns who reads, writes, calls and runs on what, as a networkx.MultiDiGraph.

    design: a Design, a path, a text or a mapping.  findings: of `check`, to be shown at the nodes that they name.
    Nodes have `kind` (loop, timer, limit, component, tier, boundary, workload, outside), `place` (file:line:column,
    else "") and `findings` (codes); edges have `label`.  Raises InputError.
    """
    from networkx import MultiDiGraph

    source = read(design)
    drawn, places = graph_of(source), node_places(source)
    network = MultiDiGraph(name=source.file)
    named: dict[str, list[str]] = {}
    for finding in findings:
        for end in (end for name in finding.of for end in name.split(" -> ")):  # a call is named after its ends
            named.setdefault(end.partition(".")[0], []).append(finding.code)
    for node in drawn.nodes:
        network.add_node(node.name, kind=node.kind, place=places.get(node.name, ""),
                         findings=tuple(dict.fromkeys(named.get(node.name, ()))))  # fmt: skip
    for edge in drawn.edges:
        network.add_edge(edge.source, edge.target, label=edge.label)
    return network


def from_networkx(network: Any) -> Graph:
    """Returns the graph that stands in a networkx.MultiDiGraph made by `graph`."""
    nodes = tuple(Node(name, kind) for name, kind in network.nodes(data="kind"))
    return Graph(nodes, tuple(Edge(source, target, label) for source, target, label in network.edges(data="label")))
