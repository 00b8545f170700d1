"""Changes every leaf of a design in several ways, and tells which changes a command's output does not show.

A leaf that may be changed at will without any effect on the output is read by nobody; the output has to name it as not
read.  By hand, over files and folders: `python -m tests.perturbation check specs`.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import click

from coherence.base.errors import CoherenceError, InputError
from coherence.base.places import Place
from coherence.cli._run import run
from coherence.language import document
from coherence.language.document import Items, Node, Scalar
from coherence.language.leaves import leaves as design_leaves
from coherence.language.reading import read_text
from coherence.language.schema import design_schema

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
NAME = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?")
MOVING = frozenset({"column", "end_column", "sha256", "fingerprint", "old", "new"})  # follow the text, not its meaning
FACTORS = (Fraction(1000), Fraction(1, 1000), Fraction(1, 2), Fraction(2), Fraction(0))


@dataclass(frozen=True)
class WrittenLeaf:
    """A value of a document: the keys on the way to it, and its text."""

    path: tuple[str, ...]
    text: str
    place: Place
    removed: Place  # what goes where the value is taken out: the key and the value

    def __str__(self) -> str:
        return f"{self.place} {'.'.join(self.path)}: {self.text}"


@dataclass(frozen=True)
class Output:
    """What a command printed about a design, without what follows the text alone, and the lines of it not read."""

    shown: str
    not_read: frozenset[tuple[int, int]]


def leaves(text: str) -> list[WrittenLeaf]:
    """Returns the values of a document, except those that may be anything (notes and names of people)."""
    (source,) = document.read_text(text, "design")
    matters = {(leaf.place.line, leaf.place.column) for leaf in design_leaves(read_text(text, "design")) if leaf.own}
    every = _leaves(source.root, (), source.root.place)
    return [leaf for leaf in every if (leaf.place.line, leaf.place.column) in matters]


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


def changes(leaf: WrittenLeaf, others: Sequence[WrittenLeaf]) -> Iterator[tuple[str, str | None]]:
    """Yields ways to change a leaf: how, and the new text (None: it is taken out)."""
    for factor in FACTORS:
        if NUMBER.search(leaf.text):
            yield f"times {factor}", NUMBER.sub(partial(_scaled, factor), leaf.text)
    yield from (("another word", word) for word in _words(leaf.text))
    yield from (("another name", name) for name in _names(leaf, others))
    for old, new in (
        ("<", ">"),
        (">", "<"),
        ("+", "-"),
        ("min(", "max("),
        ("max(", "min("),
        ("smallest", "largest"),
        ("largest", "smallest"),
    ):
        if old in leaf.text:
            yield f"{new} for {old}", leaf.text.replace(old, new)
    yield "removed", None


def _scaled(factor: Fraction, match: re.Match[str]) -> str:
    """Returns a number in decimals; of a whole number a whole one, where that is another."""
    number = match[0]
    value = Fraction(number) * factor
    if "." not in number and round(value) != Fraction(number) and (round(value) or factor > 1):
        return str(round(value))
    return f"{float(value):.9f}".rstrip("0").rstrip(".") if value else "0"


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for words in _word_lists() if text in words for word in words if word != text))


@cache
def _word_lists() -> tuple[tuple[str, ...], ...]:
    def walk(node: Any) -> Iterator[tuple[str, ...]]:
        if isinstance(node, dict):
            if "enum" in node:
                yield tuple(node["enum"])
            for child in node.values():
                yield from walk(child)
        elif isinstance(node, list):
            for child in node:
                yield from walk(child)

    return tuple(dict.fromkeys(walk(design_schema())))


def _names(leaf: WrittenLeaf, others: Sequence[WrittenLeaf]) -> Iterator[str]:
    """Yields the text with one name replaced by another name of the document, for at most two names each."""
    known = dict.fromkeys(name for other in others for name in NAME.findall(other.text) if "." in name)
    entries = dict.fromkeys(other.path[1] for other in others if len(other.path) > 2)
    for name in dict.fromkeys(NAME.findall(leaf.text)):
        same = [one for one in (known if "." in name else entries) if one != name]
        if name in known or name in entries:
            for other in same[:2]:
                yield re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", other, leaf.text)


def edited(text: str, leaf: WrittenLeaf, new: str | None) -> str:
    """Returns the text with the leaf changed; no other value stands in another line than before."""
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
    """The text around what is taken out, without the comma or the dash that belongs to it."""
    if re.match(r"\s*,", tail):
        return head, re.sub(r"^\s*,\s*", "", tail)
    if re.search(r",\s*$", head):
        return re.sub(r",\s*$", "", head), tail
    return re.sub(r"-\s*$", "", head) if not tail.strip() else head, tail


Asked = Callable[[Path], str]


def _checked(path: Path) -> str:
    from coherence.checking.workspace import open_workspace, report
    from coherence.reporting import render

    return render("json", report(open_workspace([path]), verify_repairs=False, time_limit=10.0))


def command_line(*words: str) -> Asked:
    def ask(path: Path) -> str:
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = run([words[0], str(path), *words[1:]])
        if code == 2:
            raise CoherenceError(errors.getvalue())
        return out.getvalue()

    return ask


COMMANDS: dict[str, Asked] = {
    "check": _checked,
    "analyze": command_line("analyze", "-o", "json", "--no-retune", "--time-limit", "10"),
    "simulate": command_line("simulate", "-o", "json", "--for", "2 min", "--runs", "1"),
    "bound": command_line("bound", "-o", "json"),
}


def output(ask: Asked, text: str, folder: Path) -> Output | None:
    """Returns what a command prints of a design, or None where it refuses it."""
    path = folder / "design.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        printed = json.loads(ask(path))
    except (InputError, CoherenceError):
        return None
    rows = [row for row in _not_read(printed) if row["place"]["file"] == str(path)]
    return Output(
        json.dumps(_still(printed), sort_keys=True),
        frozenset((row["place"]["line"], row["place"]["column"]) for row in rows),
    )


def _not_read(printed: Any) -> Iterator[dict[str, Any]]:
    if isinstance(printed, dict):
        yield from printed.get("not_read", ())
        for child in printed.values():
            yield from _not_read(child)
    elif isinstance(printed, list):
        for child in printed:
            yield from _not_read(child)


def _still(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _still(child) for name, child in node.items() if name not in MOVING}
    return [_still(child) for child in node] if isinstance(node, list) else node


@dataclass(frozen=True)
class Silent:
    """A leaf that no change of has an effect, and that no line names; how often it was changed."""

    leaf: WrittenLeaf
    changes: int


@dataclass(frozen=True)
class Judged:
    """The leaves of a design: how many there are, are named as not read, are silent; and the named ones with effect."""

    leaves: int
    named: int
    silent: tuple[Silent, ...]
    needless: tuple[WrittenLeaf, ...] = ()


def judged(
    command: str, text: str, *, chosen: Sequence[WrittenLeaf] | None = None, doubt_named: bool = False
) -> Judged | None:
    """Changes leaves of a design (all, or those chosen); None where the command refuses the design itself.

    With `doubt_named` the leaves that the output names as not read are changed as well.
    """
    ask, every = COMMANDS[command], leaves(text)
    with TemporaryDirectory() as folder:
        before = output(ask, text, Path(folder))
        if before is None:
            return None
        named, silent, needless = 0, [], []
        for leaf in chosen if chosen is not None else every:
            is_named = (leaf.place.line, leaf.place.column) in before.not_read
            named += is_named
            if is_named and not doubt_named:
                continue
            tried = effect(ask, text, leaf, every, before, Path(folder))
            if tried is None and is_named:
                needless.append(leaf)
            if tried and not is_named:  # of what cannot be changed at all nothing can be told
                silent.append(Silent(leaf, tried))
    return Judged(len(chosen if chosen is not None else every), named, tuple(silent), tuple(needless))


def effect(
    ask: Asked, text: str, leaf: WrittenLeaf, every: Sequence[WrittenLeaf], before: Output, folder: Path
) -> int | None:
    """Returns None where a change of the leaf has an effect, else how many changes the command took."""
    tried = 0
    for _, new in changes(leaf, every):
        try:
            after = output(ask, edited(text, leaf, new), folder)
        except Exception as error:
            raise AssertionError(f"{leaf} changed to {new!r}: {type(error).__name__}: {error}") from error
        if after is not None and after.shown != before.shown:
            return None
        tried += after is not None
    return tried


def main(words: Sequence[str]) -> None:
    """Judges the designs of files and folders, and prints every silent leaf."""
    command, *paths = (word for word in words if not word.startswith("--"))
    share = next((float(word.partition("=")[2]) for word in words if word.startswith("--share=")), 1.0)
    total = named = silent = needless = 0
    for path in sorted(file for name in paths for file in _files(Path(name))):
        text = path.read_text(encoding="utf-8")
        if "\ncoherence:" not in f"\n{text}":
            continue
        every = leaves(text)
        drawn = Random(str(path)).sample(every, max(1, round(len(every) * share)))  # noqa: S311  (a draw of values)
        try:
            made = judged(command, text, chosen=drawn, doubt_named="--doubt" in words)
        except AssertionError as error:
            click.echo(f"CRASH {path}: {error}")
            continue
        if made is None:
            click.echo(f"{path}: refused")
            continue
        total, named, silent = total + made.leaves, named + made.named, silent + len(made.silent)
        needless += len(made.needless)
        for one in made.silent:
            click.echo(f"SILENT {path} {'.'.join(one.leaf.path)}: {one.leaf.text} ({one.changes})")
        for leaf in made.needless:
            click.echo(f"NEEDLESS {path} {'.'.join(leaf.path)}: {leaf.text}")
        click.echo(f"{path}: {made.leaves} leaves, {made.named} named, {len(made.silent)} silent")
    click.echo(f"{command}: {total} leaves, {named} named, {silent} silent, {needless} named though read")


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.yaml")) if path.is_dir() else [path]


if __name__ == "__main__":
    main(sys.argv[1:])
