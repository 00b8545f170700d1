"""Tells which objects of manifests a part of a design was read from, so that an edit has these alone read again.

An object is a document of a file, or an item of a list of objects; where one begins is told from the lines, and whether
that is right from what is read: a slice counts only if it gives the part as the whole text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from coherence.base.errors import CoherenceError
from coherence.base.reads import unnoted
from coherence.findings.edited_designs import Rebuild
from coherence.language.design import Design
from coherence.language.entries.leaves import leaves
from coherence.model.independent_parts import SECTIONS

Object = tuple[str, int]  # a file, and the number of an object in it (0: what belongs to all of the file)
SHARED = ("infrastructure", "order", "places", "prices", "telemetry")
_ITEMS = re.compile(r"(?:items|\s+\"items\")\s*:\s*\[?\s*")


def owners(text: str) -> list[int]:
    """Returns for each line of a file the number of the object that it belongs to."""
    number, document, items = (
        1,
        1,
        None,
    )  # items: the column where those of a list of objects begin, -1 before the first
    lists: set[int] = set()
    lines = []
    current = 1
    for line in text.split("\n"):
        inner = line.lstrip(" ")
        column = len(line) - len(inner)
        begins = inner.startswith(("- ", "{")) or inner == "-"
        if line.startswith("---"):
            number, items = number + 1, None
            current = document = number
        elif items is None and _ITEMS.fullmatch(line):
            items = -1
            lists.add(document)
        elif items is not None and inner:
            items = column if items < 0 and begins else items
            if begins and column == items:
                number = current = number + 1
            elif column < items or (column == items and not inner.startswith("}")):
                items, current = None, document
        lines.append(current)
    return [0 if owner in lists else owner for owner in lines]


@unnoted()
def objects_of(parts: Sequence[Design], sources: Mapping[str, str]) -> list[frozenset[Object]]:
    """Returns the objects that the entries of each part stand in; those of what all parts share stand in each."""
    owned = {file: owners(text) for file, text in sources.items()}
    apart, everywhere = list[set[Object]](), set[Object]()
    for part in parts:
        own: set[Object] = set()
        for leaf in leaves(part):
            lines = owned.get(leaf.place.file, ())
            if leaf.place.line <= len(lines):
                (own if leaf.section in SECTIONS else everywhere).add((leaf.place.file, lines[leaf.place.line - 1]))
        apart.append(own)
    return [frozenset(own | everywhere) for own in apart] if apart else []


def joined(objects: Sequence[frozenset[Object]]) -> list[list[int]]:
    """Returns the numbers of the parts, those together that have an object in common which not all have."""
    common = frozenset.intersection(*objects) if objects else frozenset()
    groups: dict[int, list[int]] = {}
    first: dict[Object, int] = {}
    for number, own in enumerate(objects):
        groups[number] = [number]
        for thing in own - common:
            into = first.setdefault(thing, number)
            if into != number and groups[into] is not groups[number]:
                groups[into] += groups[number]
                for member in groups[number]:
                    groups[member] = groups[into]
    return list({id(group): sorted(group) for group in groups.values()}.values())


def slice_of(sources: Mapping[str, str], objects: frozenset[Object]) -> dict[str, str]:
    """Returns the texts up to the last line of the objects, those of others blank: each keeps its number."""
    numbers: dict[str, set[int]] = {}
    for file, number in objects:
        numbers.setdefault(file, {0}).add(number)
    return {file: _own_lines(text, numbers[file]) for file, text in sources.items() if file in numbers}


def _own_lines(text: str, numbers: Iterable[int]) -> str:
    lines = lines_by_object(text)
    own = [pair for number in numbers for pair in lines.get(number, ())]
    behind = max((line for line, _ in own), default=0) + 2  # with the end of the last line
    sliced = [""] * min(behind, text.count("\n") + 1)
    for line, words in own:
        sliced[line] = words
    return "\n".join(sliced)


@lru_cache(maxsize=8)
def lines_by_object(text: str) -> Mapping[int, Sequence[tuple[int, str]]]:
    """Returns the lines of each object of a file, with their numbers from 0."""
    lines: dict[int, list[tuple[int, str]]] = {}
    for number, (line, owner) in enumerate(zip(text.split("\n"), owners(text), strict=True)):
        lines.setdefault(owner, []).append((number, line))
    return lines


def own_sources(
    part: Design, sources: Mapping[str, str], objects: frozenset[Object], rebuild: Rebuild
) -> Mapping[str, str] | None:
    """Returns the texts from which the part alone is read; None where they give another part than the whole texts."""
    own = slice_of(sources, objects)
    try:
        read = rebuild(own)
    except (CoherenceError, RecursionError):
        return None
    same = all(getattr(read, name) == getattr(part, name) for name in (*SECTIONS, *SHARED))
    return own if same else None
