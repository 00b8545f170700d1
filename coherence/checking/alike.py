"""Finds pieces of manifests that differ in their names and places alone, so that one answer serves them all.

A piece is written without its names and places: each stem of its names, and each file, becomes a number, and a place
becomes a line of the piece's own objects and a column counted beside those numbers.  Two pieces are alike where that
gives the same text and the same entries, and where whatever may look at names sees the same: the order of all that
begins with a name, which words of the language stand in a name, and on which side of other files and lines the own ones
stand.  An answer about one piece, written without its names and places, is an answer about each that is alike.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from coherence.base.places import Place
from coherence.base.reads import unnoted
from coherence.base.records import Record
from coherence.checking.manifest_slices import SHARED, Object, lines_by_object
from coherence.checking.slicing import Piece
from coherence.findings.question_input import Subject
from coherence.language import names
from coherence.language.schema_kinds import Formula
from coherence.language.words import understood
from coherence.model.independent_parts import SECTIONS

FEWEST = 3  # of which two are asked
_NUMBERED = re.compile("\0([0-9]+)([-._]?)\1")


class OwnLine(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    number: int
    text: str


class OwnColumn(NamedTuple):
    """A column without the names before it on its line, and how many these are."""

    beside: int
    names: int


class OwnPlace(NamedTuple):
    """A place on the own lines of a piece, counted from 0."""

    line: int
    column: OwnColumn
    end_line: int
    end_column: OwnColumn
    label: str


@dataclass(frozen=True)
class Spelling:
    """The stems of the names of a piece, and its own lines: what it is written with."""

    number: int  # of the piece
    stems: tuple[str, ...]
    lines: tuple[OwnLine, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Returns what is written as a number: the files, and the stems."""
        return (*dict.fromkeys(line.file for line in self.lines), *self.stems)

    @cached_property
    def _words(self) -> re.Pattern[str]:
        """Finds the words; a name of manifests has `-` or `.` where that of a design has `_`."""
        files = map(re.escape, self.words[: -len(self.stems)])
        either = "|".join(f"({word})" for word in (*files, *(stem.replace("_", "[-._]") for stem in self.stems)))
        return re.compile(rf"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])")

    @cached_property
    def _positions(self) -> dict[tuple[str, int], int]:
        return {(line.file, line.number): position for position, line in enumerate(self.lines)}

    @cached_property
    def _spans(self) -> dict[int, list[tuple[int, int]]]:
        return {}

    def _named(self, position: int) -> list[tuple[int, int]]:
        """Returns where the words stand on a line."""
        if position not in self._spans:
            self._spans[position] = [match.span() for match in self._words.finditer(self.lines[position].text)]
        return self._spans[position]

    def without_names(self, text: str) -> str:
        """Returns a text with numbers for its words."""
        return self._words.sub(self._numbered, text)

    def _numbered(self, match: re.Match[str]) -> str:
        number = match.lastindex or 1
        signs = set(re.sub("[a-z0-9]", "", match[0])) if number > len(self.words) - len(self.stems) else set[str]()
        return f"\0{number - 1}{''.join(signs)}\1" if len(signs) < 2 else match[0]

    def with_names(self, text: str) -> str:
        """Returns a text with words for its numbers."""
        if "\0" not in text:
            return text
        return _NUMBERED.sub(lambda match: self.words[int(match[1])].replace("_", match[2] or "_"), text)

    def position(self, place: Place) -> int | None:
        """Returns the own line on which a place begins; None where it is another line."""
        return self._positions.get((place.file, place.line))

    def before(self, place: Place) -> int:
        """Returns how many of the own lines stand before a place on another line."""
        return bisect([line[:2] for line in self.lines], (place.file, place.line))

    def own_place(self, place: Place) -> Place | OwnPlace:
        """Returns a place without files, lines and names; the place itself where it is on no own line, or in a name."""
        line, end = self.position(place), self._positions.get((place.file, place.end_line))
        if line is None or end is None:
            return place
        column, end_column = self._own_column(line, place.column), self._own_column(end, place.end_column)
        if column is None or end_column is None:
            return place
        return OwnPlace(line, column, end, end_column, self.without_names(place.label))

    def _own_column(self, position: int, column: int) -> OwnColumn | None:
        before = [(start, end) for start, end in self._named(position) if start < column - 1]
        if before and before[-1][1] > column - 1:
            return None
        return OwnColumn(column - sum(end - start for start, end in before), len(before))

    def place(self, own: OwnPlace) -> Place:
        """Returns the place of this piece that a place without files, lines and names stands for."""
        line, end, label = self.lines[own.line], self.lines[own.end_line], self.with_names(own.label)
        column, end_column = self._column(own.line, own.column), self._column(own.end_line, own.end_column)
        return Place(line.file, line.number, column, end.number, end_column, label)

    def _column(self, position: int, own: OwnColumn) -> int:
        return own.beside + sum(end - start for start, end in self._named(position)[: own.names])

    def stripped(self, value: Any) -> Any:
        """Returns an answer without names and places."""
        if type(value) is str:
            return self.without_names(value)
        return self.own_place(value) if type(value) is Place else _rebuilt(value, self.stripped)

    def written(self, value: Any) -> Any:
        """Returns an answer without names and places with those of this piece."""
        if type(value) is str:
            return self.with_names(value)
        return self.place(value) if type(value) is OwnPlace else _rebuilt(value, self.written)


def _rebuilt(value: Any, change: Any) -> Any:
    """Returns an answer with each part of it changed."""
    kind = type(value)
    if kind is tuple:
        return tuple(map(change, value))
    if kind is dict:
        return {change(key): change(inner) for key, inner in value.items()}
    names = _fields(kind)
    if names is None:
        return value
    return kind(**{name: change(getattr(value, name)) for name in names})


_FIELDS: dict[type, tuple[str, ...] | None] = {}


def _fields(kind: type) -> tuple[str, ...] | None:
    """Returns the names of the fields of a dataclass; None of another kind."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _FIELDS[kind]


class EntryForm:
    """The entries of a piece without names and places, the texts that begin with a name, and other places."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.named: set[str] = set()
        self.elsewhere: dict[Place, None] = {}
        self._plain: dict[str, str] = {}

    def of(self, value: Any) -> Hashable:
        """Returns a value of an entry as nested tuples."""
        kind = type(value)
        if kind is str:
            return self._of_text(value)
        if kind is Place:
            return self._of_place(value)
        if kind is Formula:
            return (kind, self.of(value.text), self.of(value.place))  # its tree is that of the text
        if isinstance(value, Record):
            return (kind, *(self.of(getattr(value, name)) for name in kind.fields))
        if kind is dict:
            return (kind, *((self.of(key), self.of(inner)) for key, inner in value.items()))
        if kind in (tuple, list):
            return (kind, *map(self.of, value))
        names = _fields(kind)
        if names is None:
            known: Hashable = value
            return known
        return (kind, *(self.of(getattr(value, name)) for name in names))

    def _of_text(self, text: str) -> Hashable:
        plain = self._plain.get(text)
        if plain is None:
            plain = self._plain[text] = self.spelling.without_names(text)
        if plain.startswith("\0"):
            self.named.add(text)
        return plain

    def _of_place(self, place: Place) -> Hashable:
        own = self.spelling.own_place(place)
        if own is place and self.spelling.position(place) is None:
            self.elsewhere[place] = None
        return own

    def order(self, outside: Iterable[str]) -> Hashable:
        """Returns the order of texts that begin with a name and of outside things, and the sides of other places."""
        sides = tuple((place, self.spelling.before(place)) for place in self.elsewhere)
        return (*map(self.spelling.without_names, sorted({*self.named, *outside})), *sides)


@unnoted()
def alike(parts: Sequence[Piece], subject: Subject) -> list[list[Spelling]]:
    """Returns the spellings of pieces that are alike, those together of which there are at least three."""
    common = frozenset[Object].intersection(*(part.objects for part in parts)) if len(parts) > 1 else frozenset()
    shared = "\n".join(_texts([getattr(subject.design, name) for name in SHARED]))
    spellings = [_spelling(number, part, common, subject) for number, part in enumerate(parts)]
    fit = [one for one in spellings if one is not None and one.without_names(shared) == shared]
    groups = _together((_form_of_lines(one), one) for one in fit)
    return [again for group in groups for again in _together((_form_of_entries(parts[s.number], s), s) for s in group)]


def _together(formed: Iterable[tuple[Hashable, Spelling]]) -> Iterator[list[Spelling]]:
    by_form: dict[Hashable, list[Spelling]] = {}
    for form, spelling in formed:
        by_form.setdefault(form, []).append(spelling)
    return (group for group in by_form.values() if len(group) >= FEWEST)


def _spelling(number: int, part: Piece, common: frozenset[Object], subject: Subject) -> Spelling | None:
    """Returns how a piece is written; None where its names can be taken for one another, or its lines are not known."""
    own = [
        OwnLine(file, line + 1, text)
        for file, owner in part.objects - common
        for line, text in lines_by_object(subject.sources[file]).get(owner, ())
    ]
    text = "\n".join(line.text for line in own)
    stems = _stems(dict.fromkeys(str(unit.name) for unit in part.members if unit.section != "calls"), text)
    ambiguous = any(other.startswith(stem) for stem, other in pairwise(sorted(stems)))
    unclear = ambiguous or not stems or not own or "\0" in text
    return None if unclear else Spelling(number, stems, tuple(sorted(own)))


def _stems(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Returns what names are made of, as the text has it: `shop` of `shop_web` and `shop_budget`; else each name."""
    written = re.sub("[^a-z0-9]+", "_", f" {text.lower()} ")
    stems = list(dict.fromkeys(_longest(name, written) for name in names))
    ranks = zip(*(stem.split("_") for stem in stems), strict=False)
    shared = [words[0] for words in takewhile(lambda words: len(set(words)) == 1, ranks)]
    return ("_".join(shared),) if shared else tuple(stems)


def _longest(name: str, written: str) -> str:
    """Returns as many of the first words of a name as stand in a text beside each other; the name where none do."""
    words = name.split("_")
    first = ("_".join(words[:number]) for number in range(len(words), 0, -1))
    return next((stem for stem in first if f"_{stem}_" in written), name)


def _form_of_lines(spelling: Spelling) -> Hashable:
    """Returns the text of a piece without names, and what the words of its names mean and how they are ordered."""
    lines, stems = spelling.lines, spelling.stems
    gaps = tuple(a.file == b.file and b.number == a.number + 1 for a, b in pairwise(lines))
    means = tuple(tuple(word for word in understood() if word in stem) for stem in stems)
    order = tuple(sorted(range(len(stems)), key=stems.__getitem__))
    return (gaps, means, order, *(spelling.without_names(line.text) for line in lines))


def _form_of_entries(part: Piece, spelling: Spelling) -> Hashable:
    form = EntryForm(spelling)
    entries = tuple(form.of(getattr(part.design, section)) for section in SECTIONS)
    return (entries, part.design.order is None, form.order(names.outside(part.design)))


def _texts(value: Any) -> Iterator[str]:
    """Yields every text of a value."""
    if isinstance(value, Record):
        yield from _texts([getattr(value, name) for name in value.fields])
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value
    elif not isinstance(value, Place) and (own := _fields(type(value))) is not None:
        yield from _texts([getattr(value, name) for name in own])
