"""Lists the names that a text declares, each with its section and line, also while one line of it is no YAML yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.errors import InputError
from coherence.findings.repairs import lines_of
from coherence.language import document
from coherence.language.document import Node, Table

SECTIONS = ("workload", "components", "loops", "timers", "limits", "jobs", "places")
WITHIN = {"infrastructure": ("tiers", "boundaries")}


@dataclass(frozen=True)
class DeclaredName:
    """A name that entries refer to, the section that it is declared in, and its line, from 1."""

    name: str
    section: str
    line: int


def declared_names(text: str, line: int) -> tuple[DeclaredName, ...]:
    """Returns the names that a text declares; `line`: the one that is being written, and may have faults."""
    lines = lines_of(text)
    others = "\n".join([*lines[: line - 1], "", *lines[line:]])
    for version in (text, others):
        try:
            roots = [part.root for part in document.read_text(version, "")]
        except InputError:
            continue
        return tuple(name for root in roots for name in _names(root))
    return ()


def _names(root: Node) -> Iterator[DeclaredName]:
    if not isinstance(root, Table):
        return
    for section, content in root.entries.items():
        if section in SECTIONS:
            yield from _entries(section, content)
        for inner in WITHIN.get(section, ()):
            if isinstance(content, Table) and inner in content.entries:
                yield from _entries(inner, content.entries[inner])


def _entries(section: str, content: Node) -> Iterator[DeclaredName]:
    if isinstance(content, Table):
        yield from (DeclaredName(name, section, content.key_place(name).line) for name in content.entries)
