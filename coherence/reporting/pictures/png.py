"""Draws figures as PNG through matplotlib, where it is installed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from coherence.reporting.pictures.figure import (
    BOTTOM,
    COLOURS,
    HEIGHT,
    LEFT,
    RIGHT,
    SHADED,
    WIDTH,
    Arrow,
    Figure,
    Guide,
    Panel,
    fitted,
    layout,
    look,
    title_lines,
    wrapped_notes,
)

NAMES = 4  # in a row at most
LETTER, SAMPLE = 5.7, 34  # width of a letter of a name, and of its line with room beside it, px
ROOM = 0.06  # above the highest curve, of the height
TITLE, AXIS = 7.4, 7.0  # width of a letter of the title of a panel, and of what an axis shows, px
MARGINS = 16  # around a panel, px
LONGEST = 45  # letters of a name
TICKS = 5  # below a panel, at most
STYLES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (1, 2)))


def png(figure: Figure) -> bytes:
    """Returns the figure as the bytes of a file."""
    from io import BytesIO

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    columns, boxes = layout(figure)
    bottom = max((top + down for _, top, _, down in boxes), default=HEIGHT)
    titles, notes = title_lines(figure.title, columns * WIDTH), wrapped_notes(figure)
    words = 0.4 + 0.2 * len(titles) + 0.17 * len(notes)  # inches, so that panels keep their height
    sheet: Any = Sheet(figsize=(4.4 * columns, 3.1 * bottom / HEIGHT + words), layout="constrained")
    FigureCanvasAgg(sheet)
    half = HEIGHT // 2
    grid = sheet.add_gridspec(max(bottom // half, 1), columns)
    for panel, (left, top, across, down) in zip(figure.panels, boxes, strict=True):
        first = left // WIDTH
        place = grid[top // half : (top + down) // half, first : first + across // WIDTH]
        draw_panel(sheet.add_subplot(place), panel, across)
    sheet.suptitle("\n".join(titles), fontsize=10)
    if notes:
        sheet.supxlabel("\n".join(notes), fontsize=8, x=0.01, ha="left", multialignment="left")
    file = BytesIO()
    sheet.savefig(file, dpi=150, format="png", metadata={"Software": "drawn by coherence"})
    return file.getvalue()


def draw_panel(axes: Any, panel: Panel, across: int = WIDTH) -> None:
    """Draws a panel, so many px wide, on axes of matplotlib."""
    _draw_data(axes, panel)
    _draw_marks(axes, panel)
    names = [name for name in (*(line.name for line in panel.lines), *(dots.name for dots in panel.dots)) if name]
    columns = names_in_a_row(names, across)
    rows = -(-len(names) // columns)
    along, up = across - LEFT - MARGINS, (HEIGHT * 3 // 2 if panel.large else HEIGHT) - BOTTOM - MARGINS
    axes.set(xlabel=fitted(panel.x, int(along / AXIS)), ylabel=fitted(panel.y, int(up / AXIS)))
    title = fitted(panel.title, int(along / TITLE))
    axes.set_title(title, loc="left", fontsize=11, pad=4 + 13 * rows)
    _scale(axes, panel)
    if names:  # between title and axes, where they hide nothing
        legend = axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False,
                             borderpad=0.1, handlelength=1.8, handletextpad=0.4, columnspacing=0.8)  # fmt: skip
        legend.set_in_layout(False)  # wide names leave the axes as they are
        for text in legend.get_texts():
            text.set_text(fitted(text.get_text(), LONGEST))
    for axis, name in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        axis.set_visible(name in panel.ticks)
    axes.grid(visible=True, color="#dddddd")
    axes.set_axisbelow(True)  # bars stand before it


def names_in_a_row(names: Sequence[str], across: int) -> int:
    """Returns how many names of curves stand beside each other in a panel so many px wide."""
    widest = LETTER * min(max(map(len, names), default=0), LONGEST) + SAMPLE
    return max(1, min(NAMES, int((across - LEFT - RIGHT) / widest)))


def _draw_data(axes: Any, panel: Panel) -> None:
    """Draws cells, bands, discs, lines and dots."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.patches import Rectangle

    for x0, y0, x1, y1, colour in panel.cells:
        axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colour, edgecolor="none"))
    for band in panel.bands:
        axes.fill_between(*zip(*band.points, strict=True), color=COLOURS[look(band.style)[0]], alpha=0.25, linewidth=0)
    for discs in panel.discs:
        sizes, centres = [2 * r for *_, r in discs.points], [(x, y) for x, y, _ in discs.points]
        colour = COLOURS[look(discs.style)[0]]
        axes.add_collection(EllipseCollection(sizes, sizes, 0, units="xy", offsets=centres, facecolors=colour,
                                              alpha=0.25, offset_transform=axes.transData), autolim=False)  # fmt: skip
    for line in panel.lines:
        places = zip(*line.points, strict=True) if line.points else ([], [])
        (hue, dash), label, how = look(line.style), line.name or None, "steps-post" if line.steps else "default"
        axes.plot(*places, color=COLOURS[hue], linestyle=STYLES[dash], drawstyle=how, label=label, linewidth=1.4)
    for dots in panel.dots:
        kind = "_" if dots.mark == "-" else dots.mark
        places = zip(*dots.points, strict=True) if dots.points else ([], [])
        colour, label = COLOURS[look(dots.style)[0]], dots.name or None
        paint = {"c": [colour]} if kind in "x_." else {"facecolors": "none", "edgecolors": colour}
        axes.scatter(*places, marker=kind, s=6 if kind == "." else 70 if kind == "*" else 26, label=label, **paint)


def _draw_marks(axes: Any, panel: Panel) -> None:
    """Draws arrows, texts, levels and the circle."""
    from matplotlib.patches import Circle

    for arrow in panel.arrows:
        _arrow(axes, arrow)
    for x, y, anchor, words in panel.texts:
        side = {"start": "left", "middle": "center", "end": "right"}[anchor]
        axes.text(x, y, words, ha=side, va="center", fontsize=8, clip_on=True)
    for level in panel.levels:
        axes.axhline(level, color="#777777", linestyle="--", linewidth=0.8)
    for row, guide in enumerate(panel.guides):
        _guide(axes, guide, row, after=guide.at > _middle(panel))
    if panel.shade == "outside":
        axes.set_facecolor(SHADED)
    if panel.circle is not None:
        inner = {"facecolor": "#fbfbfb", "zorder": 0.5} if panel.shade == "outside" else {"fill": False}
        axes.add_patch(Circle((0, 0), panel.circle, edgecolor="#777777", linestyle="--", **inner))


def _middle(panel: Panel) -> float:
    """Returns the middle of the curves of a panel, from left to right."""
    xs = [x for line in panel.lines for x, _ in line.points if x > 0 or "x" not in panel.log]
    low, high = min(xs, default=1.0), max(xs, default=1.0)
    return math.sqrt(low * high) if "x" in panel.log else (low + high) / 2


def _guide(axes: Any, guide: Guide, row: int, *, after: bool) -> None:
    """Draws a guide with its label; labels of upright ones stand below each other, before those `after` the middle."""
    look = {"color": "#1a1a1a", "linestyle": "--", "linewidth": 0.9}
    box = {"boxstyle": "square,pad=0.1", "facecolor": "#fbfbfb", "edgecolor": "none", "alpha": 0.8}
    if guide.axis == "y":
        axes.axhline(guide.at, **look)
        place, side, up = (0.99, guide.at), "right", axes.get_yaxis_transform()
        axes.text(*place, guide.text, transform=up, ha=side, va="bottom", fontsize=8, bbox=box)
    else:
        axes.axvline(guide.at, **look)
        axes.text(guide.at, 0.97 - 0.07 * row, f" {guide.text} ", transform=axes.get_xaxis_transform(), va="top",
                  ha="right" if after else "left", fontsize=8, bbox=box)  # fmt: skip


def _scale(axes: Any, panel: Panel) -> None:
    """Sets logarithmic axes and limits, so that all that is drawn is inside."""
    from matplotlib.ticker import MaxNLocator

    if "x" in panel.log:
        axes.set_xscale("log")
    elif "x" in panel.ticks:
        axes.xaxis.set_major_locator(MaxNLocator(TICKS))  # long numbers keep apart
    if "y" in panel.log:
        axes.set_yscale("log")
    if panel.square:
        axes.set_aspect("equal", adjustable="datalim")
    points = [p for arrow in panel.arrows for p in (arrow.start, arrow.end)] + [(x, y) for x, y, *_ in panel.texts]
    points += [p for x0, y0, x1, y1, _ in panel.cells for p in ((x0, y0), (x1, y1))]
    if points:
        axes.update_datalim(points)
        axes.autoscale_view()
    if panel.shade == "right":
        low, high = axes.get_xlim()
        axes.axvspan(max(low, 0.0), max(high, 0.0), facecolor=SHADED, zorder=0)
        axes.set_xlim(low, high)
    if panel.low is not None or panel.high is not None:
        axes.set_ylim(panel.low, panel.high if panel.high is not None else _above(axes, panel))
    for name in panel.log:
        if not math.isfinite(axes.dataLim.minposx if name == "x" else axes.dataLim.minposy):  # no point above 0
            (axes.set_xlim if name == "x" else axes.set_ylim)(1, 10)


def _above(axes: Any, panel: Panel) -> float | None:
    """Returns the upper end of y that leaves room above the highest curve; None where the lower end is free."""
    if panel.low is None or "y" in panel.log or not math.isfinite(axes.dataLim.y1):
        return None
    highest = max(axes.dataLim.y1, *(guide.at for guide in panel.guides if guide.axis == "y"), panel.low)
    return float(highest + ROOM * ((highest - panel.low) or 1.0))


def _arrow(axes: Any, arrow: Arrow) -> None:
    colour = COLOURS[arrow.style % 6]
    look = {"arrowstyle": "-|>", "color": colour, "linestyle": STYLES[arrow.style % 6], "shrinkA": 6, "shrinkB": 8}
    axes.annotate("", xy=arrow.end, xytext=arrow.start, arrowprops=look)
    place = tuple(0.6 * a + 0.4 * b for a, b in zip(arrow.start, arrow.end, strict=True))  # two ways, two texts
    axes.annotate(arrow.text, place, color=colour, fontsize=7, ha="center", va="bottom")
