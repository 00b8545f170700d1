"""Draws what became of figures: each as a share of what it was, on a logarithmic axis, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherence.reporting.pictures.drawing import NAME_LETTER, Drawing, cut, more_room, moved, words_at
from coherence.reporting.pictures.markup import Child, h

WIDTH, LEFT, RIGHT, ROW, TOP, WORDS = 860.0, 250.0, 150.0, 24.0, 22.0, 140.0
MARKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0,
         1000.0)  # fmt: skip


@dataclass(frozen=True)
class ChangeRatio:
    """A figure after, divided by before, with the ends of its interval; `words`: both values."""

    name: str
    value: float
    low: float
    high: float
    words: str


def ratios_drawing(title: str, rows: Sequence[ChangeRatio]) -> Drawing | None:
    """Returns a row for each figure; None where none is above 0.  An arrow leads to what lies beyond the axis."""
    drawn = [row for row in rows if row.value > 0]
    if not drawn:
        return None
    least = min(0.5, *(max(row.low, row.value / 10) for row in drawn))
    most = max(2.0, *(min(row.high, row.value * 10) for row in drawn))
    ends = (max((m for m in MARKS if m <= least), default=MARKS[0]), min((m for m in MARKS if m >= most),
                                                                          default=MARKS[-1]))  # fmt: skip
    bottom, room = TOP + ROW * len(drawn), more_room([row.name for row in drawn], LEFT)
    marks: list[Child] = [*_axis(ends, bottom)]
    for place, row in enumerate(drawn):
        marks += _row(row, TOP + ROW * (place + 0.5), ends, room)
    words = f"{len(drawn)} figures, each as a multiple of what it was"
    return Drawing(title, words, WIDTH + room, bottom + 40, moved(marks, room))


def _at(number: float, ends: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in ends)
    share = (math.log(max(number, 1e-12)) - low) / (high - low)
    return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def _axis(ends: tuple[float, float], bottom: float) -> Iterator[Child]:
    inside = [mark for mark in MARKS if ends[0] <= mark <= ends[1]]
    every = [mark for mark in inside if f"{mark:g}".strip("0.") == "1"] if len(inside) > 9 else inside
    for mark in every:
        x = _at(mark, ends)
        yield h("path", d=f"M{x:.1f} {TOP:.0f}V{bottom + 5:.0f}", class_="edge" if mark == 1 else "rule")
        yield words_at(x, bottom + 18, f"×{mark:g}", "muted small", anchor="middle")
    yield words_at(_at(1.0, ends), 12, "as before", "muted small", anchor="middle")
    yield words_at((LEFT + WIDTH - RIGHT) / 2, bottom + 34, "after, as a multiple of before (logarithmic)",
                   "muted small", anchor="middle")  # fmt: skip


def _row(row: ChangeRatio, y: float, ends: tuple[float, float], room: float) -> Iterator[Child]:
    yield words_at(LEFT - 14, y + 4, cut(row.name, LEFT + room - 24, NAME_LETTER), "ink", anchor="end")
    x0, x1 = _at(row.low, ends), _at(row.high, ends)
    sides = _end(x0, y, 6 if row.low < ends[0] else 0) + _end(x1, y, -6 if row.high > ends[1] else 0)
    yield h("path", d=f"M{x0:.1f} {y:.1f}H{x1:.1f}{sides}", class_="span")
    if ends[0] <= row.value <= ends[1]:
        yield h("circle", cx=_at(row.value, ends), cy=y, r=4.5, class_="dot")
    yield words_at(WIDTH - RIGHT + 12, y + 4, cut(row.words, WORDS), "muted small")


def _end(x: float, y: float, back: float) -> str:
    """Returns the end of an interval as a path: a cap, or an arrow with arms so far back where it leads on."""
    return f"M{x + back:.1f} {y - 4:.1f}L{x:.1f} {y:.1f}L{x + back:.1f} {y + 4:.1f}"
