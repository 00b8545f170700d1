"""Renders a map of linear verdicts: marks of a part of its points, how many there are of each, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from coherence.exploring.linear_maps import MARKS, LinearSweep

WIDE, HIGH = 80, 24  # marks of the map in text: every so many points one


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


def _counts(rows: Sequence[str]) -> Counter[str]:
    marks = sum((Counter(row) for row in rows), Counter[str]())
    return Counter({word: marks[mark] for word, mark in MARKS.items() if marks[mark]})
