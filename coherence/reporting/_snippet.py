"""Renders source lines with carets below them, where a finding stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherence.base.outside_text import escape, escaped, masked
from coherence.base.places import Place
from coherence.reporting._edits import lines_of
from coherence.reporting._paint import Canvas, Line
from coherence.reporting._words import in_file, line_of, one_line, where

TAB = 4
NEAR = 2  # places at most this many lines apart share a block


@dataclass(frozen=True)
class Mark:
    """Cells `start` to `end` (exclusive) of a shown line, with a label."""

    start: int
    end: int
    label: str
    first: bool  # is it the primary place?

    @property
    def sign(self) -> str:
        return "^" if self.first else "-"


def snippets(places: Sequence[Place], sources: Mapping[str, str], *, width: int, style: str) -> list[Line]:
    """Returns the lines of all places: the first with `-->` and `^`, others with `---`, `:::` before a new block."""
    blocks = _blocks(list(dict.fromkeys(places)), sources)
    gutter = max((len(str(line_of(place))) for block in blocks for place in block if _known(place, sources)), default=1)
    lines: list[Line] = []
    for block in blocks:
        main = block[0] is places[0]
        lines.append([(" " * gutter + ("--> " if main else "::: "), "gutter"), (where(block[0]), "plain")])
        if not _known(block[0], sources):
            label = one_line(block[0].label)
            lines[-1] += [(f"  {label}", style if main else "other")] if label else []
            continue
        lines += [[(" " * gutter + " |", "gutter")]] if main else []
        lines += _shown(block, places[0], sources, gutter, max(40, width - gutter - 3), style)
    return lines


def _known(place: Place, sources: Mapping[str, str]) -> bool:
    return in_file(place) and place.file in sources and 0 < place.line <= len(lines_of(sources[place.file]))


def _blocks(places: Sequence[Place], sources: Mapping[str, str]) -> list[list[Place]]:
    """Returns the places that are shown together: of one file, near each other; the first leads its block."""
    blocks: list[list[Place]] = []
    rest = list(places)
    while rest:
        block = [rest.pop(0)]
        while near := [place for place in rest if _known(place, sources) and any(_near(place, one) for one in block)]:
            block += near
            rest = [place for place in rest if place not in near]
        blocks.append(block)
    return blocks


def _near(one: Place, other: Place) -> bool:
    return one.file == other.file and abs(one.line - other.line) <= NEAR


def _shown(
    block: Sequence[Place], primary: Place, sources: Mapping[str, str], gutter: int, width: int, style: str
) -> Iterator[Line]:
    text = lines_of(sources[block[0].file])
    numbers = [place.line for place in block]
    for number in range(min(numbers), max(numbers) + 1):
        line = masked(text[number - 1], same_length=True)
        shown = _Shown.of(line, [p for p in block if p.line == number], primary).cropped(width)
        yield [(f"{number:>{gutter}} | ", "gutter"), (shown.text, "plain")]
        for row in _marked(shown.marks, style):
            yield [(" " * gutter + " | ", "gutter"), *row]


@dataclass(frozen=True)
class _Shown:
    """A source line as it is printed.  `edges[i]` is the cell at which character i begins."""

    cells: tuple[str, ...]
    edges: tuple[int, ...]
    marks: tuple[Mark, ...]

    @property
    def text(self) -> str:
        return "".join(self.cells)

    @classmethod
    def of(cls, line: str, places: Sequence[Place], primary: Place) -> _Shown:
        cells, edges = [], [0]
        for character in line:
            cell, size = _cell(character, edges[-1])
            cells.append(cell)
            edges.append(edges[-1] + size)
        marks = tuple(_mark(place, edges, line, first=place is primary) for place in places)
        return cls(tuple(cells), tuple(edges), marks)

    def _focus(self, width: int) -> tuple[int, int]:
        """Returns the cells to be seen: from first to last mark, or the primary mark where those lie too far apart."""
        marks = self.marks
        if marks and max(m.end for m in marks) - min(m.start for m in marks) > width:
            marks = tuple(mark for mark in marks if mark.first) or marks[:1]
        return min((mark.start for mark in marks), default=0), max((mark.end for mark in marks), default=0)

    def cropped(self, width: int) -> _Shown:
        """Returns the line cut to about `width` cells around the marks; `...` stands for the rest."""
        if self.edges[-1] <= width:
            return self
        near, far = self._focus(width - 6)
        left = 0 if far <= width - 3 else max(0, near - max(8, (width - 6 - far + near) // 2))
        begin = next(i for i, edge in enumerate(self.edges) if edge >= left)
        shift = self.edges[begin] - (3 if begin else 0)
        end = max(i for i, edge in enumerate(self.edges) if edge - shift <= width - 3 or i == begin)
        cells = ("...",) * bool(begin) + self.cells[begin:end] + ("...",) * (end < len(self.cells))
        limit = self.edges[end] - shift
        marks = tuple(replace(m, start=max(0, min(m.start - shift, limit)), end=m.end - shift) for m in self.marks)
        marks = tuple(replace(m, end=max(m.start + 1, min(m.end, limit))) for m in marks)
        return _Shown(cells, tuple(edge - shift for edge in self.edges[begin : end + 1]), marks)


def _cell(character: str, at: int) -> tuple[str, int]:
    """Returns what is printed for a character, and how many cells it takes (as terminals count them)."""
    if character == "\t":
        size = TAB - at % TAB
        return " " * size, size
    if escaped(character) != character:
        return escape(character), len(escape(character))
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _mark(place: Place, edges: Sequence[int], line: str, *, first: bool) -> Mark:
    """Returns the cells of a place; one that goes on to later lines is marked to the end of its first."""
    last = len(edges) - 1
    goes_on = place.end_line > place.line
    begin = min(max(place.column, 1) - 1, last)
    end = len(line.rstrip()) if goes_on else min(max(place.end_column, 1) - 1, last)
    label = one_line(place.label)
    if goes_on and (place.end_line, place.end_column) > (place.line + 1, 1):
        final = place.end_line if place.end_column > 1 else place.end_line - 1
        label = f"{label} (to line {final})".lstrip()
    return Mark(edges[begin], max(edges[begin] + 1, edges[max(begin, end)]), label, first)


def _marked(marks: Sequence[Mark], style: str) -> Iterator[Line]:
    """Carets with the label of the one that ends last, then the other labels below, each under its start."""
    if not marks:
        return
    canvas = Canvas()
    for mark in sorted(marks, key=lambda m: m.first):
        canvas.put(mark.start, mark.sign * (mark.end - mark.start), _style(mark, style))
    beside = max(marks, key=lambda m: (m.end, m.start))
    if beside.label:
        canvas.put(beside.end + 1, beside.label, _style(beside, style))
    yield canvas.line()
    below = sorted((m for m in marks if m.label and m is not beside), key=lambda m: -m.start)
    if below:
        yield _hung(below, style).line()
    for index, mark in enumerate(below):
        canvas = _hung([other for other in below[index + 1 :] if other.start < mark.start], style)
        canvas.put(mark.start, mark.label, _style(mark, style))
        yield canvas.line()


def _hung(marks: Sequence[Mark], style: str) -> Canvas:
    canvas = Canvas()
    for mark in marks:
        canvas.put(mark.start, "|", _style(mark, style))
    return canvas


def _style(mark: Mark, style: str) -> str:
    return style if mark.first else "other"
