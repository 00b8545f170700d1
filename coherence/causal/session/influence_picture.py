"""Draws the fitted graph: strengths with their unit and delay at the arrows, hidden causes dashed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.base.number_text import render_number
from coherence.causal.fitting.fit import Fitted, FittedNode
from coherence.causal.session.figures import shortened
from coherence.reporting.pictures.figure import Arrow, Dots, Line, Panel
from coherence.reporting.pictures.layered import LayeredGraph, layered

MOST_NODES, MOST_HIDDEN = 14, 5
ACROSS, DOWN = 625.0, 297.0  # px of a large panel between its first and last column, and row, without its rim
LETTER, TALL = 6.7, 15.0  # px of a letter, of a line of text
APART = 0.3  # rows between the arrows there and back
LIFTS = (9.0, -11.0, 24.0, -24.0)  # px above an arrow where its words may stand
PLACES = (0.5, 0.38, 0.62, 0.26, 0.74)  # of the way along an arrow where its words may stand
Point = tuple[float, float]
Pair = tuple[str, str]


@dataclass(frozen=True)
class _Scale:
    """Pixels of a column and of a row."""

    across: float
    down: float

    def box(self, at: Point, words: str) -> tuple[float, float, float, float]:
        x, y, half = at[0] * self.across, at[1] * self.down, LETTER * len(words) / 2
        return x - half, y - TALL / 2, x + half, y + TALL / 2


def graph(
    fitted: Fitted, target: str | None, seen: Mapping[Pair, bool], units: Mapping[str, str] | None = None
) -> Panel:
    """The fitted graph; dashed: not told or not measured, dotted: told and not seen in the data."""
    nodes = _nodes(fitted, target)
    hidden = _hidden(fitted, nodes)
    pairs = [pair for pair in _pairs(fitted) if pair[0] in nodes and pair[1] in nodes]
    laid = layered((*hidden, *nodes), [*pairs, *_from_hidden(fitted, hidden, nodes)])
    scale = _scale(laid)
    names = {name: _point(at) for name, at in laid.nodes.items()}
    texts = [((x, y + 16 / scale.down), shortened(name)) for name, (x, y) in names.items()]
    boxes = [scale.box(at, words) for at, words in [*texts, *((at, "oo") for at in names.values())]]
    lines: list[Line] = []
    arrows: list[Arrow] = []
    for pair, route in laid.routes.items():
        points = _route(route, back=(pair[1], pair[0]) in laid.routes)
        words, style = _words(fitted.nodes[pair[1]], pair[0], fitted.step, units or {}), _style(fitted, pair, seen)
        lines += [Line("", (a, b), style) for a, b in itertools.pairwise(points[:-1])]
        arrows.append(Arrow(points[-2], points[-1], "", style))
        if words:
            lower = (pair[1], pair[0]) in laid.routes and points[0][0] > points[-1][0]
            at = _free(points, words, boxes, scale, lifts=[-lift for lift in LIFTS] if lower else LIFTS)
            texts.append((at, words))
            boxes.append(scale.box(at, words))
    dots = (
        Dots("", tuple(names[name] for name in nodes), "o", 5),
        Dots("", tuple(names[name] for name in hidden), "x", 5),
    )
    room = tuple(Line("", ((x, 0.5), (x, 0.5)), 5) for x in _ends(names))
    shown = tuple((x, y, "middle", words) for (x, y), words in texts)
    title = "Fitted influences" + (", x: not measured" if hidden else "")
    return Panel(title, "", "", (*room, *lines), dots if hidden else dots[:1], arrows=tuple(arrows), texts=shown,
                 ticks="", large=True)  # fmt: skip


def _pairs(fitted: Fitted) -> Iterator[Pair]:
    for effect, node in fitted.nodes.items():
        for cause in dict.fromkeys(name for name, _ in node.equation.columns):
            if cause != effect:
                yield cause, effect


def _nodes(fitted: Fitted, target: str | None) -> tuple[str, ...]:
    """What is behind the loss, nearest first; without a loss everything that is joined to something."""
    joined = {name for pair in _pairs(fitted) for name in pair}
    behind = fitted.graph.ancestors(target) if target is not None else joined
    mine = tuple(name for name in fitted.signals if name in joined and name in behind)
    return (mine or tuple(name for name in fitted.signals if name in joined))[-MOST_NODES:]


def _hidden(fitted: Fitted, nodes: Sequence[str]) -> tuple[str, ...]:
    """Declared causes that no column has and that act on what is drawn."""
    latent = fitted.graph.latent(fitted.signals)
    return tuple(name for name in latent if any(one.effect in nodes for one in fitted.graph.influences
                                                if one.cause == name))[:MOST_HIDDEN]  # fmt: skip


def _from_hidden(fitted: Fitted, hidden: Sequence[str], nodes: Sequence[str]) -> list[Pair]:
    return [
        (one.cause, one.effect)
        for one in fitted.graph.influences
        if one.cause in hidden and one.effect in nodes and one.effect in fitted.nodes
    ]


def _words(node: FittedNode, cause: str, step: float, units: Mapping[str, str]) -> str:
    """The lasting strength of all delays, its unit, and when it comes; nothing where it is exact or not measured."""
    places = [number for number, (name, _) in enumerate(node.equation.columns) if name == cause]
    if not places or node.equation.exact:
        return ""
    lags = [node.equation.columns[place][1] for place in places]
    later = "" if not any(lags) else f", {_delays(min(lags) * step, max(lags) * step)} later"
    if any(node.equation.columns[place] in node.equation.lost for place in places):
        return f"?{later}"
    strength = render_number(float(node.coefficients[0, places].sum()), 3)
    return strength + _unit(units.get(node.effect, ""), units.get(cause, "")) + later


def _delays(first: float, last: float) -> str:
    return f"{render_number(first)} s" if first == last else f"{render_number(first)} to {render_number(last)} s"


def _unit(effect: str, cause: str) -> str:
    above, below = effect.removeprefix("1"), cause.removeprefix("1")
    if above == below:
        return ""
    return f" {above or '1'}/{f'({below})' if '/' in below else below}" if below else f" {above}"


def _style(fitted: Fitted, pair: Pair, seen: Mapping[Pair, bool]) -> int:
    node = fitted.nodes[pair[1]]
    columns = [column for column in node.equation.columns if column[0] == pair[0]]
    if not columns or any(column in node.equation.lost for column in columns):
        return 1
    return 0 if seen.get(pair) else 2


def _point(at: tuple[int, float]) -> Point:
    return float(at[0]), -at[1]


def _route(route: Sequence[tuple[int, float]], *, back: bool) -> list[Point]:
    """The points of an arrow; there and back stand apart."""
    points = [_point(at) for at in route]
    shift = (APART if points[0][0] < points[-1][0] else -APART) / 2 if back else 0.0
    return [(x, y + shift) for x, y in points]


def _scale(laid: LayeredGraph) -> _Scale:
    every = [_point(at) for at in laid.nodes.values()] + [_point(at) for way in laid.routes.values() for at in way]
    wide = max((x for x, _ in every), default=0.0)
    tall = max((y for _, y in every), default=0.0) - min((y for _, y in every), default=0.0)
    return _Scale(ACROSS / (wide + 0.9), DOWN / (tall + 1.0))


def _ends(names: Mapping[str, Point]) -> tuple[float, float]:
    places = [x for x, _ in names.values()] or [0.0]
    return min(places) - 0.45, max(places) + 0.45


def _free(
    points: Sequence[Point],
    words: str,
    boxes: Sequence[tuple[float, ...]],
    scale: _Scale,
    *,
    lifts: Sequence[float],
) -> Point:
    """The first place along the way where the words cover nothing, else the one where they cover least."""

    def covered(at: Point) -> float:
        a0, b0, a1, b1 = scale.box(at, words)
        return sum(max(0.0, min(a1, c1) - max(a0, c0)) * max(0.0, min(b1, d1) - max(b0, d0))
                   for c0, d0, c1, d1 in boxes)  # fmt: skip

    places = [
        (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]) + lift / scale.down)
        for lift in lifts
        for a, b in itertools.pairwise(points)
        for share in PLACES
    ]
    return min(places, key=covered)
