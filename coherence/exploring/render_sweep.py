"""Renders a sweep as a map of marks, as JSON, and as a picture."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.exploring.sweeps import MARKS, MOST_NAMED, Cell, points
from coherence.exploring.swept_numbers import Axis
from coherence.reporting._words import plural
from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel

WIDEST = 100  # columns of the map
FILLS = {
    "settles": "#d5ead9",
    "conflict": "#f7e7b5",
    "oscillates": "#f6d3c4",
    "undecided": "#ececec",
    "refused": "#ffffff",
}
STYLES = {"settles": ("o", 2), "conflict": ("s", 3), "oscillates": ("x", 1), "undecided": ("d", 5), "refused": ("-", 5)}


def text(path: str, axes: Sequence[Axis], cells: Sequence[Cell]) -> str:
    """Returns the map: the first key to the right, the second one upward; of one key a line for each point.

    A reason that several points of a line give stands once, below them.
    """
    counts, reasons = Counter(cell.verdict for cell in cells), Counter(r for cell in cells for r in _reasons(cell))
    keys = " and ".join(f"{axis.key} ({_range(axis)})" for axis in axes)
    lines = [f"{path}: {len(cells)} points over {keys}", ""]
    if len(axes) == 1:
        marks = {reason: f"[{n}]" for n, reason in enumerate((r for r in reasons if reasons[r] > 1), 1)}
        lines += _column(cells, marks)
        notes = [f"{mark} {reasons[reason]} x {reason}" for reason, mark in marks.items()]
    else:
        lines += _map(axes, cells)
        notes = [f"{count} x {reason}" for reason, count in reasons.most_common(10)]
    lines += ["", "  ".join(f"{MARKS[v]} {v} {counts[v]}" for v in MARKS if counts[v])]
    lines += [f"  {note}" for note in (*_notes(axes, cells), *notes)]
    return "\n".join(lines) + "\n"


def _range(axis: Axis) -> str:
    return f"{axis.render(axis.values[0])} to {axis.render(axis.values[-1])}{' ' + axis.unit if axis.unit else ''}"


def _column(cells: Sequence[Cell], marks: Mapping[str, str]) -> list[str]:
    """Returns a line for each point; reasons with a mark stand below."""
    width = max(len(cell.values[0]) for cell in cells)
    return [f"  {c.values[0]:>{width}}  {MARKS[c.verdict]} {c.verdict}{_more(c, marks)}" for c in cells]


def _more(cell: Cell, marks: Mapping[str, str]) -> str:
    details = [f"period {render_seconds(cell.period)}"] if cell.period else []
    details += [f"factor {cell.growth:.4g} a lap (linearised)"] if cell.growth is not None else []
    details += [marks.get(reason, reason) for reason in _reasons(cell)]
    return f", {', '.join(details)}" if details else ""


def _reasons(cell: Cell) -> list[str]:
    """Returns why a point is answered so, and what is assumed there."""
    return [*([cell.why] if cell.why else []), *([_assumed(cell)] if cell.assumes else [])]


def _assumed(cell: Cell) -> str:
    return f"assumes {' and '.join(cell.assumes)}"


def _map(axes: Sequence[Axis], cells: Sequence[Cell]) -> list[str]:
    across, up = axes
    columns = len(across.values)
    rows = [cells[k * columns : (k + 1) * columns] for k in range(len(up.values))]
    labels = [row[0].values[1] for row in rows]
    wide = max(map(len, labels))
    gap = " " if columns * 2 <= WIDEST else ""
    lines = [f"{up.key}"]
    order = range(len(rows)) if up.values[0] > up.values[-1] else reversed(range(len(rows)))
    lines += [f"  {labels[k]:>{wide}} | {gap.join(MARKS[cell.verdict] for cell in rows[k])}" for k in order]
    length = columns + (columns - 1) * len(gap)
    first, last = rows[0][0].values[0], rows[0][-1].values[0]
    lines.append(f"  {'':>{wide}} +-{'-' * length}")
    lines.append(f"  {'':>{wide}}   {first}{last:>{max(length - len(first), len(last) + 1)}}  {across.key}")
    return lines


def _notes(axes: Sequence[Axis], cells: Sequence[Cell]) -> list[str]:
    """Returns the periods of what swings, and at how many points that is no loop of which a value is swept."""
    swings = [cell for cell in cells if cell.verdict == "oscillates" and cell.period]
    if not swings:
        return []
    periods = sorted(cell.period or 0.0 for cell in swings)
    ends = (
        render_seconds(periods[0])
        if periods[0] == periods[-1]
        else f"{render_seconds(periods[0])} to {render_seconds(periods[-1])}"
    )
    notes = [f"periods {ends}; {', '.join(dict.fromkeys(' and '.join(cell.loops) for cell in swings))}"]
    own = {axis.key.split(".")[1] for axis in axes if axis.key.startswith("loops.")}
    strange = [c for c in swings if own and len(c.loops) < MOST_NAMED and own.isdisjoint(c.loops)]
    others = Counter(" and ".join(cell.loops) for cell in strange)
    words = [f"{plural(n, 'point')}: what swings is {loops}, no value of which is swept" for loops, n in others.items()]
    return [*notes, *words]


def as_json(path: str, axes: Sequence[Axis], cells: Sequence[Cell]) -> dict[str, Any]:
    """Returns the same for programs."""
    return {
        "path": path,
        "keys": [{"key": a.key, "unit": a.unit, "values": [a.render(v) for v in a.values]} for a in axes],
        "points": [cell.as_json() for cell in cells],
        "counts": dict(Counter(cell.verdict for cell in cells)),
    }


def figure(system: str, axes: Sequence[Axis], cells: Sequence[Cell]) -> Figure:
    """Cells in colour with marks; of one key the periods."""
    if len(axes) == 1:
        return _curve(system, axes[0], cells)
    numbers = [[float(a.render(v)) for v in a.values] for a in axes]
    borders = [edges(row, log=a.log) for row, a in zip(numbers, axes, strict=True)]
    rectangles, marks = [], dict[str, list[tuple[float, float]]]()
    dense = max(len(row) for row in numbers) > 28
    for point, cell in zip(points(axes), cells, strict=True):
        i, j = point
        rectangles.append((borders[0][i], borders[1][j], borders[0][i + 1], borders[1][j + 1], FILLS[cell.verdict]))
        if not dense or (i % 3 == 1 and j % 3 == 1):
            marks.setdefault(cell.verdict, []).append((numbers[0][i], numbers[1][j]))
    dots = tuple(Dots(v, tuple(marks[v]), *STYLES[v]) for v in MARKS if v in marks)
    log = ("x" if axes[0].log else "") + ("y" if axes[1].log else "")
    panel = Panel(
        "stability map (exact execution)",
        axis_label(axes[0]),
        axis_label(axes[1]),
        (),
        dots,
        log,
        cells=tuple(rectangles),
    )
    return Figure(f"Sweep of {system}", (panel,), 1, tuple(_notes(axes, cells)))


def axis_label(axis: Axis) -> str:
    """Returns the key of an axis, with its unit."""
    return f"{axis.key}, {axis.unit}" if axis.unit else axis.key


def edges(row: Sequence[float], *, log: bool) -> list[float]:
    """Returns borders half way between neighbours."""
    if len(row) == 1:
        return [row[0] / 1.1, row[0] * 1.1] if log else [row[0] - 0.5, row[0] + 0.5]
    if log:
        inner = [(a * b) ** 0.5 for a, b in itertools.pairwise(row)]
        return [row[0] ** 2 / inner[0], *inner, row[-1] ** 2 / inner[-1]]
    inner = [(a + b) / 2 for a, b in itertools.pairwise(row)]
    return [2 * row[0] - inner[0], *inner, 2 * row[-1] - inner[-1]]


def _curve(system: str, axis: Axis, cells: Sequence[Cell]) -> Figure:
    """Returns the verdicts as a strip, the periods of what swings, and the growth of a lap."""
    pairs = [(float(axis.render(v)), cell) for v, cell in zip(axis.values, cells, strict=True)]
    log, label = "x" if axis.log else "", axis_label(axis)
    borders = edges([x for x, _ in pairs], log=axis.log)
    strips = tuple((borders[k], -1.0, borders[k + 1], 1.0, FILLS[cell.verdict]) for k, (_, cell) in enumerate(pairs))
    marks = {v: tuple((x, 0.0) for x, c in pairs if c.verdict == v) for v in MARKS}
    panels = [
        Panel("what the loops do (exact execution)", label, "", (), _dots(marks), log, cells=strips, ticks="x"),
    ]
    periods = {v: tuple((x, c.period) for x, c in pairs if c.verdict == v and c.period) for v in MARKS}
    if any(periods.values()):
        panels.append(Panel("period of what swings", label, "period, s", (), _dots(periods), log, low=0.0))
    growths = tuple((x, c.growth) for x, c in pairs if c.growth is not None)
    if growths:
        line = Line("linearised, for small deviations", growths)
        panels.append(Panel("growth per lap (above 1: unstable)", label, "factor", (line,), (), log, levels=(1.0,)))
    return Figure(f"Sweep of {system}", tuple(panels), 2, tuple(_notes([axis], cells)))


def _dots(marks: Mapping[str, tuple[tuple[float, float], ...]]) -> tuple[Dots, ...]:
    return tuple(Dots(verdict, places, *STYLES[verdict]) for verdict, places in marks.items() if places)
