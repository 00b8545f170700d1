"""A design tree as YAML text, with the place of each value in a comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from coherence.document import Items, Node, Scalar, Table
from coherence.places import Place

_PLAIN = re.compile(r"[A-Za-z0-9_./%+*<>=-][A-Za-z0-9_./%+*<>=() -]*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # not as they are in YAML


def written(root: Table) -> str:
    """The whole document."""
    return "\n".join(_lines(root, 0)) + "\n"


def _lines(table: Table, depth: int) -> Iterator[str]:
    pad = "  " * depth
    for key, node in table.entries.items():
        if isinstance(node, Table) and node.entries:
            yield f"{pad}{key}:{_from(table.key_place(key)) if depth == 1 else ''}"
            yield from _lines(node, depth + 1)
        elif isinstance(node, Items) and any(isinstance(item, Table) for item in node):
            yield f"{pad}{key}:"
            for item in node:
                first, *rest = list(_lines(item, depth + 2)) if isinstance(item, Table) else [f"{pad}    {flow(item)}"]
                yield f"{pad}  - {first.lstrip()}"
                yield from rest
        else:
            yield f"{pad}{key}: {flow(node)}{_from(node.place) if depth else ''}"


def _from(place: Place) -> str:
    return f"  # {place.file}:{place.line}"


def flow(node: Node) -> str:
    """A value on one line."""
    if isinstance(node, Table):
        return "{" + ", ".join(f"{key}: {flow(child)}" for key, child in node.entries.items()) + "}"
    if isinstance(node, Items):
        return "[" + ", ".join(flow(child) for child in node) + "]"
    return quoted(node)


def quoted(leaf: Scalar) -> str:
    """The text, quoted where YAML would read it as something else."""
    plain = (
        _PLAIN.fullmatch(leaf.text)
        and not leaf.text.startswith(("-", "*", "%", ">", "="))
        and leaf.text == leaf.text.strip()
    )
    if plain and not leaf.is_null():
        return leaf.text
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(leaf.text, ensure_ascii=False))
