"""Puts other texts where values of a design stand, without its text: each is read with its own kind, all else stays.

Nearly every edit of a repair, a blame or a map writes another number.  Such an edit is made in the design itself: the
value at the place is read from its new text, the records around it are copied, and every other value and entry is the
same object with the same place.  An edit that is more than that (a key, an entry, an anchor) is made in the text, and
the text is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.records import Record
from coherence.findings import repairs
from coherence.findings.finding import Edit
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.document import Items, Node, Scalar, Table
from coherence.language.implied import takes_names, takes_part
from coherence.language.limit_units import with_held_tokens, with_member_shares
from coherence.language.reading import check_together
from coherence.language.roles import speaks_of_ready
from coherence.language.schema_kinds import Quantity, Reading
from coherence.language.sentences import Promise

Rebuild = Callable[[Mapping[str, str]], Design]  # reads the texts of a design after an edit
Path = tuple[str | int, ...]  # fields of records, keys of tables, numbers in lists, from the design to a value

_PLAIN = re.compile(r"[-+.]?[A-Za-z0-9_][^\t]*(?<! )")  # how a text begins and ends that YAML takes as it stands
_HARMLESS = re.compile(r"(?! )[-+A-Za-z0-9_.%/*<>=() ]+(?<! )")  # changes nothing of how YAML reads the text around it
_OF_ALL = frozenset({"version", "part"})  # fields that decide how the whole design, or the whole entry, is read


def edited_subject(subject: Subject, edits: Collection[Edit], rebuild: Rebuild) -> Subject | None:
    """Returns the subject after some edits; None where an edit does not find its old text, or two overlap.

    Where each edit writes another value, places and sources are those before it.  Raises InputError.
    """
    if not repairs.fit(edits, subject.sources):
        return None
    design = with_values(subject.design, edits, subject.sources)
    if design is not None:
        return replace(subject, design=design)
    sources = repairs.applied(edits, subject.sources)
    return replace(subject, design=rebuild(sources), sources=sources)


@unnoted()
def with_values(design: Design, edits: Iterable[Edit], sources: Mapping[str, str]) -> Design | None:
    """Returns the design with other values; None where an edit changes more than values.  Raises InputError."""
    if design.imported or takes_names(design) or speaks_of_ready(design.text):
        return None
    known, by_path = _values(design), dict[Path, list[Edit]]()
    for edit in edits:
        paths = [path for place, path in known.get(edit.place.line, ()) if _lies_in(edit.place, place)]
        if not paths or not _OF_ALL.isdisjoint({step for path in paths for step in path}):
            return None
        if any(takes_part(design, _at(design, path[:2])) for path in paths if len(path) > 1):
            return None
        for path in paths:
            by_path.setdefault(path, []).append(edit)
    return _with_values(design, by_path, sources)


def _with_values(design: Design, edits: Mapping[Path, Sequence[Edit]], sources: Mapping[str, str]) -> Design | None:
    reading, after, alike = Reading(), design, True
    for path, own in edits.items():
        old = _at(design, path)
        leaf = _scalar(old.place, own, sources)
        if leaf is None:
            return None
        new = _read(design, path, leaf, reading)
        if reading.problems:
            raise InputError(reading.problems)
        after, alike = _put(after, path, new), alike and _fits_alike(old, new)
    if not alike:
        check_together(after, reading)
    if reading.problems:
        raise InputError(reading.problems)
    after = with_held_tokens(with_member_shares(after))
    return _in_boundaries(after) if after.boundaries else after


def _in_boundaries(design: Design) -> Design:
    """Returns the design with the rates that its boundaries leave, after its values have changed."""
    from coherence.language.shared_rates import with_shared_rates

    return with_shared_rates(design)


@cached
def _values(design: Design) -> Mapping[int, Sequence[tuple[Place, Path]]]:
    """Returns the place of every value that stands on one line, and the way to it, by line."""
    lines: dict[int, list[tuple[Place, Path]]] = {}
    for place, path in _below(design, ()):
        if place.file == design.file and place.line == place.end_line:
            lines.setdefault(place.line, []).append((place, path))
    return lines


def _below(value: Any, path: Path) -> Iterator[tuple[Place, Path]]:
    if isinstance(value, Record):
        for name in value.fields:
            yield from _below(value.__dict__[name], (*path, name))  # walked over, not read
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _below(inner, (*path, name))
    elif isinstance(value, tuple):
        for number, inner in enumerate(value):
            yield from _below(inner, (*path, number))
    elif isinstance(place := getattr(value, "place", None), Place):
        yield place, path


def _lies_in(place: Place, other: Place) -> bool:
    inside = other.column <= place.column < place.end_column <= other.end_column
    return inside and place.file == other.file and place.line == place.end_line


def _scalar(place: Place, edits: Iterable[Edit], sources: Mapping[str, str]) -> Scalar | None:
    """Returns the scalar at a place after edits of its text; None where YAML might read more or less than it."""
    before = repairs.text_at(sources, place)
    if before is None or not all(_HARMLESS.fullmatch(_unquoted(edit.new) or " ") for edit in edits):
        return None
    text = before
    for edit in sorted(edits, key=lambda e: e.place, reverse=True):
        start = edit.place.column - place.column
        text = text[:start] + edit.new + text[start + len(edit.old) :]
    plain = all(_PLAIN.fullmatch(one) for one in (before, text))
    quoted = before[0] in ("'", '"') and text[:1] == before[0]
    inner = text if plain else _unquoted(text) if quoted else None
    return None if inner is None else Scalar(inner, place, quoted=quoted)


def _unquoted(text: str) -> str | None:
    """Returns the text between quotes, the text itself where it has none, None where quotes or escapes are in it."""
    inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in ("'", '"') else text
    return None if any(sign in inner for sign in ("'", '"', "\\")) else inner


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = getattr(value, str(step)) if isinstance(value, Record) else value[step]
    return value


def _read(design: Design, path: Path, leaf: Scalar, reading: Reading) -> Any:
    """Returns the value of a scalar, read as the one at the path was; None with a problem."""
    old = _at(design, path)
    depth = max(n for n in range(len(path)) if isinstance(_at(design, path[:n]), Record))
    field = _at(design, path[:depth]).fields[path[depth]]
    inner = path[depth + (2 if field.rest else 1) :]  # the kind of the rest of the keys is that of each of them
    node: Node = Table({"varies": leaf}, {}, leaf.place) if getattr(old, "varies", False) and not leaf.quoted else leaf
    for step in reversed(inner):
        node = Items([node], leaf.place) if isinstance(step, int) else Table({step: node}, {}, leaf.place)
    value = field.kind.read(node, reading)
    if reading.problems:
        return None
    for step in inner:
        value = value[0 if isinstance(step, int) else step]
    return value.named(old.name) if isinstance(value, Promise) else value


def _put(value: Any, path: Path, new: Any) -> Any:
    """Returns a copy in which another value stands at the path."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, Record):
        return value.replace(**{str(first): _put(getattr(value, str(first)), rest, new)})
    if isinstance(value, dict):
        return {**value, first: _put(value[first], rest, new)}
    return tuple(_put(inner, rest, new) if number == first else inner for number, inner in enumerate(value))


def _fits_alike(old: Any, new: Any) -> bool:
    """Returns whether no sum, comparison or name of the design can be told from the change of a value."""
    both = isinstance(old, Quantity) and isinstance(new, Quantity)
    signs = ((bool(value.high), value.low < 0) for value in (old, new) if isinstance(value, Quantity))
    return both and old.dimension == new.dimension and len({*signs}) == 1
