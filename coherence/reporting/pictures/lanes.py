"""Draws what happened when, a lane for each thing: bars for what lasts, upright marks for moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock
from coherence.reporting.pictures.drawing import NAME_LETTER, Drawing, cut, more_room, moved, words_at
from coherence.reporting.pictures.markup import Child, h
from coherence.reporting.pictures.timeline import ticks

WIDTH, LEFT, RIGHT, ROW, TOP = 860.0, 250.0, 30.0, 24.0, 8.0


@dataclass(frozen=True)
class Lane:
    """A thing with spans (from, to) and moments, in s; `kind`: a class of the palette (bad, open, good or none)."""

    name: str
    spans: tuple[tuple[float, float], ...] = ()
    moments: tuple[float, ...] = ()
    kind: str = ""


def lanes_drawing(title: str, lanes: Sequence[Lane], end: float) -> Drawing:
    """Returns the lanes over time from 0 to `end` (s)."""
    bottom, room = TOP + ROW * len(lanes), more_room([lane.name for lane in lanes], LEFT)
    marks: list[Child] = []
    for tick in ticks(0.0, end):
        x = _at(tick, end)
        marks.append(h("path", d=f"M{x:.1f} {TOP:.0f}V{bottom + 5:.0f}", class_="rule"))
        marks.append(words_at(x, bottom + 18, render_clock(Fraction(f"{tick:.6g}")), "muted small", anchor="middle"))
    for place, lane in enumerate(lanes):
        marks += _lane(lane, TOP + ROW * place, end, room)
    marks.append(words_at(LEFT - 14, bottom + 18, "time", "muted small", anchor="end"))
    return Drawing(title, f"{len(lanes)} lanes over {end:g} s", WIDTH + room, bottom + 28, moved(marks, room))


def _at(time: float, end: float) -> float:
    return LEFT + min(max(time / end, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def _lane(lane: Lane, y: float, end: float, room: float) -> Iterator[Child]:
    """Yields a name, its bars as one shape, and its moments as another one."""
    yield words_at(LEFT - 14, y + 16, cut(lane.name, LEFT + room - 24, NAME_LETTER), "ink", anchor="end")
    yield h("path", d=f"M{LEFT:.0f} {y + ROW / 2:.1f}H{WIDTH - RIGHT:.0f}", class_="rule")
    bars = [(_at(first, end), max(_at(last, end) - _at(first, end), 1.5)) for first, last in lane.spans]
    if bars:
        shape = "".join(f"M{x:.1f} {y + 5:.1f}h{wide:.1f}v{ROW - 10:.0f}h{-wide:.1f}z" for x, wide in bars)
        yield h("path", d=shape, class_=f"fill {lane.kind}".rstrip())
    if lane.moments:
        places = dict.fromkeys(f"{_at(moment, end):.1f}" for moment in lane.moments)
        yield h("path", d="".join(f"M{x} {y + 4:.1f}v{ROW - 8:.0f}" for x in places), class_="span")
