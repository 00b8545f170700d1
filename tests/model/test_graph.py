"""The graph of a design: who reads, writes and calls what, and how it is written."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from coherence.language.reading import read_text
from coherence.model.graph import Graph, dot, graph, graphml, mermaid

TEXT = """coherence: 1
workload: {users: {rate: 5 req/s}}
components: {web: {copies: 3, load: 1 .. 9}, db: {runs_on: host}}
loops:
  hpa:
    target: {signal: web.load, setpoint: 5}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 9]}
  sweep: {trigger: hpa and meter.high > 3, timescale: {period: 1 min}, actuation: {evict: web}}
calls:
  - {from: users, to: web, tries: 3}
  - {from: web, to: db}
timers:
  grace: {from: web starts, after: 3 s, then: kill db}
limits:
  few: {counts: web.unavailable, at_most: 1}
infrastructure:
  boundaries: {zone: {around: [web, db]}}
"""


@pytest.fixture(scope="module")
def made() -> Graph:
    return graph(read_text(TEXT))


def test_everything_declared_is_a_node_and_what_is_not_is_outside(made: Graph) -> None:
    assert {node.name: node.kind for node in made.nodes} == {
        "users": "workload", "web": "component", "db": "component", "hpa": "loop", "sweep": "loop", "grace": "timer",
        "few": "limit", "zone": "boundary", "meter": "outside", "host": "outside",
    }  # fmt: skip
    assert [node.kind for node in made.nodes][-2:] == ["outside", "outside"]


def test_every_reading_writing_and_calling_is_an_edge(made: Graph) -> None:
    told = {(edge.source, edge.target, edge.label) for edge in made.edges}
    assert told == {
        ("web", "hpa", "load"), ("hpa", "web", "writes desired"), ("hpa", "sweep", "mode"),
        ("meter", "sweep", "high"), ("sweep", "web", "evicts"), ("users", "web", "calls, 3 tries"),
        ("web", "db", "calls, 1 tries"), ("web", "grace", "web starts"), ("grace", "db", "kill db"),
        ("web", "few", "counted: unavailable"), ("zone", "web", "around"), ("zone", "db", "around"),
        ("db", "host", "runs on"),
    }  # fmt: skip
    assert len(made.edges) == len(told)


def test_each_form_has_every_node_and_edge(made: Graph) -> None:
    chart = mermaid(made).splitlines()
    assert chart[0] == "flowchart LR"
    assert '  n3(["hpa"])' in chart
    assert '  n0["users"]' in chart
    assert '  n0 -->|"calls, 3 tries"| n1' in chart
    assert len(chart) == 1 + len(made.nodes) + len(made.edges)
    drawn = dot(made)
    assert '  "hpa" [shape=ellipse];' in drawn
    assert '  "users" [shape=box];' in drawn
    assert '  "users" -> "web" [label="calls, 3 tries"];' in drawn
    root = ET.fromstring(graphml(made).encode())  # noqa: S314  (our own output)
    assert len(list(root.iter("{http://graphml.graphdrawing.org/xmlns}node"))) == len(made.nodes)
    assert len(list(root.iter("{http://graphml.graphdrawing.org/xmlns}edge"))) == len(made.edges)


def test_quotes_are_escaped() -> None:
    from coherence.model.graph import Edge, Node

    odd = Graph((Node('a"b\\', "loop"),), (Edge('a"b\\', 'a"b\\', 'x"\ny'),))
    assert '"a#quot;b\\"' in mermaid(odd)
    assert '|"x#quot; y"|' in mermaid(odd)
    assert '"a\\"b\\\\"' in dot(odd)


def test_when_a_call_is_made_stands_at_its_edge() -> None:
    calls = (
        "{from: a, to: b, case: hit}, {from: a, to: c, case: [miss, hit], stage: s}, {from: a, to: d, fallback_for: b}"
    )
    edges = graph(read_text(f"coherence: 1\ncalls: [{calls}, {{from: a, to: e, case: miss}}]\n")).edges
    assert [edge.label for edge in edges[:3]] == [
        "calls, 1 tries, in case hit", "calls, 1 tries, stage s, in case miss or hit", "calls, 1 tries, fallback for b",
    ]  # fmt: skip
