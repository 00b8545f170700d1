"""Lists the values of a design one by one, those that its parts supply too, and writes texts with some changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coherence.base.places import Place
from coherence.language import document
from coherence.language.catalogue import shipped
from coherence.language.document import Items, Node, Scalar
from coherence.language.entries.leaves import FOREIGN
from coherence.language.entries.leaves import leaves as design_leaves
from coherence.language.reading import read_text

NAME = "design"


@dataclass(frozen=True)
class WrittenLeaf:
    """A value of a document: the keys on the way to it, and its text."""

    path: tuple[str, ...]
    text: str
    place: Place
    removed: Place  # what goes where the value is taken out: the key and the value

    @property
    def name(self) -> str:
        """Returns `loops.scaler.rank`; of a value that a part supplies the part's file before it."""
        own = ".".join(self.path)
        return f"{self.place.file}:{own}" if self.place.file.startswith(FOREIGN) else own

    def __str__(self) -> str:
        return f"{self.place} {self.name}: {self.text}"


def leaves(text: str, *, supplied: bool = False) -> list[WrittenLeaf]:
    """Returns the values of a design but those that are for people; with `supplied` those of its parts as well."""
    matters = [leaf.place for leaf in design_leaves(read_text(text, NAME)) if leaf.own or supplied]
    spots = {(place.file, place.line, place.column) for place in matters}
    files = list(dict.fromkeys((NAME, *(place.file for place in matters if place.file.startswith(FOREIGN)))))
    every = (leaf for file in files for leaf in _written(file, text if file == NAME else part_text(file)))
    return [leaf for leaf in every if (leaf.place.file, leaf.place.line, leaf.place.column) in spots]


def part_text(file: str) -> str:
    """Returns the text of a part, from its name as places show it."""
    return (Path(shipped("models")).parent / file).read_text(encoding="utf-8")


def _written(file: str, text: str) -> Iterator[WrittenLeaf]:
    (source,) = document.read_text(text, file)
    return _leaves(source.root, (), source.root.place)


def _leaves(node: Node, path: tuple[str, ...], removed: Place) -> Iterator[WrittenLeaf]:
    if isinstance(node, Scalar):
        yield WrittenLeaf(path, node.text, node.place, removed)
    elif isinstance(node, Items):
        for number, child in enumerate(node):
            yield from _leaves(child, (*path, str(number)), child.place)
    else:
        for name, child in node.entries.items():
            begin, end = node.key_place(name), child.place
            whole = Place(begin.file, begin.line, begin.column, end.end_line, end.end_column)
            yield from _leaves(child, (*path, name), whole)


Change = tuple[WrittenLeaf, str | None]  # a value and what stands there instead (None: it is taken out)


def edited(text: str, *changes: Change) -> dict[str, str]:
    """Returns the text of each file with its values changed; no other value stands in another line than before."""
    texts = {NAME: text}
    for leaf, new in sorted(changes, key=lambda change: (change[0].place.line, change[0].place.column), reverse=True):
        file = leaf.place.file
        texts[file] = _with(texts.get(file) or part_text(file), leaf, new)
    return texts


def overlap(one: WrittenLeaf, other: WrittenLeaf) -> bool:
    """Decides whether two values cannot be changed at once: the key of one stands around the other."""
    return one.removed.file == other.removed.file and _begin(one) < _end(other) and _begin(other) < _end(one)


def _begin(leaf: WrittenLeaf) -> tuple[int, int]:
    return leaf.removed.line, leaf.removed.column


def _end(leaf: WrittenLeaf) -> tuple[int, int]:
    return leaf.removed.end_line, leaf.removed.end_column


def _with(text: str, leaf: WrittenLeaf, new: str | None) -> str:
    lines = text.split("\n")
    place = leaf.place if new is not None else leaf.removed
    first, last = place.line - 1, place.end_line - 1
    head, tail = lines[first][: place.column - 1], lines[last][place.end_column - 1 :]
    if new is None:
        head, tail = _without_comma(head, tail)
    middle = [head + (_quoted(new) if new is not None else "")]
    middle += [""] * (last - first)
    middle[-1] += tail
    return "\n".join([*lines[:first], *middle, *lines[last + 1 :]])


def _quoted(text: str) -> str:
    return json.dumps(text) if re.search(r"[:{}\[\],&*#?|<>=!%@`\"'-]", text) else text


def _without_comma(head: str, tail: str) -> tuple[str, str]:
    """Returns the text around what is taken out, without the comma or the dash that belongs to it."""
    if re.match(r"\s*,", tail):
        return head, re.sub(r"^\s*,\s*", "", tail)
    if re.search(r",\s*$", head):
        return re.sub(r",\s*$", "", head), tail
    return re.sub(r"-\s*$", "", head) if not tail.strip() else head, tail


Texts = Mapping[str, str]
