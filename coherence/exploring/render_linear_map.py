"""Renders a map of linear verdicts: marks of a part of its points, how many there are of each, and as JSON."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from coherence.exploring.linear_maps import MARKS, LinearSweep
from coherence.exploring.render_sweep import axis_label, edges
from coherence.reporting.pictures.figure import Dots, Figure, Panel

WIDE, HIGH = 80, 24  # marks of the map in text: every so many points one
DRAWN = 300  # values of a key in a picture, at most
FILLS = {"o": "#d5ead9", "x": "#f6d3c4", "?": "#ececec", "-": "#ffffff"}
STYLES = {"o": ("o", 2), "x": ("x", 1), "?": ("d", 5), "-": ("-", 5)}


def text(path: str, sweep: LinearSweep, rows: Sequence[str]) -> str:
    """Returns the map, the first key to the right and the second one upward, and how it came about."""
    axes, counts = sweep.axes, _counts(rows)
    keys = " and ".join(
        f"{a.key} ({a.render(a.values[0])} to {a.render(a.values[-1])} {a.unit}".rstrip() + ")" for a in axes
    )
    every = max(1, -(-len(rows[0]) // WIDE)), max(1, -(-len(rows) // HIGH))
    lines = [f"{path}: {sweep.count} points over {keys}", ""]
    lines += [f"  {row[:: every[0]]}" for row in reversed(rows[:: every[1]])]
    lines += ["", "  ".join(f"{mark} {word} {counts[word]}" for word, mark in MARKS.items() if counts[word])]
    if max(every) > 1:
        lines.append(f"  one mark for {every[0]} x {every[1]} points; all are in -o json")
    lines.append(f"  from {sweep.readings} readings of the text; {len(sweep.checks)} more say the same")
    return "\n".join(lines) + "\n"


def as_json(path: str, sweep: LinearSweep, rows: Sequence[str]) -> dict[str, Any]:
    """Returns the same for programs: a row of marks for each value of the second key."""
    return {
        "path": path,
        "keys": [{"key": a.key, "unit": a.unit, "values": [a.render(v) for v in a.values]} for a in sweep.axes],
        "points": [], "counts": dict(_counts(rows)),
        "linear": {
            "readings": sweep.readings, "checks": len(sweep.checks), "rows": list(rows),
            "marks": {mark: word for word, mark in MARKS.items()},
        },
    }  # fmt: skip


def figure(system: str, sweep: LinearSweep, rows: Sequence[str]) -> Figure:
    """Returns the map in colour: a rectangle for each stretch of equal marks, of at most 300 values of each key."""
    shown = [_drawn(len(axis.values)) for axis in sweep.axes]
    numbers = [[float(axis.render(axis.values[k])) for k in of] for axis, of in zip(sweep.axes, shown, strict=True)]
    borders = [edges(row, log=axis.log) for row, axis in zip(numbers, sweep.axes, strict=True)]
    marks = ["".join(rows[j][i] for i in shown[0]) for j in (shown[1] if len(shown) > 1 else range(1))]
    high = borders[1] if len(borders) > 1 else [0.0, 1.0]
    cells, first = [], dict[str, tuple[float, float]]()
    for j, row in enumerate(marks):
        for mark, begin, end in _stretches(row):
            cells.append((borders[0][begin], high[j], borders[0][end], high[j + 1], FILLS[mark]))
            middle = numbers[0][(begin + end - 1) // 2], numbers[1][j] if len(numbers) > 1 else 0.5
            first[mark] = first.get(mark, middle)
    dots = tuple(Dots(word, (first[mark],), *STYLES[mark]) for word, mark in MARKS.items() if mark in first)
    log = "".join(letter for letter, axis in zip("xy", sweep.axes, strict=False) if axis.log)
    labels = [axis_label(axis) for axis in sweep.axes]
    panel = Panel(
        "linear verdict at the operating point", labels[0], (*labels, "")[1], (), dots, log, cells=tuple(cells)
    )
    return Figure(f"Linear sweep of {system}", (panel,), 1)


def _drawn(count: int) -> list[int]:
    """Returns the values of a key that a picture shows: its first and last one, and those between in even steps."""
    most = min(count, DRAWN)
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]


def _stretches(row: str) -> Iterator[tuple[str, int, int]]:
    """Yields each mark of a row with where it begins and ends."""
    begin = 0
    for mark, same in itertools.groupby(row):
        end = begin + len(list(same))
        yield mark, begin, end
        begin = end


def _counts(rows: Sequence[str]) -> Counter[str]:
    marks = sum((Counter(row) for row in rows), Counter[str]())
    return Counter({word: marks[mark] for word, mark in MARKS.items() if marks[mark]})
