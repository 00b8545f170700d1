"""A design tree as YAML text: each value on a line of its own, with the place that it came from in a comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from coherence.base.outside_text import escaped
from coherence.base.places import Place
from coherence.language.document import Items, Node, Scalar, Table

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./%+*<>=()-]*( [A-Za-z0-9_./%+*<>=()-]+)*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # must not stand in YAML as they are


def written(root: Table, not_modelled: Iterable[tuple[Place, str]]) -> str:
    """Returns the whole document; what is not modelled follows as comments."""
    lines = [*_table(root, "")]
    listed = [f"#   {_line(str(place))}: {_line(text)}" for place, text in not_modelled]
    return "\n".join([*lines, *(["", "# Not read:", *listed] if listed else [])]) + "\n"


def _table(table: Table, pad: str) -> Iterator[str]:
    for key, node in table.entries.items():
        if isinstance(node, Table) and node.entries:
            yield f"{pad}{key}:"
            yield from _table(node, f"{pad}  ")
        elif isinstance(node, Items) and node.items:
            yield f"{pad}{key}:"
            yield from _items(node, f"{pad}  ")
        else:
            yield f"{pad}{key}: {_value(node)}{_from(node.place) if pad else ''}"


def _items(items: Items, pad: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, Table) and item.entries:
            first, *rest = _table(item, f"{pad}  ")
            yield f"{pad}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{pad}- {_value(item)}{_from(item.place)}"


def _from(place: Place) -> str:
    return f"  # {_line(place.file)}:{place.line}"


def _line(text: str) -> str:
    """Returns the text without what would end a comment, or may not stand in one."""
    return escaped(" ".join(text.split()))


def _value(node: Node) -> str:
    """Returns a leaf, quoted where YAML would read something else; what is empty as flow."""
    if not isinstance(node, Scalar):
        return "{}" if isinstance(node, Table) else "[]"
    if _PLAIN.fullmatch(node.text) and node.text.lower() not in ("null", "true", "false"):
        return node.text
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(node.text, ensure_ascii=False))
