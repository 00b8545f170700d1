"""Draws a region: boxes by what is known of them, inequalities that are proved safe, and the design's own setting."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base import units
from coherence.exploring.half_spaces import Row
from coherence.exploring.regions import Region, is_whole
from coherence.exploring.render_half_spaces import Beside, in_words
from coherence.exploring.render_sweep import axis_label
from coherence.exploring.swept_numbers import Axis
from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel

FILLS = {"safe": "#d5ead9", "candidate": "#dce6f2", "unsafe": "#f6d3c4", "undecided": "#ececec"}
MARKS = {"safe": ("o", 2), "candidate": ("^", 0), "unsafe": ("x", 1), "undecided": ("d", 5)}
SMALL = 1 / 12  # of an axis: a box that is narrower has no mark of its own
LINES = 6
Ends = tuple[Fraction, Fraction]
Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]


def region_figure(system: str, region: Region, inequalities: Sequence[Beside] = ()) -> Figure:
    """Returns one panel for the first two numbers; of three, one for each of some values of the third."""
    across, up = region.axes[0], region.axes[1] if len(region.axes) > 1 else None
    panels = [_panel(region, across, up, inequalities, title, cut) for title, cut in _cuts(region)]
    shares = ", ".join(f"{status} {float(region.share(status)):.1%}" for status in FILLS)
    notes = [shares]
    notes += [f"in conflict whatever the values: {words}" for words in region.untouched]
    notes += [f"undecided whatever the values: {words}" for words in region.left_open]
    return Figure(f"Safe settings of {system}", tuple(panels), 2, tuple(notes))


def _cuts(region: Region) -> Iterator[tuple[str, Fraction | None]]:
    """Yields what a panel is of: everything, or the third number at an end and in the middle."""
    if len(region.axes) < 3:
        yield "by box: proved safe, unsafe, or neither", None
        return
    axis = region.axes[2]
    low, high = min(axis.values), max(axis.values)
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        yield f"{axis.key} = {axis.render(value)} {axis.unit}".rstrip(), value


def _panel(
    region: Region, across: Axis, up: Axis | None, inequalities: Sequence[Beside], title: str, cut: Fraction | None
) -> Panel:
    boxes: dict[str, list[Rectangle]] = {}
    for cell in region.cells:
        if cut is None or cell.box[2][0] <= cut <= cell.box[2][1]:
            (x0, x1), (y0, y1) = _sides(across, cell.box[0]), _sides(up, cell.box[1]) if up else (0.0, 1.0)
            boxes.setdefault(cell.status, []).append((x0, y0, x1, y1))
    cells = tuple((*box, FILLS[status]) for status, own in boxes.items() for box in own)
    dots = [Dots(status, tuple(_middles(boxes[status], cells)), *MARKS[status]) for status in FILLS if status in boxes]
    lines = tuple(_borders(region.axes, inequalities)) if up and cut is None else ()
    return Panel(
        title, axis_label(across), axis_label(up) if up else "", lines, (*dots, *_own(across, up)), cells=cells,
        large=cut is None, ticks="xy" if up else "x",
    )  # fmt: skip


def _middles(own: Sequence[Rectangle], every: Sequence[tuple[float, float, float, float, str]]) -> Iterator[Point]:
    """Yields the middles of the boxes that are wide enough for a mark; of the largest where none is."""
    across = max(box[2] for box in every) - min(box[0] for box in every)
    up = max(box[3] for box in every) - min(box[1] for box in every)
    wide = [box for box in own if box[2] - box[0] >= SMALL * across and box[3] - box[1] >= SMALL * up]
    for x0, y0, x1, y1 in wide or [max(own, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))]:
        yield (x0 + x1) / 2, (y0 + y1) / 2


def _sides(axis: Axis, ends: Ends) -> Point:
    """Returns the sides of a box; a whole number is in the middle of its own."""
    low, high = _scaled(axis, ends)
    return (low - 0.5, high + 0.5) if is_whole(axis) else (low, high)


def _scaled(axis: Axis | None, ends: Ends) -> tuple[float, float]:
    """Returns an interval in the unit of its key."""
    size = units.unit(axis.unit)[0] if axis and axis.unit else Fraction(1)
    return float(ends[0] / size), float(ends[1] / size)


def _own(across: Axis, up: Axis | None) -> Iterator[Dots]:
    """Yields the mark of the values that the design states, where they lie inside."""
    values = [_stated(axis) for axis in (across, up) if axis is not None]
    if any(value is None for value in values):
        return
    numbers = [value for value in values if value is not None]
    point = [_scaled(axis, (n, n))[0] for axis, n in zip((across, up), numbers, strict=False)]
    yield Dots("the design's own setting", ((point[0], point[1] if len(point) > 1 else 0.5),), "*", 5)


def _stated(axis: Axis) -> Fraction | None:
    try:
        number, _ = units.quantity(axis.scalar.text)
    except (ValueError, units.UnitError):
        return None
    return Fraction(number) if min(axis.values) <= number <= max(axis.values) else None


def _borders(axes: Sequence[Axis], inequalities: Sequence[Beside]) -> Iterator[Line]:
    """Yields the borders of the half-spaces that are about both numbers, each with its inequality."""
    rows = [
        row for entry in inequalities if tuple(entry.axes) == tuple(axes)
        for half_space in entry.result.sets for row in half_space.rows
    ]  # fmt: skip
    for style, row in enumerate(dict.fromkeys(rows)):
        points = _crossings(row, axes)
        if style < LINES and len(points) == 2:
            yield Line(in_words(row, axes), tuple(points), style)


def _crossings(row: Row, axes: Sequence[Axis]) -> list[tuple[float, float]]:
    """Returns where the border of an inequality enters and leaves the picture."""
    (a, b), c = row.form.coefficients[:2], row.form.constant
    (left, right), (low, high) = ((min(axis.values), max(axis.values)) for axis in axes[:2])
    points = [(x, -(a * x + c) / b) for x in (left, right) if b] + [(-(b * y + c) / a, y) for y in (low, high) if a]
    inside = dict.fromkeys((x, y) for x, y in points if left <= x <= right and low <= y <= high)
    return [(_scaled(axes[0], (x, x))[0], _scaled(axes[1], (y, y))[0]) for x, y in itertools.islice(inside, 2)]
