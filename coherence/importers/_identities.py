"""Reads which objects some documents define, and which workloads their autoscalers name, and none of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coherence.importers._kubernetes import objects, word
from coherence.language.document import Document, Node, Table

Identity = tuple[str, str, str]  # kind, namespace (empty: not said), name
REFERENCES = ("scaleTargetRef", "targetRef")
SCALERS = ("HorizontalPodAutoscaler", "ScaledObject", "VerticalPodAutoscaler")


def identities_of(
    documents: Sequence[Document], is_single: Callable[[str], bool]
) -> tuple[frozenset[Identity], frozenset[Identity]]:
    """Returns what the documents define of the kinds of which a name stands for one object, and what they scale."""
    defined, scaled = set[Identity](), set[Identity]()
    for node, _ in objects(documents):
        if not isinstance(node, Table):
            continue
        kind, metadata = word(node, "kind"), _inner(node, "metadata")
        namespace, name = word(metadata, "namespace"), word(metadata, "name")
        if name and is_single(kind):
            defined.add((kind, namespace, name))
        if kind in SCALERS:
            targets = [_inner(_inner(node, "spec"), key) for key in REFERENCES]
            scaled |= {
                (word(it, "kind") or "Deployment", namespace, word(it, "name")) for it in targets if word(it, "name")
            }
    return frozenset(defined), frozenset(scaled)


def _inner(table: Table, key: str) -> Table:
    inner: Node | None = table.get(key)
    return inner if isinstance(inner, Table) else Table({}, {}, table.place)
