"""Lists the values of a design one by one, each with the entry and the key that it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coherence.base.places import Place
from coherence.base.records import Record
from coherence.language.design import Design

_NAME = re.compile(r"[a-z][a-z0-9_]*")
FOREIGN = "models/"  # where the files of parts stand


@dataclass(frozen=True)
class DesignLeaf:
    """A value of a design: the section and the name of its entry, its key within the entry, its place and its text.

    `own`: the design states it; else it is what a part supplies.
    """

    section: str
    entry: str
    key: str
    place: Place
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Returns the names in the text, and that of the entry; known once, for an edit leaves most entries."""
        return frozenset((self.entry, *_NAME.findall(self.text)))

    @property
    def own(self) -> bool:
        """Returns whether the design states the value itself."""
        return not self.place.file.startswith(FOREIGN)


def leaves(design: Design) -> Iterator[DesignLeaf]:
    """Yields every value that an answer may depend on: all but those that are for people alone."""
    for name, content in _fields(design):
        if isinstance(content, Record) and name == "infrastructure":
            for section, inner in _fields(content):
                yield from _entries(section, inner)
        else:
            yield from _entries(name, content)


def _fields(record: Record) -> Iterator[tuple[str, Any]]:
    """Yields the keys of a record with what stands there, without counting as reading it."""
    for key, field in record.keys.items():
        content = record.__dict__[field.name]
        if not field.for_people and content is not None:
            yield key, content


def _entries(section: str, content: Any) -> Iterator[DesignLeaf]:
    if isinstance(content, dict):
        for name, entry in content.items():
            yield from values_of_entry(section, name, entry)
    elif isinstance(content, tuple):
        for entry in content:
            yield from values_of_entry(section, _title(entry), entry)
    else:
        yield from values_of_entry(section, section, content)


def _title(entry: Record) -> str:
    """Returns the name of an entry of a list: of a call `a -> b`, of a link `a - b`."""
    own = entry.__dict__
    if "ends" in own:
        return " - ".join(_text(end) for end in own["ends"])
    return f"{_text(own['caller'])} -> {_text(own['callee'])}"


def values_of_entry(section: str, entry: str, content: Any, *, key: str = "") -> Iterator[DesignLeaf]:
    """Yields the values of one entry, or of what stands under a key of it."""
    if isinstance(content, Record):
        yield from content.queries.get(
            (values_of_entry, section, entry, key), lambda: tuple(_of_record(section, entry, content, key))
        )
    elif isinstance(content, dict):
        for name, inner in content.items():
            yield from values_of_entry(section, entry, inner, key=_joined(key, name))
    elif isinstance(content, tuple):
        for inner in content:
            yield from values_of_entry(section, entry, inner, key=key)
    elif (place := getattr(content, "place", None)) is not None:
        yield DesignLeaf(section, entry, key, place, _text(content))


def _of_record(section: str, entry: str, content: Record, key: str) -> Iterator[DesignLeaf]:
    rest = {field.name for field in content.keys.values() if field.rest}
    for name, inner in _fields(content):
        below = key if content.keys[name].name in rest else _joined(key, name)
        yield from values_of_entry(section, entry, inner, key=below)


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _text(content: Any) -> str:
    """Returns the words of a value, without counting as reading it."""
    own = content.__dict__
    known = own.get("text")
    if known is not None:
        return str(known)
    inner = (_text(one) if hasattr(one, "place") else str(one) for name, one in own.items() if name != "place")
    return " ".join(inner)
