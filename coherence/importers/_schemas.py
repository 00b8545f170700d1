"""Leaves schemas of custom resources out before a text is parsed: most bytes of many repositories, and no policy."""

from __future__ import annotations

import re
from dataclasses import replace

from coherence.language import document
from coherence.language.document import Document

_SCHEMA = re.compile(r"^kind:[ \t]*[\"']?CustomResourceDefinition\b", re.MULTILINE)
_SEPARATOR = re.compile(r"^(?=---(?:\s|$))", re.MULTILINE)
_KEPT = ("apiVersion", "kind", "metadata", "---")


def read_without_schemas(text: str, file: str, *, last_key_counts: bool = False) -> list[Document]:
    """Returns the documents of a YAML text; of a schema what it is alone.  Raises InputError."""
    if "CustomResourceDefinition" not in text or _SCHEMA.search(text) is None:
        return document.read_text(text, file, last_key_counts=last_key_counts)
    whole = re.sub(r"\r\n?", "\n", text)
    outlined = "".join(_outline(part) if _SCHEMA.search(part) else part for part in _SEPARATOR.split(whole))
    read = document.read_text(outlined, file, last_key_counts=last_key_counts)
    return [replace(source, text=whole) for source in read]


def _outline(part: str) -> str:
    """Returns a document with all lines blank but those of its kind and name: each keeps its number."""
    lines, own = part.split("\n"), False
    for number, line in enumerate(lines):
        own = line.startswith(_KEPT) if line and line[0] not in " #" else own
        lines[number] = line if own else ""
    return "\n".join(lines)
