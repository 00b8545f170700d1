"""Lays designs over the one that manifests make: they state what a manifest cannot say, such as load times and rates.

An overlay is a design with `overlays: manifests`.  Its entries are joined with those of the manifests by name, its
calls by their two ends; it may add what is absent, and not contradict what is written.
"""

from __future__ import annotations

from coherence.base.units import shorten
from coherence.importers._kubernetes import word
from coherence.language.document import Items, Node, Scalar, Table, type_of
from coherence.language.schema_kinds import Reading

KEY, VALUE = "overlays", "manifests"
OWN = ("coherence", KEY)
FOR_PEOPLE = ("note", "summary", "system")


def lay_over(design: Table, overlay: Table, reading: Reading) -> None:
    """Joins an overlay with the design of the manifests, in place.  Reports what contradicts a manifest."""
    if word(overlay, KEY) != VALUE:
        words = f"`{KEY}: {shorten(word(overlay, KEY))}` names nothing that a design can be laid over"
        reading.problem(overlay.key_place(KEY), words, f"write `{KEY}: {VALUE}`")
    for key, node in overlay.entries.items():
        if key == "calls" and isinstance(node, Items) and isinstance(design.get(key), Items):
            _calls(design, node, reading)
        elif key not in OWN:
            _join(design, key, node, overlay, reading, key)


def _calls(design: Table, added: Items, reading: Reading) -> None:
    """Joins each call with all that have its ends; one without such is a call of its own."""
    known = design.entries["calls"]
    assert isinstance(known, Items)
    written = [call for call in known if isinstance(call, Table)]
    for call in added:
        same = [other for other in written if isinstance(call, Table) and _ends(other) == _ends(call)]
        for other in same:
            _complete(other, call, reading)
        if not same:
            known.items.append(_copy(call))


def _complete(call: Table, added: Node, reading: Reading) -> None:
    assert isinstance(added, Table)
    name = " -> ".join(_ends(call))
    for key, node in added.entries.items():
        if key not in ("from", "to"):
            _join(call, key, node, added, reading, f"calls.{name}.{key}")


def _copy(node: Node) -> Node:
    """Returns a node that others can be joined with: documents stay as they were read."""
    if isinstance(node, Table):
        return Table({key: _copy(child) for key, child in node.entries.items()}, dict(node.keys), node.place)
    return Items([_copy(item) for item in node], node.place) if isinstance(node, Items) else node


def _ends(call: Table) -> tuple[str, str]:
    return word(call, "from"), word(call, "to")


def _join(table: Table, key: str, node: Node, source: Table, reading: Reading, path: str) -> None:
    """Adds one entry, or joins it with the entry of that name."""
    known = table.get(key)
    if isinstance(known, Table) and isinstance(node, Table):
        for inner, child in node.entries.items():
            _join(known, inner, child, node, reading, f"{path}.{inner}")
    elif known is None or key in FOR_PEOPLE:
        table.entries[key], table.keys[key] = _copy(node), source.key_place(key)
    elif type(known) is not type(node):
        words = f"{path} is {type_of[type(node)]}, {type_of[type(known)]} expected"
        reading.problem(node.place, words, "`coherence import all FILE...` prints what it is joined with")
    elif not (isinstance(known, Scalar) and isinstance(node, Scalar) and known.text == node.text):
        text = f"'{shorten(known.text)}'" if isinstance(known, Scalar) else "written"
        words = f"{path} is {text} at {known.place}: an overlay adds what manifests do not say"
        reading.problem(node.place, words, "remove the line, or change the manifest")
