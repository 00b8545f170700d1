"""Reads only the edited entries of a design again, where an edit changed lines inside entries alone.

Whatever is not plainly an edit inside entries (a section that begins, an anchor, a line more) is read
from the start; the answer is the same, only later.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from coherence.base.errors import InputError
from coherence.base.reads import unnoted
from coherence.checking.slicing import ANCHORS, has_anchors
from coherence.findings import accounting
from coherence.language import document, names
from coherence.language.design import Design
from coherence.language.document import Table
from coherence.language.environments.overlay import read_in_environment
from coherence.language.implied import takes_names, takes_part
from coherence.language.reading import check_meanings, design_from_table
from coherence.language.roles import speaks_of_ready
from coherence.language.schema_kinds import Reading
from coherence.model.independent_parts import SECTIONS, Unit, carry, entries_of, part_of, parts, units_of

_BLOCK_TEXT = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?$")
_TOP = re.compile(r"[^\s#]")
_INNER = ("", " ", "#")  # how most lines within a section begin
_SECTION = re.compile(r"([a-z]+):\s*(?:#.*)?")


def reread(previous: Design, text: str) -> Design:
    """Returns the design of an edited text, as `read_text` gives it.  Raises InputError."""
    edited = reread_entries(previous, text)
    return edited if edited is not None else read_in_environment(text, previous.file, previous.environment)


def reread_entries(previous: Design, text: str) -> Design | None:
    """Returns the design of an edited text with all entries but the edited ones taken over from the previous design.

    None where the whole text has to be read.  Raises InputError.
    """
    old, new = previous.text.split("\n"), text.split("\n")
    if len(old) != len(new) or "\r" in text or not text.endswith("\n") or previous.imported or previous.environment:
        return None
    if speaks_of_ready(previous.text) or speaks_of_ready(text):
        return None
    changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    owners = owned(old, units_of(previous))
    if owners is None or any(owners[n] is None or _BLOCK_TEXT.search(old[n] + "\n" + new[n]) for n in changed):
        return None
    if has_anchors(previous) or takes_names(previous) or ANCHORS.search("\n" + "\n".join(new[n] for n in changed)):
        return None
    touched = list(dict.fromkeys(owner for n in changed if (owner := owners[n]) is not None))
    if not touched:
        return previous
    entries = _entries(_alone(new, owners, touched), touched, previous.file)
    if entries is None or takes_names(entries):
        return None
    edited = (unit for unit in touched if unit.section in ("components", "timers", "jobs"))
    both = (getattr(design, unit.section)[unit.name] for unit in edited for design in (previous, entries))
    if any(takes_part(previous, entry) for entry in both):
        return None
    return _put(previous, touched, entries, text)


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


def _alone(lines: Sequence[str], owners: Sequence[Unit | None], touched: Iterable[Unit]) -> str:
    """Returns the text with the lines of all other units blank: every place keeps its line."""
    own = {id(unit) for unit in touched}
    sections = {unit.section for unit in touched}

    def stays(line: str, owner: Unit | None) -> bool:
        header = _SECTION.fullmatch(line) if owner is None else None
        return id(owner) in own or (
            owner is None and (header is None or header[1] in sections or header[1] not in SECTIONS)
        )

    return "\n".join(line if stays(line, owner) else "" for line, owner in zip(lines, owners, strict=True))


def _entries(text: str, touched: Sequence[Unit], file: str) -> Design | None:
    """Returns a design of the touched entries alone; None where the text has others, or another order."""
    try:
        (root_document,) = document.read_text(text, file)
        assert isinstance(root_document.root, Table)
        entries = design_from_table(root_document.root, file=file, text=text, whole=False)
    except (InputError, ValueError):
        return None
    calls = itertools.count()
    wanted = [(u.section, next(calls) if u.section == "calls" else u.name) for u in touched]
    same = all(  # in the same order: loops of one rank act as they are declared
        list(entries_of(entries, section)) == [name for of, name in wanted if of == section] for section in SECTIONS
    )
    return entries if same else None


def _put(previous: Design, touched: Sequence[Unit], entries: Design, text: str) -> Design:
    """Returns the previous design with the touched entries replaced.  Raises InputError where they do not fit."""
    fields: dict[str, Any] = {}
    for section in dict.fromkeys(unit.section for unit in touched):
        whole, new = getattr(previous, section), getattr(entries, section)
        if isinstance(whole, dict):
            fields[section] = {name: new.get(name, old) for name, old in whole.items()}
        else:
            numbers = dict(zip(sorted(int(u.name) for u in touched if u.section == section), new, strict=True))
            fields[section] = tuple(numbers.get(n, old) for n, old in enumerate(whole))
    fields |= {"text": text, "comments": tuple(document.comments(text))}
    design = previous.replace(**fields)
    design.queries.carry_unchanged(previous.queries, design, frozenset(fields))
    same = names.things(previous) == names.things(design) and names.bare_names(previous) == names.bare_names(design)
    if same:
        carry(previous, design, touched)
        accounting.carry(previous, design, ((unit.section, unit.name) for unit in touched))
    for query in (has_anchors, takes_names):  # an edit with one of these has the whole text read
        design.queries.carry(previous.queries, (query,))
    _check(design, touched, same=same)
    return design


@unnoted()
def _check(edited: Design, touched: Sequence[Unit], *, same: bool) -> None:
    """Checks what the touched entries share something with, or everything where names changed.  Raises InputError."""
    reading = Reading()
    keys = {(unit.section, unit.name) for unit in touched}
    near = [group for group in parts(edited) if any((unit.section, unit.name) in keys for unit in group)]
    members = [part_of(edited, group) for group in near]
    for part in members if same else [edited]:
        names.check(part, reading, whole=edited)
    for part in members:
        check_meanings(part, reading)
    if reading.problems:
        raise InputError(reading.problems)
    for group in near:
        edited.queries.get((check_meanings, group), lambda: True)  # so that a piece of these is not checked twice
