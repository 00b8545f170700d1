"""YAML that stands as a text inside a manifest, such as the files of a ConfigMap."""

from __future__ import annotations

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.language import document
from coherence.language.document import Items, Node, Scalar, Table


def embedded(text: Scalar) -> Table | None:
    """Returns the mapping that a text is; None where it is none.

    A value of a block stands on its line of the manifest, without columns: how deep a block is indented is not known.
    """
    if "{{" in text.text:
        return None
    try:
        (read, *_) = document.read_text(text.text, text.place.file, last_key_counts=True)
    except (InputError, ValueError):
        return None
    return moved(read.root, text.place) if isinstance(read.root, Table) else None


def _at(place: Place, outer: Place) -> Place:
    if outer.line == outer.end_line:
        return outer
    line = min(outer.line + place.line, outer.end_line)
    return Place(outer.file, line, 1, line, 1)


def _moved(node: Node, outer: Place) -> Node:
    if isinstance(node, Table):
        return moved(node, outer)
    if isinstance(node, Items):
        return Items([_moved(item, outer) for item in node], _at(node.place, outer))
    return Scalar(node.text, _at(node.place, outer))


def moved(table: Table, outer: Place) -> Table:
    """Returns a mapping that stands in a text, with the places that its values have in the manifest."""
    entries = {key: _moved(node, outer) for key, node in table.entries.items()}
    return Table(entries, {key: _at(place, outer) for key, place in table.keys.items()}, _at(table.place, outer))
