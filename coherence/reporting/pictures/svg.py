"""Writes figures as SVG, without a library."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from coherence.base.number_text import render_tick
from coherence.reporting.pictures.figure import (
    BOTTOM,
    COLOURS,
    DASHES,
    HEIGHT,
    LEFT,
    RIGHT,
    ROW,
    SHADED,
    TOP,
    WIDTH,
    Arrow,
    CurveBand,
    Discs,
    Figure,
    Guide,
    Line,
    Panel,
    fitted,
    layout,
    look,
    title_lines,
    wrapped_notes,
)

DARK = "<style>@media screen and (prefers-color-scheme: dark){#sheet{filter:invert(0.93) hue-rotate(180deg)}}</style>"

PANEL_LETTER, AXIS_LETTER = 7.2, 6.8  # width of a letter of the title of a panel, and of what an axis shows, px
HALO = '<g paint-order="stroke" stroke="#fbfbfb" stroke-width="3" stroke-linejoin="round">'


def svg(figure: Figure, *, within: str = "") -> str:
    """Returns the figure as a text of SVG, with a title and a description for readers.

    within: a name that no other figure of the page has, of a figure in a page whose style darkens `.sheet`.
    """
    columns, boxes = layout(figure)
    titles = [] if within else title_lines(figure.title, columns * WIDTH)
    above = 14 + 20 * len(titles)
    bottom = max((box[1] + box[3] for box in boxes), default=HEIGHT)
    notes = wrapped_notes(figure)
    width, height = columns * WIDTH, bottom + above + 18 * len(notes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    parts = [
        head + 'role="img" font-family="system-ui, Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(figure.title)}</title>",
        "<!-- drawn by coherence -->",
        f"<desc>{escape('; '.join(panel.title for panel in figure.panels))}</desc>",
        *(['<g class="sheet">'] if within else
          [DARK, f'<g id="sheet"><rect width="{width}" height="{height}" fill="#ffffff"/>']),
        *(_text(14, 22 + 20 * row, line, size=15, weight="600") for row, line in enumerate(titles)),
    ]  # fmt: skip
    for index, (panel, (left, top, across, down)) in enumerate(zip(figure.panels, boxes, strict=True)):
        parts.append(f'<g transform="translate({left} {above + top})">')
        parts += [*_panel(panel, f"{within}clip{index}", across, down), "</g>"]
    for index, note in enumerate(notes):
        parts.append(_text(14, above + bottom + 12 + 18 * index, note, fill="#444444"))
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _text(  # noqa: PLR0913  (the attributes of a text)
    x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", weight: str = "400",
    fill: str = "#1a1a1a", turn: float | None = None,
) -> str:  # fmt: skip
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn is not None else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{fill}"{turned}>{escape(text)}</text>'
    )


class _Axis:
    """Data to points of the drawing, and where ticks stand."""

    def __init__(self, numbers: Iterable[float], start: float, end: float, *, log: bool) -> None:
        drawable = [n for n in numbers if math.isfinite(n) and (n > 0 or not log)]
        low, high = min(drawable, default=1.0 if log else 0.0), max(drawable, default=10.0 if log else 1.0)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - max(1.0, abs(low) / 10), high + max(1.0, abs(high) / 10))
        self.log, self.start, self.end = log, start, end
        self.low, self.high = low, high

    def at(self, number: float) -> float:
        low, high, n = self.low, self.high, number
        if self.log:
            low, high, n = math.log10(low), math.log10(high), math.log10(max(number, 1e-300))
        return self.start + (n - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            parts = (1,) if last - first > 3 else (1, 2, 5) if last - first > 1 else (1, 2, 3, 5, 7)
            marks = self._inside([m * 10.0**e for e in range(first, last + 1) for m in parts])
            if len(marks) > 1:
                return marks
        step = _nice((self.high - self.low) / 5)  # a logarithmic axis of a short range, too
        first = math.ceil(self.low / step - 1e-9)
        return self._inside([k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)])

    def _inside(self, marks: list[float]) -> list[float]:
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return [mark for mark in marks if self.low - slack <= mark <= self.high + slack]


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= step * (1 - 1e-9))


def _numbers(panel: Panel) -> tuple[list[float], list[float]]:
    points = [p for line in panel.lines for p in line.points] + [p for dots in panel.dots for p in dots.points]
    points += [p for arrow in panel.arrows for p in (arrow.start, arrow.end)] + [(x, y) for x, y, *_ in panel.texts]
    points += [(x, end) for band in panel.bands for x, *ends in band.points for end in ends]
    points = [p for p in points if math.isfinite(p[0]) and math.isfinite(p[1])]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    for x0, y0, x1, y1, _ in panel.cells:
        xs += [x0, x1]
        ys += [y0, y1]
    xs += [guide.at for guide in panel.guides if guide.axis == "x"]
    ys += [guide.at for guide in panel.guides if guide.axis == "y"]
    ys += [*panel.levels, *(n for n in (panel.low, panel.high) if n is not None)]
    if panel.circle is not None:
        xs += [-panel.circle, panel.circle]
        ys += [-panel.circle, panel.circle]
    if panel.cells and panel.ticks == "x":  # bars: neither they nor their whiskers touch the frame
        room = (max(xs) - min(xs)) * 0.04
        xs += [max(xs) + room, min(xs) - room if min(xs) < 0 else min(xs)]
    if panel.dots and not panel.cells and "x" not in panel.log and xs:
        room = (max(xs) - min(xs)) * 0.06
        xs += [min(xs) - room, max(xs) + room]
    if not panel.cells and "y" not in panel.log and ys:
        room = (max(ys) - min(ys)) * 0.06
        ys += [max(ys) + room, min(ys) - room] if min(ys) != 0 or panel.dots else [max(ys) + room]
    if not panel.cells and panel.log.endswith("y") and ys and min(ys) > 0:
        ys += [max(ys) * 1.15]
    return xs, ys


def _panel(panel: Panel, clip: str, across: int, down: int) -> list[str]:
    xs, ys = _numbers(panel)
    named = legend_rows(panel, across)
    top = TOP + ROW * max(0, len(named) - 1)
    x = _Axis(xs, LEFT, across - RIGHT, log="x" in panel.log)
    y = _Axis(ys, down - BOTTOM, top, log="y" in panel.log)
    if panel.square:
        _squared(x, y)
    parts = [_panel_title(panel.title, across), *_frame(panel, x, y)]
    width, height = across - LEFT - RIGHT, down - top - BOTTOM
    parts.append(f'<clipPath id="{clip}"><rect x="{LEFT}" y="{top}" width="{width}" height="{height}"/></clipPath>')
    parts.append(f'<g clip-path="url(#{clip})">')
    parts += _shade(panel, x, y)
    parts += [_cell(x, y, cell) for cell in panel.cells]
    parts += [_band(x, y, band) for band in panel.bands] + [_discs(x, y, discs) for discs in panel.discs]
    parts += [_guide(x, y.at(level)) for level in panel.levels]
    if panel.circle is not None:
        rx, ry = abs(x.at(panel.circle) - x.at(0)), abs(y.at(panel.circle) - y.at(0))
        parts.append(
            f'<ellipse cx="{x.at(0):.1f}" cy="{y.at(0):.1f}" rx="{rx:.1f}" ry="{ry:.1f}" fill="none" '
            f'stroke="#777777" stroke-dasharray="4 3"/>'
        )
    parts += [_line(x, y, line) for line in panel.lines]
    parts += [
        mark(dots.mark, x.at(a), y.at(b), COLOURS[look(dots.style)[0]]) for dots in panel.dots for a, b in dots.points
    ]
    parts += [part for arrow in panel.arrows for part in _arrow(x, y, arrow)]
    parts += [HALO, *(_text(x.at(a), y.at(b) + 4, words, size=11, anchor=anchor)
                      for a, b, anchor, words in panel.texts), "</g>"]  # fmt: skip
    parts += [part for row, guide in enumerate(panel.guides) for part in _labelled(x, y, guide, row)]
    return [*parts, "</g>", *_legend(named)]


def _panel_title(title: str, across: int) -> str:
    """Returns the title of a panel above its axes; a long one begins further left, and loses its middle."""
    left = LEFT if len(title) * PANEL_LETTER <= across - LEFT - RIGHT else 14
    return _text(left, 22, fitted(title, int((across - left - 6) / PANEL_LETTER)), weight="600")


def _labelled(x: _Axis, y: _Axis, guide: Guide, row: int) -> list[str]:
    """Returns a guide with its label, each in a row of its own where guides stand upright."""
    middle = (x.start + x.end) / 2
    if guide.axis == "y":
        at = y.at(guide.at)
        path, left, down = f"M{x.start} {at:.1f}H{x.end}", x.end - 4, at - 4 if at > y.end + 16 else at + 13
        anchor = "end"
    else:
        at = x.at(guide.at)
        path, anchor = f"M{at:.1f} {y.end}V{y.start}", "start" if at < middle else "end"
        left, down = at + (4 if at < middle else -4), y.end + 13 + 14 * row
    stroke = 'stroke="#1a1a1a" stroke-width="1.2" stroke-dasharray="5 3"'
    return [
        f'<path d="{path}" {stroke} fill="none"/>',
        HALO + _text(left, down, guide.text, size=11, anchor=anchor) + "</g>",
    ]


def _arrow(x: _Axis, y: _Axis, arrow: Arrow) -> list[str]:
    """Returns a line whose head stops short of its end, where a name stands."""
    (x0, y0), (x1, y1) = ((x.at(a), y.at(b)) for a, b in (arrow.start, arrow.end))
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    tip, tail = (x1 - 12 * ux, y1 - 12 * uy), (x0 + 8 * ux, y0 + 8 * uy)
    wings = [(tip[0] - 8 * ux + k * 4 * uy, tip[1] - 8 * uy - k * 4 * ux) for k in (-1, 1)]
    colour = COLOURS[arrow.style % 6]
    dash = f' stroke-dasharray="{DASHES[arrow.style % 6]}"' if arrow.style else ""
    head = " ".join(f"{a:.1f},{b:.1f}" for a, b in (tip, *wings))
    line = f'<path d="M{tail[0]:.1f} {tail[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}" stroke="{colour}" fill="none"{dash}/>'
    parts = [line, f'<polygon points="{head}" fill="{colour}"/>']
    if arrow.text:
        x2, y2 = 0.6 * x0 + 0.4 * x1, 0.6 * y0 + 0.4 * y1  # two arrows between two points keep their texts apart
        parts.append(_text(x2 + 6 * uy, y2 - 4, arrow.text, size=10, anchor="middle", fill=colour))
    return parts


def _squared(x: _Axis, y: _Axis) -> None:
    """Gives both axes the same units, around the middle."""
    across, up = (x.high - x.low) / abs(x.end - x.start), (y.high - y.low) / abs(y.end - y.start)
    axis, factor = (x, up / across) if up > across else (y, across / up)
    middle, half = (axis.low + axis.high) / 2, (axis.high - axis.low) / 2 * factor
    axis.low, axis.high = middle - half, middle + half


def _frame(panel: Panel, x: _Axis, y: _Axis) -> list[str]:
    top, bottom, right = round(y.end), round(y.start), round(x.end)
    parts = [
        f'<rect x="{LEFT}" y="{top}" width="{right - LEFT}" height="{bottom - top}" fill="#fbfbfb" stroke="#999"/>'
    ]
    for tick in x.ticks() if "x" in panel.ticks else ():
        at = x.at(tick)
        parts.append(f'<path d="M{at:.1f} {top}V{bottom + 4}" stroke="#dddddd" fill="none"/>')
        parts.append(_text(at, bottom + 17, render_tick(tick), size=11, anchor="middle"))
    for tick in y.ticks() if "y" in panel.ticks else ():
        at = y.at(tick)
        parts.append(f'<path d="M{LEFT - 4} {at:.1f}H{right}" stroke="#dddddd" fill="none"/>')
        parts.append(_text(LEFT - 7, at + 4, render_tick(tick), size=11, anchor="end"))
    along = fitted(panel.x, int((right + RIGHT - LEFT) / AXIS_LETTER))
    up = fitted(panel.y, int((bottom - top + BOTTOM) / AXIS_LETTER))
    parts.append(_text((LEFT + right) / 2, bottom + 34, along, anchor="middle", fill="#444444"))
    parts.append(_text(14, (top + bottom) / 2, up, anchor="middle", fill="#444444", turn=-90))
    return parts


def _guide(x: _Axis, at: float) -> str:
    return f'<path d="M{x.start} {at:.1f}H{x.end}" stroke="#777777" stroke-dasharray="4 3" fill="none"/>'


def _cell(x: _Axis, y: _Axis, cell: tuple[float, float, float, float, str]) -> str:
    x0, y0, x1, y1, colour = cell
    left, right = sorted((x.at(x0), x.at(x1)))
    top, bottom = sorted((y.at(y0), y.at(y1)))
    return (
        f'<rect x="{left:.2f}" y="{top:.2f}" width="{right - left + 0.3:.2f}" height="{bottom - top + 0.3:.2f}" '
        f'fill="{colour}"/>'
    )


def _line(x: _Axis, y: _Axis, line: Line) -> str:
    parts: list[str] = []
    last = None
    for a, b in line.points:
        if not math.isfinite(b) or (y.log and b <= 0) or (x.log and a <= 0):
            last = None
            continue
        px, py = x.at(a), y.at(b)
        if last is not None and line.steps:
            parts.append(f"H{px:.1f}")
        parts.append(f"{'M' if last is None else 'L'}{px:.1f} {py:.1f}")
        last = py
    return f'<path d="{"".join(parts)}" fill="none" {_stroke(line.style)}/>'


def _stroke(style: int) -> str:
    """Returns colour, width and dash of a line."""
    colour, dash = look(style)
    dashed = f' stroke-dasharray="{DASHES[dash]}"' if dash else ""
    return f'stroke="{COLOURS[colour]}" stroke-width="1.8"{dashed}'


def _band(x: _Axis, y: _Axis, band: CurveBand) -> str:
    upper = [(a, high) for a, _, high in band.points]
    lower = [(a, low) for a, low, _ in reversed(band.points)]
    places = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in (*upper, *lower))
    return f'<polygon points="{places}" fill="{COLOURS[look(band.style)[0]]}" fill-opacity="0.25"/>'


def _discs(x: _Axis, y: _Axis, discs: Discs) -> str:
    """Returns the discs as one shape, so that they do not darken where they overlap."""
    parts = []
    for a, b, size in discs.points:
        r, left, middle = max(abs(x.at(a + size) - x.at(a)), 0.5), x.at(a), y.at(b)
        parts.append(
            f"M{left - r:.1f} {middle:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
        )
    return f'<path d="{"".join(parts)}" fill="{COLOURS[look(discs.style)[0]]}" fill-opacity="0.25"/>'


def _shade(panel: Panel, x: _Axis, y: _Axis) -> list[str]:
    """Returns the side that is shaded."""
    across, down = x.end - x.start, y.start - y.end
    if panel.shade == "right":
        left = min(max(x.at(0.0), x.start), x.end)
        return [f'<rect x="{left:.1f}" y="{y.end}" width="{x.end - left:.1f}" height="{down}" fill="{SHADED}"/>']
    if panel.shade == "outside" and panel.circle is not None:
        rx, ry = abs(x.at(panel.circle) - x.at(0)), abs(y.at(panel.circle) - y.at(0))
        whole = f'<rect x="{x.start}" y="{y.end}" width="{across}" height="{down}" fill="{SHADED}"/>'
        return [whole, f'<ellipse cx="{x.at(0):.1f}" cy="{y.at(0):.1f}" rx="{rx:.1f}" ry="{ry:.1f}" fill="#fbfbfb"/>']
    return []


def mark(kind: str, x: float, y: float, colour: str, size: float = 4.0) -> str:
    """Returns the path of one mark, centred."""
    shapes = {
        "x": f"M{x - size:.1f} {y - size:.1f}l{2 * size} {2 * size}m0 {-2 * size}l{-2 * size} {2 * size}",
        "s": f"M{x - size:.1f} {y - size:.1f}h{2 * size}v{2 * size}h{-2 * size}z",
        "^": f"M{x:.1f} {y - size:.1f}l{size} {2 * size}h{-2 * size}z",
        "v": f"M{x:.1f} {y + size:.1f}l{size} {-2 * size}h{-2 * size}z",
        "d": f"M{x:.1f} {y - size:.1f}l{size} {size}l{-size} {size}l{-size} {-size}z",
        "-": f"M{x - size:.1f} {y:.1f}h{2 * size}",
        "*": star(x, y, 1.7 * size),
    }
    if kind == ".":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.3" fill="{colour}"/>'
    if kind == "o":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
    return f'<path d="{shapes[kind]}" fill="none" stroke="{colour}" stroke-width="1.8"/>'


def star(x: float, y: float, size: float) -> str:
    """Returns the path of a star with five points."""
    angles = [math.pi * (k / 5 - 0.5) for k in range(10)]
    radii = [size * (1.0 if k % 2 == 0 else 0.45) for k in range(10)]
    points = [f"{x + r * math.cos(a):.1f} {y + r * math.sin(a):.1f}" for a, r in zip(angles, radii, strict=True)]
    return f"M{'L'.join(points)}z"


Named = tuple[str, str, int]  # name, mark (none: a line), style


def legend_rows(panel: Panel, across: float) -> list[list[tuple[float, Named]]]:
    """Returns the names of curves and marks with where they begin, in as many rows as they need."""
    entries: list[Named] = [(line.name, "", line.style) for line in panel.lines if line.name]
    entries += [(dots.name, dots.mark, dots.style) for dots in panel.dots if dots.name]
    rows: list[list[tuple[float, Named]]] = []
    left, room = across, across - RIGHT
    for name, kind, style in entries:
        text = fitted(name, int((room - LEFT - 41) / 6.2))
        length = 27 + 6.2 * len(text) + 14
        if left + length > room + 14:
            rows.append([])
            left = LEFT
        rows[-1].append((left, (text, kind, style)))
        left += length
    return rows


def _legend(rows: list[list[tuple[float, Named]]]) -> list[str]:
    """Returns the names between title and axes."""
    parts = []
    for number, row in enumerate(rows):
        down = 38 + ROW * number
        for left, (text, kind, style) in row:
            if kind:
                parts.append(mark(kind, left + 11, down, COLOURS[look(style)[0]]))
            else:
                parts.append(f'<path d="M{left:.1f} {down}h22" fill="none" {_stroke(style)}/>')
            parts.append(_text(left + 27, down + 4, text, size=11))
    return parts
