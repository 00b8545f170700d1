"""Renders the page of a part: what it stands for, its parameters with their sources, what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.language import catalogue
from coherence.language.document import Items, Node, Scalar, Table


def folders_of(name: str) -> tuple[str, ...]:
    """Returns the folders of models/ that have a part of this name."""
    return tuple(folder for folder in catalogue.FOLDERS if name in catalogue.parts(folder))


def part_names() -> tuple[str, ...]:
    """Returns the names of all parts."""
    return tuple(name for folder in catalogue.FOLDERS for name in catalogue.parts(folder))


def parts_under(path: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the parts that may be used below a path, by the innermost section on it that has parts."""
    section = next((name for name in reversed(path) if name in catalogue.SECTION_FOLDER), "")
    folder = catalogue.SECTION_FOLDER.get(section, "")
    names = catalogue.parts(folder) if folder else ()
    return tuple(name for name in names if _section(folder, name) == section)


def _section(folder: str, name: str) -> str:
    return _text(catalogue.part(folder, name).get("section")) or folder


def part_page(folder: str, name: str) -> str:
    """Returns the page of a part as text."""
    source = catalogue.part(folder, name)
    lines = [f"{name}  (a part: `uses: {name}` under {_section(folder, name)}:)", "", _text(source.get("summary"))]
    versions = source.get("versions")
    if isinstance(versions, Table):
        words = {key: _text(node) for key, node in versions.entries.items()}
        lines.append(f"stands for {words.get('of', '')} {words.get('from', '')} to {words.get('to', '')}")
    for block in ("parameters", "inputs", "states", "commands", "outputs", "gives"):
        lines += _block(block, source.get(block))
    lines += _after("compared with", _text(source.get("compared")))
    lines += _after("leaves out", _text(source.get("omits")))
    return "\n".join([*lines, *_after("notes", _text(source.get("notes")))])


def _block(title: str, block: Node | None) -> Iterator[str]:
    """Yields a block of a part, an entry a line: its value, its range, and where that comes from."""
    if isinstance(block, Table) and block.entries:
        yield from ("", title)
        for path, entry in block.entries.items():
            facts = entry.entries if isinstance(entry, Table) else {"": entry}
            source = [f"from: {_text(node)}" for key, node in facts.items() if key == "source"]
            words = [f"{key} {_text(node)}".strip() for key, node in facts.items() if key not in ("source", "repair")]
            yield f"  {path}: {'; '.join(words).replace('default ', '')}"
            yield from (f"    {line}" for line in source)


def _after(title: str, text: str) -> list[str]:
    return ["", f"{title}: {text}"] if text else []


def _text(node: Node | None) -> str:
    """Returns a node as text, in one line."""
    if isinstance(node, Scalar):
        return " ".join(node.text.split())
    if isinstance(node, Table):
        return ", ".join(f"{key}: {_text(inner)}" for key, inner in node.entries.items())
    return ", ".join(map(_text, node)) if isinstance(node, Items) else ""
