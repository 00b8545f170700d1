"""Draws the run that shows a conflict: a scale of time, and what happens at each moment.

Labels stand one below the other and lines lead to their moments, so that nothing overlaps however close they lie.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock, render_duration, render_seconds
from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Step
from coherence.reporting.pictures.drawing import LETTER, Drawing, lines_of, words_at
from coherence.reporting.pictures.markup import Child, h

WIDTH, ROW, LINE, AXIS, LABELS = 760.0, 24.0, 15.0, 96.0, 150.0
ROOM, ROOM_OF_LAST = (int((WIDTH - LABELS - 8) / (LETTER + wide)) for wide in (0, 0.8))  # letters of a line
MOST = 24  # steps that are drawn
TOP = 18.0


def timeline(finding: Finding, *, title: str) -> Drawing | None:
    """Returns the timeline of a finding's witness; None where it has none."""
    steps = finding.evidence.witness
    if not steps:
        return None
    drawn = steps[:MOST]
    rooms = [ROOM] * (len(drawn) - 1) + [ROOM_OF_LAST]  # its words are heavy
    rows = [_Row(step, tuple(lines_of(_words(step), room))) for step, room in zip(drawn, rooms, strict=True)]
    timed = [float(step.time) for step in drawn if step.time is not None]
    height = TOP + max(sum(row.height for row in rows), 3 * ROW if timed else 0) + 14
    words = f"{len(rows)} steps over {render_seconds(max(timed) - min(timed))}" if timed else f"{len(rows)} steps"
    marks = [*_scale(timed, height), *_steps(rows, timed, height)]
    if len(steps) > MOST:
        height += 14
        marks.append(words_at(LABELS, height - 6, f"{len(steps) - MOST} further steps are left out", "muted small"))
    return Drawing(title, words, WIDTH, height, tuple(marks))


@dataclass(frozen=True)
class _Row:
    """A step with its words in lines that fit."""

    step: Step
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return ROW + LINE * (len(self.lines) - 1)


def _words(step: Step) -> str:
    clock = f"{render_duration(step.time)}: " if step.time is not None else ""
    return clock + visible(" ".join(step.text.split()))


def _scale(timed: Sequence[float], height: float) -> Iterator[Child]:
    """Yields the axis of time with its numbers, from top to bottom."""
    if not timed:
        return
    yield h("path", d=f"M{AXIS:.0f} {TOP:.0f}V{height - 14:.0f}", class_="edge")
    yield words_at(AXIS - 12, 10, "time", "muted small", anchor="end")
    low, high = min(timed), max(timed)
    for tick in ticks(low, high, most=int((height - TOP - 22) / 18)):
        y = _at(tick, low, high, height)
        yield h("path", d=f"M{AXIS - 5:.0f} {y:.1f}h10", class_="edge")
        yield words_at(AXIS - 12, y + 4, render_clock(Fraction(f"{tick:.6g}")), "muted small", anchor="end")


def _at(time: float, low: float, high: float, height: float) -> float:
    share = (time - low) / (high - low) if high > low else 0.5
    return TOP + 4 + share * (height - TOP - 22)


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Returns at most so many round times between two, and one more, in s; one where they are equal."""
    if high <= low:
        return [low]
    span = high - low
    steps = [size * unit for unit in (1, 60, 3600, 86400) for size in (1, 2, 5, 10, 15, 20, 30) if size * unit]
    small = [m * 10.0**e for e in range(-6, 1) for m in (1, 2, 5)]
    large = [m * 10.0**e for e in range(6, 12) for m in (1, 2, 5)]
    step = next((step for step in sorted({*small, *steps, *large}) if span / step <= max(1, most)), span)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _steps(rows: Sequence[_Row], timed: Sequence[float], height: float) -> Iterator[Child]:
    """Yields each step: a dot at its moment, a line to its row, its time and its words."""
    y, left = TOP + 4 + ROW / 4, LABELS if timed else 14.0
    for row in rows:
        last = row is rows[-1]
        if row.step.time is not None:
            moment = _at(float(row.step.time), min(timed), max(timed), height)
            yield h("path", d=f"M{AXIS:.0f} {moment:.1f}L{LABELS - 22:.0f} {y:.1f}H{LABELS - 8:.0f}", class_="rule")
            yield h("circle", cx=AXIS, cy=moment, r=4.5, class_="dot bad" if last else "dot")
        for number, line in enumerate(row.lines):
            yield words_at(left, y + 4 + LINE * number, line, "ink strong" if last else "ink")
        y += row.height
