"""Draws the times of policies on one logarithmic scale, so that clocks which meet are seen beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from coherence.base.number_text import render_clock, render_seconds
from coherence.reporting.pictures.drawing import LETTER, NAME_LETTER, Drawing, cut, more_room, moved, words_at
from coherence.reporting.pictures.markup import Child, h

WIDTH, LEFT, RIGHT, ROW, TOP = 860.0, 190.0, 60.0, 30.0, 30.0
Span = tuple[str, float, float]  # the key, and the least and the largest time, s
ROUND = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 36000.0, 86400.0, 864000.0, 8640000.0)


def ladder(system: str, times: Mapping[str, Sequence[Span]]) -> Drawing | None:
    """Returns one row for each policy with its times; None where none is stated."""
    every = [end for spans in times.values() for _, *ends in spans for end in ends if end > 0]
    if not every:
        return None
    low, high = _ends(min(every), max(every))
    height, room = TOP + ROW * len(times) + 34, more_room(times, LEFT)
    marks: list[Child] = [*_scale(low, high, height)]
    for row, (name, spans) in enumerate(times.items()):
        marks += _row(name, spans, TOP + ROW * row + ROW - 8, (low, high), room)
    words = f"{len(times)} policies, from {render_seconds(min(every))} to {render_seconds(max(every))}"
    return Drawing(f"Timescales of {system}", words, WIDTH + room, height, moved(marks, room))


def _ends(low: float, high: float) -> tuple[float, float]:
    """Returns the round times around two."""
    below = [mark for mark in ROUND if mark <= low * 1.0001]
    above = [mark for mark in ROUND if mark >= high * 0.9999]
    first, last = (below[-1] if below else low), (above[0] if above else high)
    return (first, last) if last > first else (first, first * 10)


def _at(time: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return LEFT + math.log(time / low) / math.log(high / low) * (WIDTH - LEFT - RIGHT)


def _scale(low: float, high: float, height: float) -> Iterator[Child]:
    """Yields the upright lines at round times, with their names below."""
    for mark in sorted({low, high, *(mark for mark in ROUND if low < mark < high)}):
        x = _at(mark, (low, high))
        yield h("path", d=f"M{x:.1f} {TOP - 8:.0f}V{height - 26:.0f}", class_="rule")
        yield words_at(x, height - 12, _clock(mark), "muted small", anchor="middle")
    yield words_at(LEFT, 12, "time (logarithmic)", "muted small")


def _row(name: str, spans: Sequence[Span], y: float, ends: tuple[float, float], room: float) -> Iterator[Child]:
    """Yields a policy's name and its times; a key is written where it does not reach into the one before."""
    yield words_at(LEFT - 14, y + 4, cut(name, LEFT + room - 24, NAME_LETTER), "ink", anchor="end")
    yield h("path", d=f"M{LEFT:.0f} {y:.1f}H{WIDTH - RIGHT:.0f}", class_="rule")
    free = 0.0
    for key, low, high in sorted(spans, key=lambda span: span[1:]):
        if high <= 0:
            continue
        x0, x1 = _at(max(low, ends[0]), ends), _at(high, ends)
        words = key.split(".")[-1].replace("_", " ")
        if x1 - x0 > 1:
            yield h("path", d=f"M{x0:.1f} {y:.1f}H{x1:.1f}", class_="span")
        yield h("circle", h("title", f"{name} {key}"), cx=x1, cy=y, r=4.5, class_="dot")
        if x0 >= free:
            yield words_at(x0, y - 7, words, "muted small halo")
            free = x0 + (LETTER - 0.5) * len(words) + 10


def _clock(time: float) -> str:
    return render_clock(Fraction(f"{time:.6g}"))
