"""Draws how a run went: one panel for each kind of quantity, with promises as labelled lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.reporting.pictures.figure import Dots, Guide, Line, Panel
from coherence.simulate.study.course import CourseCurve, RunCourse, WriteMark
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.thresholds import FigureLimit

MOST_MARKS, LAST_MARKS = 40, 20  # writes that are marked in a panel, and when there are more
IN_A_PANEL, MOST_CURVES = 6, 36  # curves: in a panel, where all differ by colour, and of a kind
WORDS = 0.12  # of the height of a panel, above its curves
TIMES = ((7200.0, 3600.0, "h"), (300.0, 60.0, "min"), (0.0, 1.0, "s"))  # from how long on, size, name


@dataclass(frozen=True)
class CourseKind:
    """A panel: its title, the axis of its values, and which curves it has."""

    title: str
    axis: str
    of: tuple[str, ...]


KINDS = (
    CourseKind("requests", "per second (1/s)", ("arrive", "answered")),
    CourseKind("attempts", "sends per second (1/s)", ("sends",)),
    CourseKind("success", "of those that ended (%)", ("succeed",)),
    CourseKind("waiting", "requests waiting", ("queue",)),
    CourseKind("replicas", "servers", ("servers", "busy")),
    CourseKind("running at inference servers", "requests", ("running",)),
    CourseKind("memory of inference servers", "blocks in use", ("memory",)),
)


def course_panels(
    study: Study, limits: Sequence[tuple[str, FigureLimit]], notes: list[str]
) -> dict[str, Panel]:  # fmt: skip
    """Returns panels by title; which curves are left out is added to the notes."""
    course = study.records[0].course if study.records else RunCourse()
    size, unit = next((size, name) for least, size, name in TIMES if study.setting.until >= least)
    panels = {}
    for kind in KINDS:
        curves = [curve for curve in course.curves if curve.what in kind.of]
        if curves:
            guides = tuple(_promised(name, limit) for name, limit in limits if limit.key[1] in kind.of)
            for title, lines in _parts(kind.title, curves, size, notes):
                panels[title] = Panel(
                    title, f"time ({unit})", kind.axis, lines, low=0.0, guides=(*guides, *_start_up(study, size)),
                    high=_high(study, lines, guides, 105.0 if kind.of == ("succeed",) else None),
                )  # fmt: skip
    return {**panels, **_signal_panels(study, course, size, unit, notes)}


def _high(
    study: Study, lines: Sequence[Line], guides: Sequence[Guide] = (), least: float | None = None
) -> float | None:
    """Returns the upper end of a panel, with room for the words that stand where counting begins."""
    values = [y for line in lines for _, y in line.points if math.isfinite(y)] + [guide.at for guide in guides]
    values += [] if least is None else [least]
    if not study.setting.warmup or not values:
        return least
    return max(values) + WORDS * (max(values) - min(0.0, *values) or 1.0)


def _promised(name: str, limit: FigureLimit) -> Guide:
    return Guide("y", limit.limit, f"promise {name}: {limit.op} {limit.limit:.6g} %")


def _start_up(study: Study, size: float) -> tuple[Guide, ...]:
    """Returns the line before which nothing is counted."""
    return (Guide("x", study.setting.warmup / size, "counted from here"),) if study.setting.warmup else ()


def _signal_panels(study: Study, course: RunCourse, size: float, unit: str, notes: list[str]) -> dict[str, Panel]:
    """Returns states and commands by unit, with the writes of loops on them."""
    panels = {}
    signals = [curve for curve in course.curves if curve.what == "signal"]
    for dimension in dict.fromkeys(curve.unit for curve in signals):
        curves = [curve for curve in signals if curve.unit == dimension]
        name = "signals" + (f" in {dimension}" if dimension else "")
        for title, lines in _parts(name, curves, size, notes):
            axis, guides = dimension or "value (no unit)", _start_up(study, size)
            whole = Panel(title, f"time ({unit})", axis, lines, guides=guides, high=_high(study, lines))
            panels.update(_with_writes(whole, course.writes, size, notes))
    return panels


def _with_writes(panel: Panel, writes: Sequence[WriteMark], size: float, notes: list[str]) -> dict[str, Panel]:
    """Returns a panel with the writes of its signals, and where they are many a second one with the last of them."""
    shown = {line.name for line in panel.lines}
    own = [write for write in writes if write.signal in shown]
    if len(own) <= MOST_MARKS:
        return {panel.title: replace(panel, dots=_write_dots(own, size))}
    notes.append(f"{panel.title}: {len(own):,} writes; the last {LAST_MARKS} are enlarged")
    return {panel.title: panel, f"{panel.title}, enlarged": _enlarged(panel, own, size)}


def _enlarged(whole: Panel, writes: Sequence[WriteMark], size: float) -> Panel:
    """Returns the end of a panel, with the last writes marked."""
    last = writes[-LAST_MARKS:]
    begin = last[0].time / size
    lines = tuple(replace(line, points=_from(line.points, begin)) for line in whole.lines)
    return replace(whole, title=f"{whole.title}: the last {LAST_MARKS} writes", lines=lines, guides=(),
                   dots=_write_dots(last, size))  # fmt: skip


def _from(points: tuple[tuple[float, float], ...], begin: float) -> tuple[tuple[float, float], ...]:
    """Returns the points from a time on, with the value that held then."""
    before = [value for time, value in points if time <= begin]
    return (*((begin, value) for value in before[-1:]), *(point for point in points if point[0] > begin))


def _write_dots(writes: Sequence[WriteMark], size: float) -> tuple[Dots, ...]:
    """Returns a triangle for each write, up or down."""
    dots = []
    for mark, words, up in (("^", "raised", True), ("v", "lowered", False)):
        mine = tuple((write.time / size, write.after) for write in writes if (write.after > write.before) is up)
        if mine:
            loops = ", ".join(dict.fromkeys(w.loop for w in writes if (w.after > w.before) is up))
            dots.append(Dots(f"{words} by {loops}", mine, mark, 5))
    return tuple(dots)


def _parts(
    title: str, curves: Sequence[CourseCurve], size: float, notes: list[str]
) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """Yields the curves in as many panels as they need, each with its title."""
    lines = _lines(title, curves, size, notes)
    for part, first in enumerate(range(0, len(lines), IN_A_PANEL), 1):
        own = tuple(replace(line, style=style) for style, line in enumerate(lines[first : first + IN_A_PANEL]))
        yield (title if part == 1 else f"{title}, part {part}"), own


def _lines(title: str, curves: Sequence[CourseCurve], size: float, notes: list[str]) -> tuple[Line, ...]:
    """Returns the curves; of very many those that reach furthest, and the others are named."""
    busiest = sorted(curves, key=_height, reverse=True)[:MOST_CURVES]
    drawn = [curve for curve in curves if curve in busiest] if len(curves) > MOST_CURVES else list(curves)
    left = [_name(curve) for curve in curves if curve not in drawn]
    if left:
        named = ", ".join(left[:4]) + (f" and {len(left) - 4} more" if len(left) > 4 else "")
        notes.append(f"{title}: the highest {len(drawn)} of {len(curves)} are drawn; not {named}")
    return tuple(
        Line(
            _name(curve),
            tuple(zip((curve.times / size).tolist(), curve.values.tolist(), strict=True)),
            steps=True,
        )
        for curve in drawn
    )


def _height(curve: CourseCurve) -> float:
    finite = curve.values[np.isfinite(curve.values)]
    return float(np.abs(finite).max()) if len(finite) else 0.0


def _name(curve: CourseCurve) -> str:
    words = {"signal": "", "queue": "", "running": "", "memory": "", "succeed": "", "servers": "", "sends": ""}
    return curve.thing + words.get(curve.what, f" {curve.what}")
