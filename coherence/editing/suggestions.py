"""Tells the words of what stands at a place, and what may be written there, from the declarations of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.number_text import render_decimal
from coherence.editing.cursor import before, node_at, path_before
from coherence.editing.declarations import declaration
from coherence.editing.declared_names import declared_names
from coherence.language.document import Node, Scalar
from coherence.language.pages.part_pages import folders_of, part_page, parts_under
from coherence.language.pages.reference import key_words
from coherence.language.schema_kinds import Reading
from coherence.language.value_kinds import ANY_QUANTITY, NAME_KIND

_VALUE = re.compile(r"([A-Za-z_][\w.\-]*)\s*:\s+([^{}\[\],]*)$")
NAME = NAME_KIND.holds
_COMMENT = re.compile(r"(^|\s)#")


@dataclass(frozen=True)
class Suggestion:
    """A word that may be written, what it holds, and its words."""

    label: str
    detail: str
    words: str = ""
    is_key: bool = False


def hover(text: str, line: int, column: int) -> str | None:
    """Returns Markdown about the key or value at a place; None where there is nothing to say."""
    target = node_at(text, line, column)
    if target is None:
        return None
    key = declaration(target.path).key
    parts = [f"*{key.kind.holds}*", key_words(key)] if key is not None else []
    parts += _in_si(target.node)
    if target.path[-1:] == ("uses",) and isinstance(target.node, Scalar):
        parts += [f"```\n{part_page(folder, target.node.text)}\n```" for folder in folders_of(target.node.text)]
    elif isinstance(target.node, Scalar) and (key is None or NAME in key.kind.holds):
        named = (one for one in declared_names(text, line) if one.name == target.node.text)
        parts += [f"`{one.name}`: {one.section}, line {one.line}" for one in named]
    return "\n\n".join([f"`{'.'.join(target.path).replace('`', '')}`", *parts]) if parts else None


def _in_si(node: Node) -> Iterator[str]:
    """Yields a quantity with a unit in SI units, both ends of a range."""
    if not isinstance(node, Scalar) or node.number() is not None:
        return
    quantity = ANY_QUANTITY.read(node, Reading())
    if quantity is not None:
        ends = dict.fromkeys((quantity.low, quantity.high))
        unit = f" {quantity.dimension}" if quantity.dimension.powers else ""
        yield f"In SI: {' .. '.join(map(render_decimal, ends))}{unit}"


def suggestions(text: str, line: int, column: int) -> Iterator[Suggestion]:
    """Yields what may be written at a place: behind a key its parts, words and declared names, else the keys there."""
    here, path = before(text, line, column), path_before(text, line, column)
    if _COMMENT.search(here):
        return
    value = _VALUE.search(here)
    if value is None:
        yield from _keys(path)
    elif value[1] == "uses":
        yield from (Suggestion(name, "part") for name in parts_under(path))
    elif " " not in value[2]:
        declared = declaration((*path, value[1]))
        yield from (Suggestion(word, "word") for word in declared.words)
        if not declared.words and (declared.key is None or NAME in declared.key.kind.holds):
            names = declared_names(text, line)
            yield from (Suggestion(one.name, one.section, f"Declared in line {one.line}.") for one in names)


def _keys(path: tuple[str, ...]) -> Iterator[Suggestion]:
    for record in declaration(path).records:
        for name, key in record.keys.items():
            if not key.rest:
                yield Suggestion(name, key.kind.holds, key_words(key), is_key=True)
