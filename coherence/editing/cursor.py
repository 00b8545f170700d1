"""Reads what stands at a place of a text, and the keys above it, also while the text is no YAML yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.findings.repairs import lines_of
from coherence.language import document
from coherence.language.document import Items, Node, Table

_KEY = re.compile(r"^(\s*(?:- +)*)([A-Za-z_][\w.\-]*)\s*:")
_OPEN = re.compile(r"([A-Za-z_][\w.\-]*)\s*:\s*(?=[{\[])|[{}]")


@dataclass(frozen=True)
class NodeAtCursor:
    """A key with its value, or a value by itself: the names on the way to it, where it stands, what it is."""

    path: tuple[str, ...]
    place: Place
    node: Node


def node_at(text: str, line: int, column: int) -> NodeAtCursor | None:
    """Returns the innermost key or value at a line and column, from 1; None between them, and of a text with faults."""
    try:
        roots = [part.root for part in document.read_text(text, "")]
    except InputError:
        return None
    nodes = [node for root in roots for node in _nodes(root, ()) if _holds(node.place, line, column)]
    return nodes[-1] if nodes else None


def _nodes(node: Node, path: tuple[str, ...]) -> Iterator[NodeAtCursor]:
    if isinstance(node, Table):
        for name, inner in node.entries.items():
            yield NodeAtCursor((*path, name), node.key_place(name), inner)
            yield from _nodes(inner, (*path, name))
    elif isinstance(node, Items):
        for inner in node:
            yield from _nodes(inner, path)
    else:
        yield NodeAtCursor(path, node.place, node)


def _holds(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)


def before(text: str, line: int, column: int) -> str:
    """Returns what stands on a line before a column."""
    lines = lines_of(text)
    return lines[line - 1][: column - 1] if line <= len(lines) else ""


def path_before(text: str, line: int, column: int) -> tuple[str, ...]:
    """Returns the names above a place, by indentation and open braces."""
    here = before(text, line, column)
    depth, names = len(here) - len(here.lstrip(" -")), list[str]()
    for above in reversed(lines_of(text)[: line - 1]):
        key = _KEY.match(above)
        if key is not None and len(key[1]) < depth:
            names.insert(0, key[2])
            depth = len(key[1])
    return (*names, *_open_keys(here))


def _open_keys(here: str) -> tuple[str, ...]:
    """Returns the keys of the braces that are open at the end of a line."""
    names, waiting = list[str](), ""
    for match in _OPEN.finditer(here):
        if match[0] == "{":
            names.append(waiting)
            waiting = ""
        elif match[0] == "}":
            del names[-1:]
        else:
            waiting = match[1]
    return tuple(name for name in names if name)
