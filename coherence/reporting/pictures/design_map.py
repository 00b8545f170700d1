"""Draws a design as a map of risk: loops, signals and components with the findings that stand on them.

Zones are groups of things in feedback with each other; amplification is a call that makes several tries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.base import graphs
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design
from coherence.model.graph import Graph, Node, graph
from coherence.reporting._words import plural
from coherence.reporting.pictures.drawing import Drawing, cut, words_at
from coherence.reporting.pictures.layered import LayeredGraph, Pair, layered
from coherence.reporting.pictures.markup import Child, Element, h

BETWEEN, DOWN, TALL = 60.0, 62.0, 42.0  # between two columns, of a row, of a node, px
LEAST, MOST = 148.0, 272.0  # how wide nodes are, px: as wide as the longest name asks for
STRONG, SMALL = 7.8, 6.6  # width of a letter of a name, and of the line below it, px
MARGIN, KEY = 16.0, 78.0
SIGNS = {Verdict.CONFLICT: "✕", Verdict.UNDECIDED: "?", Verdict.VACUOUS: "∅", Verdict.NOTE: "i", Verdict.PROVED: "✓"}
STATES = (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.PROVED)  # the gravest first


@dataclass(frozen=True)
class DesignMap:
    """A design's graph with how many findings of each verdict stand on each node; `zones`: nodes in feedback."""

    graph: Graph
    counts: Mapping[str, Mapping[Verdict, int]]
    zones: tuple[frozenset[str], ...]
    tries: Mapping[Pair, str]

    def state(self, name: str) -> Verdict | None:
        """Returns the gravest verdict about a node."""
        return next((verdict for verdict in STATES if self.counts.get(name, {}).get(verdict)), None)


def design_map(design: Design, findings: Iterable[Finding]) -> DesignMap:
    """Returns the map of a design and the findings about it."""
    drawn = graph(design)
    nodes = {node.name for node in drawn.nodes}
    calls = {call.name: {str(call.caller), str(call.callee)} for call in design.calls}
    counts: dict[str, dict[Verdict, int]] = {}
    for finding in findings:
        inner = {part for name in finding.of for part in calls.get(name, {name.split(".")[0]})}
        for name in inner & nodes:
            own = counts.setdefault(name, {})
            own[finding.verdict] = own.get(finding.verdict, 0) + 1
    successors: dict[str, list[str]] = {node.name: [] for node in drawn.nodes}
    for edge in drawn.edges:
        successors[edge.source].append(edge.target)
    zones = tuple(frozenset(cycle) for cycle in graphs.cycles(successors))
    return DesignMap(drawn, counts, zones, _tries(design))


def _tries(design: Design) -> dict[Pair, str]:
    """Returns `3 x 2` tries for each pair of caller and callee whose calls are sent again."""
    many = {}
    for call in design.calls:
        words = " × ".join(map(str, call.tries))
        if words not in ("", "1"):
            many[str(call.caller), str(call.callee)] = f"×{words}"
    return many


def map_drawing(system: str, mapped: DesignMap) -> Drawing:
    """Returns the map; nodes without an edge stand in rows of their own below."""
    joined = {end for edge in mapped.graph.edges for end in (edge.source, edge.target)}
    nodes = [node.name for node in mapped.graph.nodes if node.name in joined]
    alone = [node.name for node in mapped.graph.nodes if node.name not in joined]
    laid = layered(nodes, [(edge.source, edge.target) for edge in mapped.graph.edges])
    width = max(3, 1 + max((at for at, _ in laid.nodes.values()), default=0))
    rows = max((height for _, height in laid.nodes.values()), default=-1.0)
    rows = max([rows, *(height for route in laid.routes.values() for _, height in route)])
    columns = _Columns(_wide(mapped))
    spots = {name: columns.spot(at, height) for name, (at, height) in laid.nodes.items()}
    below = int(rows) + 2
    spots |= {name: columns.spot(place % width, float(below + place // width)) for place, name in enumerate(alone)}
    last = max((y for _, y in spots.values()), default=0.0)
    last = max(last, columns.spot(0, rows)[1])
    edges = [part for pair in laid.routes for part in _edge(pair, laid, mapped, columns)]
    marks = [part for node in mapped.graph.nodes for part in _node(node, spots[node.name], mapped, columns.wide)]
    marks += _sends(laid, mapped, columns)
    key = _key(last + TALL + 26)
    drawn = ((mapped.graph.nodes, "thing"), (mapped.graph.edges, "influence"), (mapped.zones, "feedback zone"))
    words = ", ".join(plural(len(parts), noun) for parts, noun in drawn)
    across = columns.spot(width - 1, 0.0)[0] + columns.wide + MARGIN
    return Drawing(f"Risk surface of {system}", words, across, last + TALL + KEY, (*edges, *marks, *key))


@dataclass(frozen=True)
class _Columns:
    """Where nodes stand that are all so wide (px)."""

    wide: float

    def spot(self, column: int, height: float) -> tuple[float, float]:
        """Returns the left upper corner of a node."""
        return MARGIN + column * (self.wide + BETWEEN), MARGIN + height * DOWN


def _wide(mapped: DesignMap) -> float:
    """Returns how wide nodes are, so that their words have room."""
    asked = [max(STRONG * len(node.name), SMALL * len(_below(node, mapped))) + 16 for node in mapped.graph.nodes]
    return min(MOST, max([LEAST, *asked]))


def _edge(pair: Pair, laid: LayeredGraph, mapped: DesignMap, columns: _Columns) -> Iterator[Element]:
    """Yields the curve of an edge through its route, its head, and how often a call is sent."""
    route = laid.routes[pair]
    points = [columns.spot(column, height) for column, height in route]
    right = route[-1][0] >= route[0][0]
    kind = _kind(pair, mapped)
    path, (x, y) = _curve(points, columns.wide, right=right)
    yield h("path", d=path, class_=f"edge {kind}".rstrip())
    tip = -8 if right else 8
    yield h("path", d=f"M{x:.1f} {y:.1f}l{tip} -4v8z", class_=f"head {kind}".rstrip())


def _sends(laid: LayeredGraph, mapped: DesignMap, columns: _Columns) -> Iterator[Element]:
    """Yields how often each call is sent, over its line."""
    for pair, words in mapped.tries.items():
        if pair in laid.routes:
            (x0, y0), (x1, y1) = (columns.spot(*place) for place in laid.routes[pair][:2])
            yield words_at(
                (x0 + x1 + columns.wide) / 2, (y0 + y1) / 2 + TALL / 2 - 6, words, "warn strong halo", anchor="middle"
            )


def _kind(pair: Pair, mapped: DesignMap) -> str:
    if pair in mapped.tries:
        return "more"
    return "loop" if any(pair[0] in zone and pair[1] in zone for zone in mapped.zones) else ""


def _curve(points: Sequence[tuple[float, float]], wide: float, *, right: bool) -> tuple[str, tuple[float, float]]:
    """Returns a smooth path from the side of the first node to the side of the last, and where it ends."""
    middle = TALL / 2
    first, last = points[0], points[-1]
    begin = (first[0] + (wide if right else 0), first[1] + middle)
    end = (last[0] + (0 if right else wide), last[1] + middle)
    parts, (x, y) = [f"M{begin[0]:.1f} {begin[1]:.1f}"], begin
    for a, b in points[1:-1]:
        near, far = (a, a + wide) if right else (a + wide, a)
        bend = (near - x) / 2
        parts.append(
            f"C{x + bend:.1f} {y:.1f} {near - bend:.1f} {b + middle:.1f} {near:.1f} {b + middle:.1f}H{far:.1f}"
        )
        x, y = far, b + middle
    bend = (end[0] - x) / 2
    parts.append(f"C{x + bend:.1f} {y:.1f} {end[0] - bend:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    return "".join(parts), end


def _node(node: Node, spot: tuple[float, float], mapped: DesignMap, wide: float) -> Iterator[Element]:
    """Yields the shape of a thing with its name, its kind, and the findings on it."""
    x, y = spot
    state = mapped.state(node.name)
    zone = "zone" if any(node.name in zone for zone in mapped.zones) else ""
    round_ = TALL / 2 if node.kind == "loop" else 12.0 if node.kind in ("timer", "limit") else 3.0
    kind = f"node {zone} {state if state in STATES else ''}"
    yield h("rect", h("title", node.name), x=x, y=y, width=wide, height=TALL, rx=round_, class_=" ".join(kind.split()))
    name = cut(node.name, wide - 16, STRONG)
    yield words_at(x + wide / 2, y + 18, name, "ink strong", anchor="middle")
    yield words_at(x + wide / 2, y + 33, _below(node, mapped), "muted small", anchor="middle")


def _below(node: Node, mapped: DesignMap) -> str:
    """Returns what stands below the name of a thing: its kind, and how many findings of each verdict are on it."""
    counts = mapped.counts.get(node.name, {})
    signs = "  ".join(f"{SIGNS[verdict]} {counts[verdict]}" for verdict in SIGNS if counts.get(verdict))
    return f"{node.kind}   {signs}" if signs else node.kind


def _key(top: float) -> Iterator[Child]:
    """Yields what colours, lines and signs mean."""
    nodes = (
        ("conflict", "in a conflict ✕"),
        ("undecided", "undecided ?"),
        ("proved", "proved ✓"),
        ("zone", "in feedback"),
    )
    for place, (kind, text) in enumerate(nodes):
        x = MARGIN + place * 140
        yield h("rect", x=x, y=top, width=22, height=14, rx=3, class_=f"node {kind}")
        yield words_at(x + 30, top + 11, text, "muted small")
    lines = (("", "influences"), ("loop", "feedback"), ("more", "tries of calls"))
    for place, (kind, text) in enumerate(lines):
        x = MARGIN + place * 140
        yield h("path", d=f"M{x:.0f} {top + 30:.0f}h22", class_=f"edge {kind}".rstrip())
        yield words_at(x + 30, top + 34, text, "muted small")
