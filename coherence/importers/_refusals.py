"""Names the objects of manifests that their importers refuse, so that one of a folder does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coherence.base.errors import Problem
from coherence.importers._kubernetes import objects, word
from coherence.language.document import Document, Node, Table
from coherence.language.reading import is_overlay

ObjectName = tuple[str, str, str, str]  # file, kind, namespace, name


def object_name(node: Node, file: str) -> ObjectName:
    """Returns what an object is known by after edits to its file, whatever else stands there."""
    metadata = node.get("metadata") if isinstance(node, Table) else None
    inner = metadata if isinstance(metadata, Table) else Table({}, {}, node.place)
    return file, word(node, "kind") if isinstance(node, Table) else "", word(inner, "namespace"), word(inner, "name")


def refused_objects(problems: Iterable[Problem], documents: Sequence[Document]) -> dict[ObjectName, Problem]:
    """Returns the object that each problem stands in, with the first of its problems; none of what stands in no one."""
    starts: dict[str, list[tuple[int, ObjectName]]] = {}
    for node, file in objects([source for source in documents if not is_overlay(source.root)]):
        starts.setdefault(file, []).append((node.place.line, object_name(node, file)))
    refused: dict[ObjectName, Problem] = {}
    for problem in problems:
        before = [(line, name) for line, name in starts.get(problem.place.file, ()) if line <= problem.place.line]
        if before:
            refused.setdefault(max(before)[1], problem)
    return refused
