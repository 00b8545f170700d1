"""Lays one file of a format over another one, as the programs do that read both."""

from __future__ import annotations

from coherence.language.document import Node, Table


def laid_over(below: Table, above: Table) -> Table:
    """Returns a mapping with another one over it: mappings are joined key by key, all else is replaced."""
    entries: dict[str, Node] = dict(below.entries)
    for key, node in above.entries.items():
        lower = entries.get(key)
        entries[key] = laid_over(lower, node) if isinstance(lower, Table) and isinstance(node, Table) else node
    return Table(entries, {**below.keys, **above.keys}, below.place, {**below.sources, **above.sources})
