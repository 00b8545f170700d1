"""Finds the declarations of the language for a path of names: the key, and what may stand below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherence.base.records import Key, Record
from coherence.language.design import Design

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Declaration:
    """What is declared at a path: its key (none for a name of the writer), and what its value may be."""

    key: Key | None
    values: tuple[Schema, ...]

    @property
    def records(self) -> tuple[type[Record], ...]:
        """Returns the records whose keys may stand here."""
        return tuple(schema["record"] for schema in self.values if "record" in schema)

    @property
    def words(self) -> tuple[str, ...]:
        """Returns the words of which one may stand here."""
        return tuple(word for schema in self.values for word in schema.get("enum", ()))


def declaration(path: Sequence[str]) -> Declaration:
    """Returns what is declared at a path; items of a list have no name on it."""
    here = Declaration(None, ({"record": Design},))
    for name in path:
        here = _below(here, name)
    return here


def _below(above: Declaration, name: str) -> Declaration:
    keys = [record.keys[name] for record in above.records if name in record.keys]
    if keys:
        return Declaration(keys[0], tuple(_alternatives(key.kind.schema for key in keys)))
    by_name = [schema["additionalProperties"] for schema in above.values if "additionalProperties" in schema]
    inner = Declaration(None, tuple(_alternatives(by_name)))
    return inner if inner.records else Declaration(above.key, inner.values)


def _alternatives(schemas: Iterable[Schema]) -> Iterator[Schema]:
    """Yields what a value may be, items of a list like a single one."""
    for schema in schemas:
        inner = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
        yield from _alternatives(inner) if inner else (schema,)
