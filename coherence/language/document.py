"""Reads YAML text to a tree in which every value and every key keeps its place.

libyaml's event stream is read directly: no constructor, no tags, no implicit types, so `1:30`,
`off` and `1e-3` stay the text that was written.  Numbers and booleans are recognised by YAML 1.2's
core schema, and only when asked (`Scalar.number`, `Scalar.boolean`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import yaml

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place

MAX_BYTES = 8_000_000
MAX_NODES = 400_000
MAX_DEPTH = 64

_NUMBER = re.compile(r"[-+]?([0-9][0-9_]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
_BREAK = re.compile(r"\r\n?")
_FOREIGN_BREAKS = {0x85: " ", 0x2028: " ", 0x2029: " "}  # line breaks of YAML 1.1 and libyaml, not of 1.2
# what YAML forbids; the complement of what it allows takes 15 ms to compile
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def _too_deep(place: Place) -> Problem:
    return Problem(place, f"nested deeper than {MAX_DEPTH} levels", "flatten the document")


@dataclass(frozen=True)
class Scalar:
    """A leaf: the text as written (without quotes), and whether it was quoted."""

    text: str
    place: Place
    quoted: bool = False

    def number(self) -> Fraction | None:
        """Returns the exact number, if the text is one (decimal, no unit)."""
        if self.quoted or not _NUMBER.fullmatch(self.text) or len(self.text) > 400:
            return None
        return Fraction(self.text.replace("_", ""))

    def boolean(self) -> bool | None:
        """Returns True or False for `true` and `false`, else None."""
        return {"true": True, "false": False}.get(self.text) if not self.quoted else None

    def is_null(self) -> bool:
        """Returns an empty value, `null` or `~`."""
        return not self.quoted and self.text in ("", "null", "~", "Null", "NULL")


class Items:
    """A list, with its place."""

    __slots__ = ("items", "place")

    def __init__(self, items: list[Node], place: Place) -> None:
        self.items, self.place = items, place

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Table:
    """A mapping.  `keys[k]` is the place of key k; `place` spans the whole table."""

    __slots__ = ("entries", "keys", "place", "sources")

    def __init__(
        self, entries: dict[str, Node], keys: dict[str, Place], place: Place, sources: dict[str, str] | None = None
    ) -> None:
        self.entries, self.keys, self.place = entries, keys, place
        self.sources: dict[str, str] = sources or {}  # key -> source, where a part supplied it

    def get(self, key: str) -> Node | None:
        return self.entries.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def key_place(self, key: str) -> Place:
        """Returns the place of the key, or of the table where the key is absent."""
        return self.keys.get(key, self.place)


type_of = {Scalar: "a value", Items: "a list", Table: "a mapping"}
Node = Scalar | Items | Table


def plain(node: Node | None) -> object:
    """Returns a node as plain data without places: what two documents are compared by."""
    if isinstance(node, Table):
        return {key: plain(inner) for key, inner in node.entries.items()}
    if isinstance(node, Items):
        return [plain(inner) for inner in node]
    return None if node is None else (node.text, node.quoted)


@dataclass(frozen=True)
class Document:
    """One YAML document of a file: its root, and the text of the whole file."""

    root: Node
    file: str
    text: str
    comments: tuple[tuple[int, str], ...] = ()  # (line, text after '#')
    notes: tuple[tuple[Place, str], ...] = ()  # keys written twice, where the last one counts


def decode(data: bytes, file: str) -> str:
    """Bytes to text: UTF-8, or UTF-16 with a byte order mark.  Raises InputError otherwise."""
    start = Place(file, 1, 1, 1, 1)
    if len(data) > MAX_BYTES:
        raise InputError([Problem(start, f"the file has more than {MAX_BYTES} bytes", "split it")])
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        place = Place(file, line, column, line, column + 1)
        raise InputError(
            [Problem(place, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8")]
        ) from None


def read(data: bytes, file: str, *, last_key_counts: bool = False) -> list[Document]:
    """Returns all documents of a YAML file.  Raises InputError with every problem found.

    `last_key_counts`: of a key written twice the last counts and the first is a note, as for Kubernetes, and a tag of
    the file's own is a mapping with it as the key.
    """
    return read_text(decode(data, file), file, last_key_counts=last_key_counts)


def read_text(text: str, file: str, *, last_key_counts: bool = False) -> list[Document]:
    """Returns the documents of a text.  Line breaks of every system become "\\n".  Raises InputError."""
    text = _BREAK.sub("\n", text)
    builder = _Builder(file, text, last_key_counts=last_key_counts)
    roots = builder.build()
    if builder.problems:
        raise InputError(builder.problems)
    remarks = tuple(comments(text))
    return [Document(root, file, text, remarks, tuple(builder.notes)) for root in roots]


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yields (line, text behind `#`) of every line that may hold a comment."""
    for number, line in enumerate(text.split("\n"), 1) if "#" in text else ():
        match = re.search(r"(?:^|\s)#(.*)$", line) if "#" in line else None
        if match:
            yield number, match.group(1).strip()


class _Open:
    """A collection that is being filled."""

    def __init__(self, node: Table | Items, anchor: str | None, tag: str | None) -> None:
        self.node, self.anchor, self.tag = node, anchor, tag
        self.key: Scalar | None = None


class _Builder:
    """Turns libyaml's events into nodes with an explicit stack: depth and size are bounded."""

    def __init__(self, file: str, text: str, *, last_key_counts: bool) -> None:
        self.file, self.text, self.last_key_counts = file, text, last_key_counts
        self.notes: list[tuple[Place, str]] = []
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node] = {}
        self.sizes: dict[int, int] = {}
        self.open: list[_Open] = []
        self.roots: list[Node] = []
        self.count = 0

    def build(self) -> list[Node]:
        try:
            loader = getattr(yaml, "CLoader", yaml.Loader)
            for event in yaml.parse(self.text.translate(_FOREIGN_BREAKS), Loader=loader):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            self.problems.append(self._syntax(error))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            problem = Problem(
                self._control(), f"not YAML: {error}".split("\n")[0], "remove control characters; check the encoding"
            )
            self.problems.append(problem)
        except _TooBig as error:
            self.problems.append(error.problem)
        return self.roots

    def _control(self) -> Place:
        """Returns the place of the first character that YAML does not allow."""
        match = _CONTROL.search(self.text)
        before = self.text[: match.start()] if match else ""
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Place(self.file, line, column, line, column + 1)

    def _syntax(self, error: yaml.MarkedYAMLError) -> Problem:
        mark = error.problem_mark or error.context_mark
        if mark and error.context_mark and mark.line > self.text.rstrip().count("\n"):
            mark = error.context_mark  # the end of the file says less than where the bracket was opened
        place = self._place(mark, mark) if mark else Place(self.file, 1, 1, 1, 1)
        if "nesting depth" in str(error.problem):  # libyaml's own limit, met while it looks ahead
            return _too_deep(place)
        remedy = self._unless_template("check the indentation, quotes and brackets near this line")
        return Problem(place, f"not YAML: {error.problem or error.context}", remedy)

    def _unless_template(self, remedy: str) -> str:
        if "{{" in self.text or "{%" in self.text:
            return "this is a template: render it first (for example `helm template`), then check the result"
        return remedy

    def _place(self, start: yaml.Mark, end: yaml.Mark) -> Place:
        return Place(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _take(self, event: Any) -> None:
        place = self._place(event.start_mark, event.end_mark)
        if isinstance(event, yaml.ScalarEvent):
            self._grow(place, 1)
            node = self._tagged(event.tag, Scalar(event.value, place, quoted=event.style not in (None, "")))
            self._remember(event.anchor, node)
            self._add(node)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._grow(place, 1)
            if len(self.open) >= MAX_DEPTH:
                raise _TooBig(_too_deep(place))
            fresh: Table | Items = (
                Table({}, {}, place) if isinstance(event, yaml.MappingStartEvent) else Items([], place)
            )
            self.open.append(_Open(fresh, event.anchor, event.tag))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close(place)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "", place)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.anchors.clear()

    def _tagged(self, tag: str | None, node: Node) -> Node:
        """Returns a value with a tag: of a foreign file `!Ref web` is a mapping `!Ref: web`; a design has no tags."""
        if tag is None or tag in ("!", "tag:yaml.org,2002:str"):
            return node
        if self.last_key_counts and tag.startswith("!"):
            return Table({tag: node}, {tag: node.place}, node.place)
        self.problems.append(Problem(node.place, f"the tag {tag} is not used here", "write the plain value"))
        return node

    def _grow(self, place: Place, by: int) -> None:
        self.count += by
        if self.count > MAX_NODES:
            raise _TooBig(
                Problem(
                    place, f"more than {MAX_NODES} values (aliases counted where they are used)", "split the document"
                )
            )

    def _close(self, end: Place) -> None:
        done = self.open.pop()
        start = done.node.place
        done.node.place = Place(self.file, start.line, start.column, end.end_line, end.end_column)
        node = self._tagged(done.tag, done.node)
        self._remember(done.anchor, node)
        self._add(node)

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self.anchors[anchor] = node

    def _alias(self, anchor: str, place: Place) -> None:
        node = self.anchors.get(anchor)
        if node is None:
            inside = any(frame.anchor == anchor for frame in self.open)
            message = f"*{anchor} stands inside its own anchor" if inside else f"no anchor &{anchor} before this alias"
            self.problems.append(Problem(place, message, "write the value out"))
            node = Scalar("", place)
        self._grow(place, self._size(node))
        self._add(node)

    def _size(self, node: Node) -> int:
        known = self.sizes.get(id(node))
        if known is None:
            children = (
                node.items
                if isinstance(node, Items)
                else list(node.entries.values())
                if isinstance(node, Table)
                else []
            )
            known = 1 + sum(self._size(child) for child in children)
            self.sizes[id(node)] = known
        return known

    def _add(self, node: Node) -> None:
        if not self.open:
            self.roots.append(node)
            return
        frame = self.open[-1]
        if isinstance(frame.node, Items):
            frame.node.items.append(node)
        elif frame.key is None:
            self._key(frame, node)
        else:
            frame.node.entries[frame.key.text] = node
            frame.key = None

    def _key(self, frame: _Open, node: Node) -> None:
        assert isinstance(frame.node, Table)
        if not isinstance(node, Scalar):
            remedy = self._unless_template("write `name: value`")
            self.problems.append(Problem(node.place, "a key must be plain text", remedy))
            node = Scalar(f"<key {len(frame.node.entries)}>", node.place)
        if node.text in frame.node.keys:
            self._twice(node, frame.node.keys[node.text])
        frame.node.keys[node.text] = node.place
        frame.key = node

    def _twice(self, node: Scalar, first: Place) -> None:
        if self.last_key_counts:
            self.notes.append((first, f"the key '{node.text}', for it is written again at line {node.place.line}"))
            return
        remedy = f"the first is at line {first.line}; keep one"
        self.problems.append(Problem(node.place, f"the key '{node.text}' is written twice", remedy))


class _TooBig(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
