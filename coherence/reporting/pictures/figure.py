"""Small figures as data: panels with axes, lines, marks, bands and cells; colour is never the only difference.

`svg` draws them by itself, `png` through matplotlib where that is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import wrap

WIDTH, HEIGHT = 400, 286  # of a panel with its margins
LEFT, RIGHT, TOP, BOTTOM = 72, 20, 50, 46
COLOURS = ("#0b5fa5", "#c8501e", "#2e7d4f", "#7b3f98", "#8a6d00", "#4a4a4a")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "10 4", "1 2")
SHADED = "#f3dcd6"
ROW, LETTER = 16, 6.6  # height of names below a title, width of a letter of a note
TITLE_LETTER = 9.4  # width of a letter of a title: 15 px, heavy
ALONG_AXIS = 31  # letters that every axis has room for


def look(style: int) -> tuple[int, int]:
    """Returns the numbers of the colour and of the dash of a style: 36 differ, none in colour alone."""
    return style % 6, (style + style // 6) % 6


@dataclass(frozen=True)
class Line:
    """A curve; `steps`: the value holds until the next point."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: int = 0
    steps: bool = False


@dataclass(frozen=True)
class Dots:
    """Marks without a line: o circle, s square, x cross, ^ and v triangle, d diamond, * star, . point."""

    name: str
    points: tuple[tuple[float, float], ...]
    mark: str = "o"
    style: int = 0


@dataclass(frozen=True)
class CurveBand:
    """What lies between a lower and an upper curve: (x, low, high) from left to right."""

    points: tuple[tuple[float, float, float], ...]
    style: int = 0


@dataclass(frozen=True)
class Discs:
    """Filled discs (x, y, radius) in the units of square axes: what a curve cannot leave."""

    points: tuple[tuple[float, float, float], ...]
    style: int = 0


@dataclass(frozen=True)
class Arrow:
    """From one point to another; `style` 1 and more is dashed.  `text` stands at its middle."""

    start: tuple[float, float]
    end: tuple[float, float]
    text: str = ""
    style: int = 0


@dataclass(frozen=True)
class Guide:
    """A labelled line across a panel: at a number of the `axis` x (upright) or y (level)."""

    axis: str
    at: float
    text: str


@dataclass(frozen=True)
class Panel:
    """Axes with what is drawn on them.  `log`: which axes (x, y, xy or empty); `square`: equal units on both.

    `texts`: (x, y, start | middle | end, words); `ticks`: the axes that have numbers; `large`: a row of its own, and
    half as high again.  `shade`: the side that is shaded, `right` of x = 0 or `outside` of the circle.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...] = ()
    dots: tuple[Dots, ...] = ()
    log: str = ""
    square: bool = False
    levels: tuple[float, ...] = ()  # horizontal guides
    circle: float | None = None  # radius of a guide around 0
    low: float | None = None  # least upper and lower end of y
    high: float | None = None
    cells: tuple[tuple[float, float, float, float, str], ...] = ()  # x0, y0, x1, y1, colour
    arrows: tuple[Arrow, ...] = ()
    texts: tuple[tuple[float, float, str, str], ...] = ()
    ticks: str = "xy"
    large: bool = False
    bands: tuple[CurveBand, ...] = ()
    discs: tuple[Discs, ...] = ()
    shade: str = ""
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True)
class Figure:
    """Panels in rows, read like text."""

    title: str
    panels: tuple[Panel, ...]
    columns: int = 3
    notes: tuple[str, ...] = field(default=())


def fitted(name: str, most: int) -> str:
    """Returns a name of so many letters at most: `…` stands for its middle, for long names often begin alike."""
    if len(name) <= most:
        return name
    ends = max(most - 1, 0)
    return f"{name[: -(-ends // 2)]}…{name[len(name) - ends // 2 :]}"


def columns_of(figure: Figure) -> int:
    """Returns how many panels stand beside each other; a large panel takes all columns, if it is the only one too."""
    large = any(panel.large for panel in figure.panels)
    return max(1, figure.columns if large else min(figure.columns, len(figure.panels)))


def layout(figure: Figure) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Returns (columns, (left, top, width, height) of each panel), in rows; a large panel has its own row."""
    columns = columns_of(figure)
    boxes: list[tuple[int, int, int, int]] = []
    left = top = 0
    for panel in figure.panels:
        if left and (panel.large or left == columns):
            left, top = 0, top + HEIGHT
        width, height = (columns * WIDTH, HEIGHT * 3 // 2) if panel.large else (WIDTH, HEIGHT)
        boxes.append((left * WIDTH, top, width, height))
        left, top = (0, top + height) if panel.large else (left + 1, top)
    return columns, boxes


def title_lines(title: str, across: float) -> list[str]:
    """Returns a title in lines that fit a picture so many px wide."""
    return wrap(title, max(1, int((across - 28) / TITLE_LETTER))) or [""]


def wrapped_notes(figure: Figure) -> list[str]:
    """Returns the notes, and what an axis that has no room for it shows, in lines that fit the width of a figure."""
    columns = columns_of(figure)
    shown = dict.fromkeys(label for panel in figure.panels for label in (panel.x, panel.y))
    notes = [*figure.notes, *(f"an axis shows {label}" for label in shown if len(label) > ALONG_AXIS)]
    return [line for note in notes for line in wrap(note, int(columns * WIDTH / LETTER)) or [""]]
