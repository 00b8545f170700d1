"""Panels of `coherence fit`: the fitted graph, amounts as bars with intervals, a waterfall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coherence.base.number_text import render_number
from coherence.causal.answers.intervals import Estimate
from coherence.causal.fitting.fit import Fitted, FittedNode
from coherence.reporting.pictures.figure import COLOURS, Arrow, Dots, Line, Panel

MOST_BARS, MOST_NODES, MOST_LETTERS = 9, 14, 34
RISE, FALL, WHOLE = COLOURS[1], COLOURS[2], COLOURS[5]


@dataclass(frozen=True)
class AmountBar:
    """An amount under a name; `whole`: it stands on zero in a waterfall."""

    name: str
    amount: Estimate
    whole: bool = False


def shortened(name: str) -> str:
    """A name that fits beside others."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def bars(title: str, unit: str, amounts: Sequence[AmountBar]) -> Panel:
    """Amounts under each other, largest first, each with its interval as a line."""
    shown = amounts[:MOST_BARS]
    cells, lines, texts = [], [], []
    for row, bar in enumerate(shown):
        top = -float(row)
        low, high = sorted((0.0, bar.amount.value))
        cells.append((low, top - 0.72, high, top - 0.42, RISE if bar.amount.value >= 0 else FALL))
        lines.append(Line("", ((bar.amount.low, top - 0.57), (bar.amount.high, top - 0.57)), 0))
        caption = f"{shortened(bar.name)}  {render_number(bar.amount.value, 3)}"
        texts.append((min(0.0, *(a.amount.low for a in shown)), top - 0.18, "start", caption))
    return Panel(title, unit, "", tuple(lines), cells=tuple(cells), texts=tuple(texts), ticks="x", high=0.2)


def waterfall(title: str, unit: str, steps: Sequence[AmountBar]) -> Panel:
    """Amounts one after the other from left to right, each beginning where the last one ended."""
    shown, level = steps[:MOST_BARS], 0.0
    cells, texts = [], []
    for row, bar in enumerate(shown):
        top = -float(row)
        start = 0.0 if bar.whole else level
        end = bar.amount.value if bar.whole else level + bar.amount.value
        colour = WHOLE if bar.whole else RISE if bar.amount.value < 0 else FALL
        cells.append((min(start, end), top - 0.72, max(start, end), top - 0.42, colour))
        texts.append((0.0, top - 0.18, "start", f"{shortened(bar.name)}  {render_number(bar.amount.value, 3)}"))
        level = end
    return Panel(title, unit, "", cells=tuple(cells), texts=tuple(texts), ticks="x", high=0.2)


def graph(fitted: Fitted, target: str | None, seen: Mapping[tuple[str, str], bool]) -> Panel:
    """The fitted graph from left to right; dashed: not told, dotted: told and not seen in the data."""
    nodes = _nodes(fitted, target)
    at = _placed(fitted, nodes)
    arrows = [
        _arrow(node, cause, at, seen=bool(seen.get((cause, effect))))
        for effect, node in fitted.nodes.items()
        for cause in dict.fromkeys(name for name, _ in node.equation.columns)
        if cause in at and effect in at and cause != effect
    ]
    tall = max((-y for _, y in at.values()), default=1.0)
    texts = tuple((x, y + 0.07 * tall + 0.02, "middle", shortened(name)) for name, (x, y) in at.items())
    ends = [min(x for x, _ in at.values()) - 0.4, max(x for x, _ in at.values()) + 0.4]
    room = tuple(Line("", ((x, 0.5), (x, 0.5)), 5) for x in ends)
    dots = (Dots("", tuple(at.values()), "o", 5),)
    return Panel("Fitted influences", "", "", room, dots, arrows=tuple(arrows), texts=texts, ticks="", large=True)


def _arrow(node: FittedNode, cause: str, at: Mapping[str, tuple[float, float]], *, seen: bool) -> Arrow:
    """One arrow for all delays, with their lasting strength."""
    places = [number_ for number_, (name, _) in enumerate(node.equation.columns) if name == cause]
    lost = any(node.equation.columns[place] in node.equation.lost for place in places)
    words = "?" if lost else render_number(float(node.coefficients[0, places].sum()), 3)
    style = 1 if lost else 0 if seen else 2
    return Arrow(at[cause], at[node.effect], "" if node.equation.exact else words, style)


def _nodes(fitted: Fitted, target: str | None) -> tuple[str, ...]:
    """What is behind the loss, nearest first; without a loss everything that is joined to something."""
    joined = {name for node in fitted.nodes.values() for name in (node.effect, *(c for c, _ in node.equation.columns))}
    behind = fitted.graph.ancestors(target) if target is not None else joined
    mine = tuple(name for name in fitted.signals if name in joined and name in behind)
    return (mine or tuple(name for name in fitted.signals if name in joined))[-MOST_NODES:]


def _placed(fitted: Fitted, nodes: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Longest way from a root, and a row within it."""
    names = tuple(nodes)
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for name in names:
            causes = [c for c in fitted.graph.causes(name) if c in depth and c != name]
            below = [depth[c] + 1 for c in causes if name not in fitted.graph.ancestors(c)]
            depth[name] = max([depth[name], *below])
    columns: dict[int, list[str]] = {}
    for name in names:
        columns.setdefault(depth[name], []).append(name)
    tallest = max(map(len, columns.values()), default=1)
    placed: dict[str, tuple[float, float]] = {}
    for x in sorted(columns):
        members = sorted(columns[x], key=lambda name: -_height(fitted, name, placed))
        for row, name in enumerate(members):
            placed[name] = (float(x), -(row + 0.5) * tallest / len(members) - 0.15 * (x % 2))
    return placed


def _height(fitted: Fitted, name: str, placed: Mapping[str, tuple[float, float]]) -> float:
    """The mean height of the causes: arrows cross less."""
    above = [placed[cause][1] for cause in fitted.graph.causes(name) if cause in placed]
    return sum(above) / len(above) if above else 0.0
