"""Reads only the edited entries of a design again, where an edit changed lines inside entries alone.

Whatever is not plainly an edit inside entries (a section that begins, an anchor, a line more) is read
from the start; the answer is the same, only later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from coherence.base.errors import InputError
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.checking.independent_parts import SECTIONS, Unit, carry, part_of, parts
from coherence.checking.slicing import blanked, carry_layout, layout_of, rows_of
from coherence.language import dimensions, document, names, word_checks
from coherence.language.design import Design
from coherence.language.document import Table
from coherence.language.reading import design_from_table, read_text
from coherence.language.schema_kinds import Reading

_ANCHORS = re.compile(r"[&*](?<![^\s\[{,][&*])[A-Za-z0-9_]")  # begins with few letters: five times as fast
_BLOCK_TEXT = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?$")


def reread(previous: Design, text: str) -> Design:
    """Returns the design of an edited text, as `read_text` gives it.  Raises InputError."""
    edited = reread_entries(previous, text)
    return edited if edited is not None else read_text(text, previous.file)


def reread_entries(previous: Design, text: str) -> Design | None:
    """Returns the design of an edited text with all entries but the edited ones taken over from the previous design.

    None where the whole text has to be read.  Raises InputError.
    """
    old, new = previous.text.split("\n"), text.split("\n")
    if len(old) != len(new) or "\r" in text or not text.endswith("\n") or previous.spelling:
        return None
    changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    layout = layout_of(previous)
    owners = layout.owners if layout is not None else ()
    if layout is None or any(owners[n] is None or _BLOCK_TEXT.search(old[n] + "\n" + new[n]) for n in changed):
        return None
    if _has_anchors(previous) or _ANCHORS.search("\n" + "\n".join(new[n] for n in changed)):
        return None
    touched = list(dict.fromkeys(owner for n in changed if (owner := owners[n]) is not None))
    if not touched:
        return previous
    groups = {(unit.section, unit.name): 0 for unit in touched}
    (row,) = rows_of(new, owners, groups, 1)
    entries = _entries(blanked(new, row), touched, previous.file)
    return _put(previous, touched, entries, text, [(n, new[n]) for n in changed]) if entries is not None else None


@cached
def _has_anchors(design: Design) -> bool:
    return bool(_ANCHORS.search(design.text))


def _entries(text: str, touched: Sequence[Unit], file: str) -> Design | None:
    """Returns a design of the touched entries alone; None where the text has others."""
    try:
        (root_document,) = document.read_text(text, file)
        assert isinstance(root_document.root, Table)
        entries = design_from_table(root_document.root, file=file, text=text, whole=False)
    except (InputError, ValueError):
        return None
    names = {(section, name) for section in SECTIONS for name in _names(getattr(entries, section))}
    calls = sum(unit.section == "calls" for unit in touched)
    wanted = {(unit.section, unit.name) for unit in touched if unit.section != "calls"}
    return entries if names == wanted | {("calls", n) for n in range(calls)} else None


def _names(section: Any) -> Iterable[str | int]:
    return section if isinstance(section, dict) else range(len(section))


def _put(
    previous: Design, touched: Sequence[Unit], entries: Design, text: str, edited: Sequence[tuple[int, str]]
) -> Design:
    """Returns the previous design with the touched entries replaced.  Raises InputError where they do not fit."""
    fields: dict[str, Any] = {}
    for section in dict.fromkeys(unit.section for unit in touched):
        whole, new = getattr(previous, section), getattr(entries, section)
        if isinstance(whole, dict):
            fields[section] = {name: new.get(name, old) for name, old in whole.items()}
        else:
            numbers = dict(zip(sorted(int(u.name) for u in touched if u.section == section), new, strict=True))
            fields[section] = tuple(numbers.get(n, old) for n, old in enumerate(whole))
    design = previous.replace(**fields, text=text, comments=tuple(document.comments(text)))
    same = names.things(previous) == names.things(design) and names.bare_names(previous) == names.bare_names(design)
    if same and carry(previous, design, touched):
        carry_layout(previous, design, edited)
    design.queries.carry(previous.queries, (_has_anchors,))  # an edit with anchors has the whole text read
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
        word_checks.check(part, reading)
        dimensions.check(part, reading)
    if reading.problems:
        raise InputError(reading.problems)
