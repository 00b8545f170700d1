"""Holds free drawings (graphs, timelines, ladders) as trees of SVG, which stand in a page or in a file of their own.

All drawings use the classes of `palette.css`: colours for light and for dark, none of them alone in telling marks
apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import wrap

from coherence.base.outside_text import visible
from coherence.reporting.pictures.figure import fitted, title_lines
from coherence.reporting.pictures.markup import Child, Element, Shown, Verbatim, h

LEAST = 0.62  # of its size: a drawing in a page that is narrower scrolls
LETTER, NAME_LETTER = 6.5, 7.0  # width of a letter of 12 px, and of one of a name, which has no narrow blanks
MOST_ROOM = 150.0  # px that a column of names gets beside its own
VIEW, NAMESPACE = "viewBox", "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Drawing:
    """A picture of a size in pixels; `description` says in words what is seen."""

    title: str
    description: str
    width: float
    height: float
    children: tuple[Child, ...]

    def render(self, shown: Shown = visible) -> str:
        """Returns the SVG as a part of a page, which has the palette."""
        return self._element((), style=f"max-width:100%;min-width:{round(LEAST * self.width)}px").render(shown)

    def standalone(self, shown: Shown = visible) -> str:
        """Returns the SVG as a file of its own: with the palette, its title drawn, and a background."""
        lines = title_lines(self.title, self.width)
        above = 16 + 20 * len(lines)
        ground = h("rect", x=0, y=-above, width=self.width, height=self.height + above, class_="ground")
        drawn = [words_at(14, 24 - above + 20 * row, line, "ink heading") for row, line in enumerate(lines)]
        style = Element("style", {}, (Verbatim(palette()),))
        return self._element((style, ground, *drawn), above=above).render(shown) + "\n"

    def _element(self, first: tuple[Child, ...], above: int = 0, style: str = "") -> Element:
        width, height = round(self.width), round(self.height) + above
        size = {"xmlns": NAMESPACE, VIEW: f"0 {-above} {width} {height}", "width": str(width), "height": str(height)}
        words = (h("title", self.title), h("desc", f"drawn by coherence: {self.description}"))
        marks = {"role": "img", "class": "drawing", **({"style": style} if style else {})}
        return Element("svg", {**size, **marks}, (*words, *first, *self.children))


@cache
def palette() -> str:
    """Returns the style sheet of drawings."""
    return files(__package__).joinpath("palette.css").read_text(encoding="utf-8")


def cut(text: str, width: float, letter: float = LETTER) -> str:
    """Returns the text as far as it fits a width in pixels; `…` stands for its middle."""
    return fitted(text, max(1, int(width / letter)))


def more_room(names: Iterable[str], left: float) -> float:
    """Returns how many px wider than `left` a column of names is, so that long ones fit; MOST_ROOM at most."""
    longest = max(map(len, names), default=0)
    return min(MOST_ROOM, max(0.0, NAME_LETTER * longest + 24 - left))


def moved(marks: Sequence[Child], right: float) -> tuple[Child, ...]:
    """Returns marks so many px further to the right."""
    return (h("g", *marks, transform=f"translate({right:.0f} 0)"),) if right else tuple(marks)


def words_at(x: float, y: float, text: str, kind: str = "ink", *, anchor: str | None = None) -> Element:
    """Returns a text at a point; `kind` are classes of the palette."""
    return h("text", text, x=float(x), y=float(y), class_=kind, text_anchor=anchor)


def stacked(title: str, parts: Sequence[tuple[str, Drawing]]) -> Drawing:
    """Returns drawings below each other, each under its own heading."""
    width = max((part.width for _, part in parts), default=400.0)
    marks: list[Child] = []
    down = 0.0
    for heading, part in parts:
        lines = lines_of(heading, int((width - 28) / (LETTER + 0.8)))
        marks += [words_at(14, down + 18 + 16 * row, line, "ink strong") for row, line in enumerate(lines)]
        down += 16 * len(lines) + 12
        marks.append(h("g", *part.children, transform=f"translate(0 {down:.0f})"))
        down += part.height + 18
    return Drawing(title, "; ".join(part.description for _, part in parts), width, down, tuple(marks))


def lines_of(text: str, most: int) -> list[str]:
    """Returns a text in lines of so many letters at most; a number stays beside its unit."""
    bound = re.sub(r"(?<=\d) (?=[^\W\d])", "\N{NO-BREAK SPACE}", text)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrap(bound, most)] or [""]
