"""Tells which files of a repository are applied together, where an object is written in several of them.

A repository holds variants: an overlay for each stage, a folder for each example, a file with everything for those who
want one.  Files in which each object is written once belong together.  Where one is written again, the folders are
taken apart as far as needed; an autoscaler goes with the nearest workload of the name that it scales.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from coherence.importers import Identity, base_of, identities, kind_of, local_names
from coherence.language.document import Document

NEAR = 2  # folders that an autoscaler may lie below the one that it has in common with its workload


@dataclass(frozen=True)
class FileObjects:
    """What a file defines, and what its autoscalers scale."""

    defines: frozenset[Identity]
    scales: frozenset[Identity]


def applied_together(documents: Sequence[Document], *, named: bool = False) -> list[list[Document]]:
    """Returns the documents of each set of files that are applied together, in their order.

    `named`: somebody named the files, to be applied together: only names that are known in their file alone part them.
    """
    files, names = dict[str, list[Document]](), {source.file for source in documents}
    bases = {source.file: base_of(kind_of(source), source.file) for source in documents}
    bases = {file: base if base in names else file for file, base in bases.items()}
    for source in documents:
        files.setdefault(bases[source.file], []).append(source)
    objects = {file: _objects(own, named=named) for file, own in files.items()}
    groups = list(_groups(list(files), objects, 0))
    if len(groups) == 1:
        return [list(documents)]
    whole = [frozenset([*own, *_workloads(own, groups, objects)]) for own in groups]
    lasting = [own for own in dict.fromkeys(whole) if not any(own < other for other in whole)]
    return [[source for source in documents if bases[source.file] in own] for own in lasting]


def _objects(documents: Sequence[Document], *, named: bool) -> FileObjects:
    return FileObjects(local_names(documents), frozenset()) if named else FileObjects(*identities(documents))


def _groups(files: Sequence[str], objects: Mapping[str, FileObjects], depth: int) -> Iterator[list[str]]:
    """Yields the largest sets of files, by the folders that they lie in, of which none writes an object again."""
    if not _at_odds({file: [file] for file in files}, objects):
        yield list(files)
        return
    parts: dict[str, list[str]] = {}
    for file in files:
        parts.setdefault("/".join(file.split("/")[: depth + 1]), []).append(file)
    apart = _at_odds(parts, objects)
    apart |= {part for part, own in parts.items() if _at_odds({file: [file] for file in own}, objects)}
    rest = [file for part, own in parts.items() if part not in apart for file in own]
    if rest:
        yield rest
    for part in (part for part in parts if part in apart):
        yield from _groups(parts[part], objects, depth + 1)


def _at_odds(parts: Mapping[str, Iterable[str]], objects: Mapping[str, FileObjects]) -> set[str]:
    """Returns the parts that write an object which another part writes too; a namespace that is not said is any."""
    writers: dict[tuple[str, str], dict[str, set[str]]] = {}
    for part, files in parts.items():
        for kind, namespace, name in (thing for file in files for thing in objects[file].defines):
            writers.setdefault((kind, name), {}).setdefault(namespace, set()).add(part)
    odd: set[str] = set()
    for by_namespace in writers.values():
        anywhere, everyone = by_namespace.get("", set()), set().union(*by_namespace.values())
        if len(everyone) > 1:
            odd |= everyone if anywhere else set()
            odd |= set().union(*(own for own in by_namespace.values() if len(own) > 1))
    return odd


def _workloads(
    files: Sequence[str], groups: Sequence[Sequence[str]], objects: Mapping[str, FileObjects]
) -> Iterator[str]:
    """Yields the files that are applied with the nearest workloads which autoscalers of these files scale."""
    defined = frozenset().union(*(objects[file].defines for file in files))
    for file in files:
        for wanted in (thing for thing in objects[file].scales if not _has(defined, thing)):
            near = [
                (_common(file, other), other)
                for group in groups
                for other in group
                if _has(objects[other].defines, wanted) and _common(file, other) + NEAR >= file.count("/")
            ]
            furthest = max((shared for shared, _ in near), default=0)
            nearest = [group for group in groups if any(s == furthest and other in group for s, other in near)]
            if len(nearest) == 1:  # of several that are equally near nobody knows which one is meant
                yield from nearest[0]


def _has(defined: Iterable[Identity], wanted: Identity) -> bool:
    kind, namespace, name = wanted
    return any(
        (own[0], own[2]) == (kind, name) and (own[1] == namespace or not own[1] or not namespace) for own in defined
    )


def _common(one: str, other: str) -> int:
    """Returns how many folders two files lie in both."""
    folders = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], folders))
