"""Judges the fields of manifests by what changes of them do to the design that is made of them.

A field is read where another value for it changes the design or what is listed as not modelled, or where another word
for it is refused; else it has to be listed, itself or a field around it.  Any other field is silent.  So has a key that
no program knows to be refused or listed wherever it stands.  `python -m tests.importers.field_reads FILE...` prints the
silent fields of files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from coherence import importers
from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.importers import documents_of
from coherence.importers._writing import written
from coherence.language.document import Document, Items, Node, Scalar, Table
from coherence.language.reading import is_overlay
from tests.perturbation.changes import NUMBER, scaled

UNKNOWN = "frobnicates"  # a key of no program
WORDS = {  # and others that mean something where they stand
    "RollingUpdate": "Recreate", "Auto": "Off", "RequestsOnly": "RequestsAndLimits",
    "WhenEmptyOrUnderutilized": "WhenEmpty", "prometheus": "cpu", "sched/backfill": "sched/builtin",
}  # fmt: skip
FACTORS = (Fraction(3), Fraction(1, 3), Fraction(1000), Fraction(1, 1000), Fraction(0))
FOR_PEOPLE = re.compile(r"^ *(- )?(system|note):")
IDENTITY = re.compile(  # names of objects and of what stands in them
    r"(.*\.)?metadata\.(name|namespace|generateName)|(.*\.)?(apiVersion|kind|namespace|of|section|selector|clusterQueue)|(.*\.)?selector\..*|"
    r"(.*\.)?(container|containers|initContainers|groups|profiles|tasks|clusters)\.name"
)
FUNCTIONS = ("!", "Fn::", "Ref")  # of CloudFormation: a mapping of one

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Field:
    """A field of a document: the document's number, the keys on the way to it, and the places of these."""

    number: int
    path: Path_
    node: Node
    places: tuple[Place, ...]

    @property
    def name(self) -> str:
        """Returns `spec.http[0].timeout`."""
        parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path)
        return "".join(parts).removeprefix(".")

    @property
    def plain(self) -> str:
        """Returns the same without the numbers of items."""
        return re.sub(r"\[\d+\]", "", self.name)

    def __str__(self) -> str:
        text = self.node.text if isinstance(self.node, Scalar) else f"(an unknown key `{UNKNOWN}` in it)"
        return f"{self.places[-1]} {self.name}: {text}"


@dataclass(frozen=True)
class Answer:
    """What documents are read as: the design without words for people, and what is listed; nothing where refused."""

    design: str | None
    listed: frozenset[tuple[Place, str]] = frozenset()


def answer(documents: Sequence[Document]) -> Answer:
    """Returns what documents are read as."""
    try:
        root, sketch, _ = importers._assembled(documents)
    except InputError:
        return Answer(None)
    lines = (line.partition("  # ")[0] for line in written(root, ()).split("\n"))
    return Answer("\n".join(line for line in lines if not FOR_PEOPLE.match(line)), frozenset(sketch.not_modelled))


def fields(number: int, node: Node, path: Path_ = (), places: tuple[Place, ...] = ()) -> Iterator[Field]:
    """Yields a node and all below it."""
    yield Field(number, path, node, (*places, node.place))
    above = (*places, node.place) if path else places
    if isinstance(node, Table):
        for key, child in node.entries.items():
            yield from fields(number, child, (*path, key), (*above, node.key_place(key)))
    elif isinstance(node, Items):
        for index, child in enumerate(node):
            yield from fields(number, child, (*path, index), (*above, child.place))


def silent(documents: Sequence[Document]) -> Iterator[str]:
    """Yields the fields that are read by nobody and listed nowhere, and the places of unknown keys that are not."""
    return (str(field) for field, is_silent in judged(documents) if is_silent)


def judged(documents: Sequence[Document]) -> Iterator[tuple[Field, bool]]:
    """Yields each field of documents, and an unknown one in each mapping, and whether it is silent."""
    before = answer(documents)
    for number, source in enumerate(documents):
        if before.design is None or is_overlay(source.root):
            continue
        left_out = [field.path for field in fields(number, source.root) if _is_left_out(field.node, before)]
        for field in fields(number, source.root):
            if any(field.path[: len(path)] == path for path in left_out):
                continue
            if isinstance(field.node, Scalar) and field.node.text and not _is_name(field):
                yield field, not _is_listed(field, before) and not _is_read(documents, field, before)
            elif isinstance(field.node, Table) and not _is_name(field):
                yield field, not _is_listed(field, before) and not _is_unknown_listed(documents, field, before)


def _is_name(field: Field) -> bool:
    """Decides whether a field is a name, or a mapping of names."""
    keys = field.node.entries if isinstance(field.node, Table) else ()
    return IDENTITY.fullmatch(field.plain) is not None or any(key.startswith(FUNCTIONS) for key in keys)


def _is_left_out(root: Node, before: Answer) -> bool:
    """Decides whether a whole object is listed: its kind is not known, or another of its name replaces it."""
    if not isinstance(root, Table) or "kind" not in root:
        return False
    metadata = root.get("metadata")
    heads = [root.keys["kind"]]
    if isinstance(metadata, Table) and (name := metadata.get("name")) is not None:
        heads.append(name.place)
    return any(place in heads for place, _ in before.listed)


def _is_unknown_listed(documents: Sequence[Document], field: Field, before: Answer) -> bool:
    assert isinstance(field.node, Table)
    extended = _with(field.node, UNKNOWN, Scalar("7", field.node.place))
    after = answer(_changed(documents, field, extended))
    return after.design is None or after != before


def _is_read(documents: Sequence[Document], field: Field, before: Answer) -> bool:
    for new in _others(field.node):
        after = answer(_changed(documents, field, new))
        if after.design is None and isinstance(new, Scalar) and not re.search("[0-9]", new.text):
            return True
        if after.design is not None and after != before:
            return True
    return False


def _others(node: Node) -> Iterator[Node | None]:
    """Yields other values for a field; None: it is taken out."""
    assert isinstance(node, Scalar)
    texts = [scaled(node.text, factor) for factor in FACTORS] if NUMBER.search(node.text) else []
    if node.text.lower() in ("true", "false"):
        texts.append("false" if node.text.lower() == "true" else "true")
    elif re.search("[A-Za-z]", node.text):
        texts += [WORDS.get(node.text, "frobnicated"), "frobnicated", f"{node.text}x", f"x{node.text}"]
    yield from (replace(node, text=text) for text in texts if text != node.text)
    yield None


def _is_listed(field: Field, before: Answer) -> bool:
    """Decides whether a field, or one around it, is listed: at its place, or by its name among names and wiring."""
    if field.path and any(place in field.places for place, _ in before.listed):
        return True
    above = {field.plain[:at] for at, letter in enumerate(field.plain) if letter == "."} | {field.plain}
    wiring = (words for _, words in before.listed if words.endswith("(names, labels and wiring: not about control)"))
    return any(above & set(words.partition(": ")[2].partition(" (")[0].split(", ")) for words in wiring)


def _changed(documents: Sequence[Document], field: Field, new: Node | None) -> list[Document]:
    source = documents[field.number]
    root = _at(source.root, field.path, new) or Scalar("", source.root.place)
    return [*documents[: field.number], replace(source, root=root), *documents[field.number + 1 :]]


def _at(node: Node, path: Path_, new: Node | None) -> Node | None:
    """Returns a copy of a node with another one at a path, or none."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(node, Table):
        return _with(node, str(key), _at(node.entries[str(key)], rest, new))
    assert isinstance(node, Items)
    assert isinstance(key, int)
    inner = _at(node.items[key], rest, new)
    return Items([*node.items[:key], *([inner] if inner is not None else []), *node.items[key + 1 :]], node.place)


def _with(table: Table, key: str, new: Node | None) -> Table:
    entries = {name: child for name, child in table.entries.items() if name != key or new is not None}
    places = dict(table.keys)
    if new is not None:
        entries[key] = new
        places.setdefault(key, new.place)
    return Table(entries, places, table.place, table.sources)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.writelines(
            f"{line}\n" for line in silent(documents_of(Path(name).read_text(encoding="utf-8"), name))
        )
