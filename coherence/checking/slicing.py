"""Cuts a design into independent pieces, so that each question is asked of each piece, and after an edit of some.

A design that is no text written by hand in one file, and none of manifests, or whose values stand in several entries
at once (anchors), is one piece.  Of manifests, what was read from one object is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from coherence.base.queries import cached
from coherence.checking.answers import changed_fields
from coherence.checking.manifest_slices import Object, joined, objects_of
from coherence.findings.finding import Repair
from coherence.language import names
from coherence.language.design import Design
from coherence.language.reading import check_meanings
from coherence.language.schema_kinds import Reading
from coherence.model.independent_parts import SECTIONS, Unit, entries_of, part_of, parts, units_of

Names = tuple[tuple[str, str | int], ...]
_ENTRY = re.compile(r"\s*([a-z][a-z0-9_]*): *\{")
ANCHORS = re.compile(r"[&*](?<![^\s\[{,][&*])[A-Za-z0-9_]")  # begins with few letters: five times as fast


@dataclass(frozen=True)
class Piece:
    """A part of a design, with its units.  `cut`: there are others, with which it shares nothing.

    `objects`: the objects of manifests that it was read from.
    """

    members: tuple[Unit, ...]
    design: Design
    cut: bool = False
    objects: frozenset[Object] = frozenset()

    @cached_property
    def names(self) -> Names:
        """Returns section and name of each unit; pieces of two designs with equal names are the same piece."""
        return tuple((unit.section, unit.name) for unit in self.members)

    def after(self, previous: Design, edited: Design) -> Design:
        """Returns the same part of the design after an edit: with what it adds, without what it removes."""
        added = (
            Unit(section, name, 0, frozenset())
            for section in SECTIONS
            for name in entries_of(edited, section).keys() - entries_of(previous, section).keys()
        )
        left = (unit for unit in self.members if unit.name in entries_of(edited, unit.section))
        return part_of(edited, (*left, *added))


def whole(design: Design) -> Piece:
    """Returns the design as one piece."""
    return Piece(units_of(design), design.replace())  # a copy: nothing is known about it


def pieces(
    design: Design, sources: Mapping[str, str], before: Mapping[Names, Piece] = MappingProxyType({})
) -> tuple[Piece, ...]:
    """Returns the independent pieces of a design; one piece where some name is not declared in its own piece.

    Beside it the pieces before an edit: those of the same entries need not be checked again.
    """
    by_hand = sources == {design.file: design.text} and not design.imported
    groups = parts(design) if (by_hand and not has_anchors(design)) or design.imported else ()
    if len(groups) < 2:
        return (whole(design),)
    candidates = tuple(Piece(group, part_of(design, group), cut=True) for group in groups)
    if design.imported:
        candidates = _by_objects(design, sources, candidates)
    fresh = (one for one in candidates if (old := before.get(one.names)) is None or not same_entries(old, one))
    return candidates if all(_complete(piece, design) for piece in fresh) else (whole(design),)


def _by_objects(design: Design, sources: Mapping[str, str], candidates: Sequence[Piece]) -> tuple[Piece, ...]:
    """Returns the pieces of a design of manifests, those joined that were read from one object."""
    objects = objects_of([piece.design for piece in candidates], sources)
    order = {(unit.section, unit.name): number for number, unit in enumerate(units_of(design))}
    joined_pieces = []
    for group in joined(objects):
        units = [unit for number in group for unit in candidates[number].members]
        members = tuple(sorted(units, key=lambda unit: order[unit.section, unit.name]))
        own = frozenset[Object]().union(*(objects[number] for number in group))
        joined_pieces.append(Piece(members, part_of(design, members), cut=len(members) < len(order), objects=own))
    return tuple(joined_pieces)


@cached
def has_anchors(design: Design) -> bool:
    """Returns whether a value of the text may stand in several entries."""
    return bool(ANCHORS.search(design.text))


def _complete(piece: Piece, design: Design) -> bool:
    """Returns whether a reading of the piece alone finds all that it names, and knows all units."""
    reading = Reading()
    names.check(piece.design, reading)
    if (check_meanings, piece.members) not in design.queries.rows:  # checked when the edit was read
        check_meanings(piece.design, reading)
    return not reading.problems


def same_entries(piece: Piece, other: Piece) -> bool:
    """Returns whether two pieces consist of the same values, not of equal ones: places are the same too."""
    compared = {name for name, declared in Design.fields.items() if declared.compare}
    return not compared & changed_fields(piece.design, other.design)


def clashes(repair: Repair, taken: Collection[str]) -> bool:
    """Returns whether the repair adds an entry under a name that the design has already, in this piece or another."""
    return any(match[1] in taken for edit in repair.edits if (match := _ENTRY.match(edit.new)))
