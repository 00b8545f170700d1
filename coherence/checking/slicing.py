"""Cuts a design into independent pieces with their own lines, so that an edit has only some of them asked again.

A piece has the lines of its units and those that belong to no unit, all others left blank, so that every
place keeps its line.  Where the lines of units cannot be told apart (several on one line, several files)
the piece has the whole text; it is then only compared, and never read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from coherence.base.errors import CoherenceError
from coherence.base.queries import cached
from coherence.checking.answers import changed_fields
from coherence.checking.independent_parts import SECTIONS, Unit, part_of, parts, units_of
from coherence.findings.finding import Repair
from coherence.language import dimensions, names
from coherence.language.design import Design
from coherence.language.schema_kinds import Reading

Names = tuple[tuple[str, str | int], ...]
_TOP = re.compile(r"[^\s#]")
_INNER = ("", " ", "#")  # how most lines within a section begin
_SECTION = re.compile(r"([a-z]+):\s*(?:#.*)?")
_ENTRY = re.compile(r"\s*([a-z][a-z0-9_]*): *\{")


@dataclass(frozen=True)
class Piece:
    """A part of a design: its units, its part of the design, its lines and their numbers (from 1)."""

    members: tuple[Unit, ...]
    design: Design
    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    total: int  # lines of the whole file; 0 where the piece cannot be read by itself

    def text(self) -> str:
        """Returns the text of the file with the lines of all other units blank."""
        rows = [""] * self.total
        for number, line in zip(self.numbers, self.lines, strict=True):
            rows[number - 1] = line
        return "\n".join(rows)

    @cached_property
    def names(self) -> Names:
        """Returns section and name of each unit; pieces of two designs with equal names are the same piece."""
        return tuple((unit.section, unit.name) for unit in self.members)

    def stands(self, read: Callable[[str], Design]) -> bool:
        """Returns whether parsing its lines alone gives exactly this piece; decided once."""
        return self.design.queries.get(says, lambda: says(self, read))

    @cached_property
    def alone(self) -> Design:
        """Returns its part of the design with its own text, as if there were no other."""
        return self.design.replace(text=self.text())

    def sources(self, every: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the file of the piece alone; all files where it cannot be read by itself."""
        return {self.design.file: self.text()} if self.total else every


@dataclass(frozen=True)
class Layout:
    """Whose line each line is (None: of no unit), and the numbers of the lines of each piece, from 1."""

    owners: tuple[Unit | None, ...]
    rows: tuple[tuple[int, ...], ...]


def whole(design: Design) -> Piece:
    """Returns the design as one piece."""
    return Piece(units_of(design), design.replace(), (), (), 0)  # a copy: nothing is known about it


def pieces(
    design: Design, sources: Mapping[str, str], before: Mapping[Names, Piece] = MappingProxyType({})
) -> tuple[Piece, ...]:
    """Returns the independent pieces of a design; one piece where some name is not declared in its own piece.

    Beside it the pieces before an edit: those of the same entries need not be checked again.
    """
    groups = parts(design)
    lines = _lines(design, sources) if len(groups) > 1 else None
    layout = _layout(design, lines, groups) if lines is not None else None
    if lines is None or layout is None:
        return (whole(design),)
    candidates = tuple(
        Piece(group, part_of(design, group), tuple([lines[n - 1] for n in row]), row, len(lines))
        for group, row in zip(groups, layout.rows, strict=True)
    )
    fresh = (one for one in candidates if (old := before.get(one.names)) is None or not same_entries(old, one))
    return candidates if all(map(_complete, fresh)) else (whole(design),)


def _complete(piece: Piece) -> bool:
    """Returns whether a reading of the piece alone finds all that it names, and knows all units."""
    reading = Reading()
    names.check(piece.design, reading)
    dimensions.check(piece.design, reading)
    return not reading.problems


def same_entries(piece: Piece, other: Piece) -> bool:
    """Returns whether two pieces consist of the same values, not of equal ones: places are the same too."""
    compared = {name for name, declared in Design.fields.items() if declared.compare}
    return bool(piece.total) == bool(other.total) and not compared & changed_fields(piece.design, other.design)


def _layout(design: Design, lines: Sequence[str], groups: Sequence[tuple[Unit, ...]]) -> Layout | None:
    """Returns which unit each line belongs to; cached where the lines are those of the design's text."""
    if "\n".join(lines) != design.text:
        return _laid_out(lines, groups)
    return layout_of(design)


@cached
def layout_of(design: Design) -> Layout | None:
    """Returns the layout of the text of a design."""
    return _laid_out(design.text.split("\n"), parts(design))


def _laid_out(lines: Sequence[str], grouped: Sequence[tuple[Unit, ...]]) -> Layout | None:
    owners = owned(lines, [unit for group in grouped for unit in group])
    if owners is None:
        return None
    groups = {(unit.section, unit.name): n for n, group in enumerate(grouped) for unit in group}
    return Layout(tuple(owners), tuple(map(tuple, rows_of(lines, owners, groups, len(grouped)))))


def carry_layout(previous: Design, after: Design, edited: Iterable[tuple[int, str]]) -> None:
    """Takes over the layout where the edited lines (number from 0, text) still belong to their units."""
    old = layout_of(previous)
    if old is None:
        return
    if all(not _TOP.match(line) or (owner is not None and owner.line == number + 1)
           for number, line in edited for owner in (old.owners[number],)):  # fmt: skip
        after.queries.carry(previous.queries, (layout_of,))


def rows_of(
    lines: Sequence[str], owners: Sequence[Unit | None], groups: Mapping[tuple[str, str | int], int], count: int
) -> list[list[int]]:
    """Returns for each group of units the numbers of its lines, and of those of no unit, in order."""
    rows: list[list[int]] = [[] for _ in range(count)]
    header, users = 0, set[int]()
    for number, (line, owner) in enumerate(zip(lines, owners, strict=True), 1):
        if owner is None:
            if _TOP.match(line):
                section = _SECTION.fullmatch(line)
                header, users = number if section and section[1] in SECTIONS else 0, set()
            for row in rows if line.strip() and number != header else ():
                row.append(number)
            continue
        group = groups.get((owner.section, owner.name))
        if group is not None:
            if header and group not in users:  # a section without entries is no section
                users.add(group)
                rows[group].append(header)
            rows[group].append(number)
    return [sorted(row) for row in rows]


def blanked(lines: Sequence[str], numbers: Iterable[int]) -> str:
    """Returns the text with all other lines blank."""
    rows = [""] * len(lines)
    for number in numbers:
        rows[number - 1] = lines[number - 1]
    return "\n".join(rows)


def says(piece: Piece, read: Callable[[str], Design]) -> bool:
    """Returns whether parsing the lines of the piece alone gives exactly the piece."""
    try:
        return read(piece.text()) == piece.alone
    except CoherenceError:
        return False


def _lines(design: Design, sources: Mapping[str, str]) -> list[str] | None:
    """Returns the lines of a design that was written by hand in one file; None for other designs."""
    text = sources.get(design.file)
    if text is None or len(sources) != 1 or design.spelling or "\r" in text or not text.endswith("\n"):
        return None
    return text.split("\n")


def owned(lines: Sequence[str], units: Iterable[Unit]) -> list[Unit | None] | None:
    """Returns the unit that each line belongs to (None: to none); None where two units stand on one line."""
    starts = {}
    for unit in units:
        if unit.line in starts or not 0 < unit.line <= len(lines):
            return None
        starts[unit.line] = unit
    owners: list[Unit | None] = []
    owner: Unit | None = None
    for number, line in enumerate(lines, 1):
        if number in starts:
            owner = starts[number]
        elif line[:1] not in _INNER and _TOP.match(line):
            owner = None
        owners.append(owner)
    return owners


def clashes(repair: Repair, taken: Collection[str]) -> bool:
    """Returns whether the repair adds an entry under a name that the design has already, in this piece or another."""
    return any(match[1] in taken for edit in repair.edits if (match := _ENTRY.match(edit.new)))
