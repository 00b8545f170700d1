"""Draws shares as a map: a row for each thing, and time, or names, across; strength of one colour, with its scale.

One hue of growing strength is told apart by the colour-blind and in grey, and keeps its order on a dark screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock
from coherence.reporting.pictures.drawing import NAME_LETTER, Drawing, cut, more_room, moved, words_at
from coherence.reporting.pictures.markup import Child, h
from coherence.reporting.pictures.timeline import ticks

WIDTH, LEFT, RIGHT, ROW, TOP, WIDE = 860.0, 210.0, 30.0, 22.0, 34.0, 92.0
LEVELS = 10  # of strength; 0 leaves the ground as it is
KEY = 14.0  # side of a field of the scale


@dataclass(frozen=True)
class HeatRow:
    """A thing and its shares from left to right, each of equal width; None where there is none."""

    name: str
    shares: tuple[float | None, ...]


def heat_map(title: str, rows: Sequence[HeatRow], end: float, *, ends: tuple[str, str] = ("0 %", "100 %")) -> Drawing:
    """Returns rows over time from 0 to `end` (s); `ends` are the words of the scale."""
    bottom, room = TOP + ROW * len(rows), more_room([row.name for row in rows], LEFT)
    marks: list[Child] = [*_scale(ends), *_names(rows, room), *_fields(rows, WIDTH - LEFT - RIGHT)]
    for tick in ticks(0.0, end):
        x = LEFT + tick / end * (WIDTH - LEFT - RIGHT)
        marks.append(h("path", d=f"M{x:.1f} {bottom:.1f}v5", class_="edge"))
        marks.append(words_at(x, bottom + 18, render_clock(Fraction(f"{tick:.6g}")), "muted small", anchor="middle"))
    marks.append(words_at(LEFT - 14, bottom + 18, "time", "muted small", anchor="end"))
    return Drawing(title, f"{len(rows)} rows over {end:g} s", WIDTH + room, bottom + 28, moved(marks, room))


def matrix_map(title: str, columns: Sequence[str], rows: Sequence[HeatRow]) -> Drawing:
    """Returns rows across named columns, with the share written in each field."""
    bottom, room = TOP + ROW * len(rows), more_room([row.name for row in rows], LEFT)
    marks: list[Child] = [*_scale(("0 %", "100 %")), *_names(rows, room), *_fields(rows, WIDE * len(columns))]
    for at, name in enumerate(columns):
        marks.append(words_at(LEFT + WIDE * (at + 0.5), bottom + 16, cut(name, WIDE - 6), "muted small",
                              anchor="middle"))  # fmt: skip
        for place, row in enumerate(rows):
            share = row.shares[at]
            words = "-" if share is None else f"{100 * share:.0f} %"
            marks.append(words_at(LEFT + WIDE * (at + 0.5), TOP + ROW * place + 15, words, "ink small halo",
                                  anchor="middle"))  # fmt: skip
    width = max(LEFT + WIDE * len(columns) + RIGHT, LEFT + 260)
    return Drawing(title, f"{len(rows)} rows, {len(columns)} columns", width + room, bottom + 28, moved(marks, room))


def _names(rows: Sequence[HeatRow], room: float) -> Iterator[Child]:
    for place, row in enumerate(rows):
        y = TOP + ROW * place
        yield words_at(LEFT - 14, y + 15, cut(row.name, LEFT + room - 24, NAME_LETTER), "ink", anchor="end")


def _fields(rows: Sequence[HeatRow], across: float) -> Iterator[Child]:
    """Yields one shape for each strength, and a frame around each row."""
    shapes: dict[int, list[str]] = {}
    for place, row in enumerate(rows):
        y, wide = TOP + ROW * place + 1, across / max(1, len(row.shares))
        for first, last, level in _stretches(row.shares):
            left, length = LEFT + first * wide, (last - first) * wide
            shapes.setdefault(level, []).append(f"M{left:.1f} {y:.0f}h{length:.1f}v{ROW - 2:.0f}h{-length:.1f}z")
        yield h("rect", x=LEFT, y=y, width=across, height=ROW - 2, class_="frame")
    for level in sorted(shapes):
        yield h("path", d="".join(shapes[level]), class_="heat", fill_opacity=f"{level / LEVELS:.2g}")


def _stretches(shares: Sequence[float | None]) -> Iterator[tuple[int, int, int]]:
    """Yields first and last place, and strength, of neighbours of one strength; those without any are left out."""
    levels = [0 if share is None else round(min(max(share, 0.0), 1.0) * LEVELS) for share in shares]
    first = 0
    for place in range(1, len(levels) + 1):
        if place == len(levels) or levels[place] != levels[first]:
            if levels[first]:
                yield first, place, levels[first]
            first = place


def _scale(ends: tuple[str, str]) -> Iterator[Child]:
    """Yields the strengths in a row, between the words of their ends."""
    left = LEFT + 7 * len(ends[0]) + 8
    yield words_at(LEFT, 15, ends[0], "muted small")
    for level in range(LEVELS + 1):
        at = left + KEY * level
        yield h("rect", x=at, y=4.0, width=KEY, height=KEY, class_="heat", fill_opacity=f"{level / LEVELS:.2g}")
    yield h("rect", x=left, y=4.0, width=KEY * (LEVELS + 1), height=KEY, class_="frame")
    yield words_at(left + KEY * (LEVELS + 1) + 8, 15, ends[1], "muted small")
