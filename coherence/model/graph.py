"""Builds and renders the graph of a design: who reads, writes and calls what."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from coherence.language.call_cases import render_order
from coherence.language.design import Design, Timer
from coherence.language.expressions import names as names_of
from coherence.language.names import bare_names, component_formulas, loop_formulas, scope, state_formula
from coherence.language.schema_kinds import Formula, Word


@dataclass(frozen=True)
class Node:
    """A thing or a policy; `kind` is loop, timer, limit, component, tier, boundary, workload or outside."""

    name: str
    kind: str


@dataclass(frozen=True)
class Edge:
    """From a node to a node, with what passes."""

    source: str
    target: str
    label: str


@dataclass(frozen=True)
class Graph:
    """Everything that is drawn."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    environment: str = ""  # of the design, if it is in one


def _entries(design: Design) -> dict[str, Mapping[str, object]]:
    """Returns the named entries of a design by kind."""
    return {
        "workload": design.workload, "tier": design.tiers, "component": design.components,
        "loop": design.loops, "timer": design.timers, "limit": design.limits, "boundary": design.boundaries,
    }  # fmt: skip


def node_places(design: Design) -> dict[str, str]:
    """Returns where each named entry stands, as `file:line:column`."""
    entries = [entry for table in _entries(design).values() for entry in table.items()]
    places = {name: getattr(entry, "place", None) for name, entry in entries}
    return {name: f"{at.file}:{at.line}:{at.column}" for name, at in places.items() if at is not None}


def graph(design: Design) -> Graph:
    """Nodes in order of declaration, outside things last; edges in order of reading."""
    nodes = {name: kind for kind, table in _entries(design).items() for name in table}
    edges = list(dict.fromkeys(_edges(design)))
    for edge in edges:
        nodes.setdefault(edge.source, "outside")
        nodes.setdefault(edge.target, "outside")
    return Graph(tuple(Node(n, k) for n, k in nodes.items()), tuple(edges), design.environment)


def _edges(design: Design) -> Iterator[Edge]:
    """Yields the edges of all sections."""
    yield from _loop_edges(design)
    yield from _component_edges(design)
    for call in design.calls:
        tries = f"calls, {' x '.join(map(str, call.tries)) or '1'} tries"
        yield Edge(str(call.caller), str(call.callee), ", ".join(filter(None, (tries, render_order(call)))))
    for timer in design.timers.values():
        yield from _timer_edges(timer)
    for limit in design.limits.values():
        for path in names_of(limit.counts.tree) if limit.counts else ():
            yield Edge(path.split(".")[0], limit.name, f"counted: {path.partition('.')[2] or path}")
    for link in design.infrastructure.links if design.infrastructure else ():
        for start, end in itertools.pairwise(end.text for end in link.ends):
            yield Edge(start, end, f"link {link.part or ''}".strip())
    for boundary in design.boundaries.values():
        yield from (Edge(boundary.name, inner.text, "around") for inner in boundary.around)
    for component in design.components.values():
        if component.runs_on:
            yield Edge(component.name, component.runs_on.text, "runs on")


def _loop_edges(design: Design) -> Iterator[Edge]:
    bare = bare_names(design)
    for loop in design.loops.values():
        for formula in loop_formulas(loop):
            read = (bare.get(path, path) for path in names_of(formula.tree))
            yield from (Edge(p.split(".")[0], loop.name, p.partition(".")[2] or "mode") for p in read)
        if loop.written:
            thing, _, signal = loop.written.partition(".")
            yield Edge(loop.name, thing, f"writes {signal}")
        if loop.evicted:
            yield Edge(loop.name, loop.evicted, "evicts")


def _component_edges(design: Design) -> Iterator[Edge]:
    """Yields what the formulas of components and claims read of other things, and the things that they name."""
    known = {*design.components, *design.workload, *design.tiers, *design.loops}
    for component in design.components.values():
        own = scope(component, design)
        formulas = (*component_formulas(component), component.copies, state_formula(component))
        trees = [formula.tree for formula in formulas if isinstance(formula, Formula)]
        read = [own.get(path, path) for tree in trees for path in names_of(tree)]
        words = [(key, word.text) for key, word in component.constants.items() if isinstance(word, Word)]
        for path, label in (*((path, path.partition(".")[2] or "value") for path in read), *((w, k) for k, w in words)):
            thing = path.split(".")[0]
            if thing in known and thing != component.name:
                yield Edge(thing, component.name, label)
    for claimed, formula in design.claims.items():
        whose = claimed.split(".")[0]
        yield from (Edge(path.split(".")[0], whose, "claims") for path in names_of(formula.tree) if "." in path)


def _timer_edges(timer: Timer) -> Iterator[Edge]:
    if timer.start and timer.start.kind != "outside":
        yield Edge(timer.start.thing, timer.name, timer.start.text)
    if timer.then:
        outside = timer.then.kind == "outside"
        yield Edge(timer.name, timer.then.text.split()[-1] if outside else timer.then.thing, timer.then.text)


_MERMAID = {"loop": ("([", "])"), "timer": ("{{", "}}"), "limit": ("[/", "/]"), "outside": ("((", "))")}
_DOT = {"loop": "ellipse", "timer": "hexagon", "limit": "parallelogram", "outside": "circle", "boundary": "folder"}


def mermaid(drawn: Graph) -> str:
    """Returns a Mermaid flow chart."""
    ids = {node.name: f"n{i}" for i, node in enumerate(drawn.nodes)}
    lines = ["flowchart LR", *([f"  %% in {_quoted(drawn.environment)}"] if drawn.environment else [])]
    for node in drawn.nodes:
        left, right = _MERMAID.get(node.kind, ("[", "]"))
        lines.append(f'  {ids[node.name]}{left}"{_quoted(node.name)}"{right}')
    lines += [f'  {ids[e.source]} -->|"{_quoted(e.label)}"| {ids[e.target]}' for e in drawn.edges]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace('"', "#quot;").replace("\n", " ")


def dot(drawn: Graph) -> str:
    """Returns the graph for Graphviz."""

    def name(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    lines = ["digraph design {", "  rankdir=LR;"]
    lines += [f"  label={name(f'in {drawn.environment}')};"] if drawn.environment else []
    lines += [f"  {name(n.name)} [shape={_DOT.get(n.kind, 'box')}];" for n in drawn.nodes]
    lines += [f"  {name(e.source)} -> {name(e.target)} [label={name(e.label)}];" for e in drawn.edges]
    return "\n".join([*lines, "}"]) + "\n"


def graphml(drawn: Graph) -> str:
    """Returns the graph as GraphML, for yEd, Gephi and networkx."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    declared = (("kind", "node"), ("label", "edge"))
    keys = "\n".join(f'  <key id="{k}" for="{of}" attr.name="{k}" attr.type="string"/>' for k, of in declared)
    nodes = [f'    <node id={quoteattr(n.name)}><data key="kind">{n.kind}</data></node>' for n in drawn.nodes]
    edges = [
        f"    <edge source={quoteattr(e.source)} target={quoteattr(e.target)}>"
        f'<data key="label">{escape(e.label)}</data></edge>'
        for e in drawn.edges
    ]
    own = f" id={quoteattr(drawn.environment)}" if drawn.environment else ""
    return (
        "\n".join([head, keys, f'  <graph{own} edgedefault="directed">', *nodes, *edges, "  </graph>", "</graphml>"])
        + "\n"
    )


FORMATS: Mapping[str, Callable[[Graph], str]] = {"mermaid": mermaid, "dot": dot, "graphml": graphml}
