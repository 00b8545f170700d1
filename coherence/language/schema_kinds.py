"""Declares how a node of the document becomes a typed value, with every problem collected.

A `Kind` reads one node and knows its JSON Schema.  A record is a class whose fields are
made with `key(kind)`; `read_record` fills it, reports unknown, missing and malformed keys all at
once, and keeps the place of everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from coherence.base import units
from coherence.base.errors import Problem, did_you_mean
from coherence.base.places import Place
from coherence.base.reads import notes_reading
from coherence.base.records import Key, Record
from coherence.base.units import Dimension
from coherence.language.document import Items, Node, Scalar, Table, type_of
from coherence.language.expressions.tree import Tree

T = TypeVar("T")
R = TypeVar("R", bound=Record)
NAME = re.compile(r"[a-z][a-z0-9_]*")
PATH = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
CAPITAL = re.compile(r"(?<!^)([A-Z])")  # of a word in camel case


class Reading:
    """Collects the problems of one document."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.around: list[Mapping[str, Key]] = []  # the keys of the records that hold what is read
        self.resources: frozenset[str] = frozenset()  # names of the components of the document

    def problem(self, place: Place, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(place, message, remedy))


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Reads one node to a T, or reports a problem and gives None; `holds` says in words what it reads."""

    read: Callable[[Node, Reading], T | None]
    schema: Mapping[str, Any]
    holds: str = ""


@notes_reading("text")
@dataclass(frozen=True)
class Word:
    """A text with its place; equal to its text."""

    text: str
    place: Place = field(compare=False)

    def __str__(self) -> str:
        return self.text


@notes_reading("low", "high", "text", "varies")
@dataclass(frozen=True)
class Quantity:
    """An exact value or a range, in SI.  `varies`: a new value each time, not one unknown constant."""

    low: Fraction
    high: Fraction
    dimension: Dimension
    text: str
    place: Place = field(compare=False)
    varies: bool = False

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        return self.text


@notes_reading("tree", "text")
@dataclass(frozen=True)
class Formula:
    """An expression with the text and the place it was read from."""

    tree: Tree
    text: str
    place: Place = field(compare=False)

    @property
    def is_word(self) -> bool:
        """Returns whether it may be a word instead, a name or several with hyphens (`control-plane`)."""
        return re.fullmatch(r"[A-Za-z][\w-]*", self.text.strip()) is not None

    def at(self, span: tuple[int, int]) -> Place:
        """Returns the place of a part of the text (the whole, where the text is quoted or folded)."""
        place = self.place
        if place.line != place.end_line or place.end_column - place.column != len(self.text):
            return place
        return Place(
            place.file, place.line, place.column + span[0], place.line, place.column + max(span[1], span[0] + 1)
        )

    def __str__(self) -> str:
        return self.text


def key(  # noqa: PLR0913  (the facts of a declaration, each by its name)
    kind: Kind[Any],
    name: str = "",
    *,
    means: str,
    without: str = "",
    also: str = "",
    required: bool = False,
    rest: bool = False,
    many: bool = False,
    table: bool = False,
    for_people: bool = False,
) -> Any:
    """Returns a field of a record: its kind, its key where it differs from the field's name, and whether it must stand.

    `means` and `without` are its words: what it says, and what holds where it does not stand.  They are all that the
    schema, `coherence explain` and docs/language.md know of it.  `also` are other words for it, with blanks between:
    whoever writes one is told the key.  An absent field is None; with `many` the empty tuple; with `table` the empty
    dict.  `rest` takes all other keys.  `for_people`: whatever it says, no answer is another.
    """
    absent = tuple if many else dict if table or rest else None
    return Key(
        kind, name, required=required, rest=rest, absent=absent, for_people=for_people, means=means, without=without,
        also=tuple(also.split()),
    )  # fmt: skip


def _key_remedy(name: str, known: Mapping[str, Key], around: Sequence[Mapping[str, Key]] = ()) -> str:
    """Returns what to write instead of a key that is none of those known, nor of those of the records around."""
    if name == "<<":
        return "merge keys are not used: write the keys out"
    if name.isdigit():
        return "write a number without commas, for example 1000"
    first, *parts = name.split(".")
    if parts and first in known:
        nested = units.shorten(": {".join((first, *parts)))
        return f"write its parts within one another: `{nested}: ...{'}' * len(parts)}`"
    inner = next((outer for outer, declared in known.items() if name in _keys_within(declared.kind)), None)
    if inner is not None:
        return f"write it within `{inner}`: `{inner}: {{{name}: ...}}`"
    if (own := key_said_as(name, known)) is not None:
        return f"write `{own}`: {known[own].means}"
    for outer, declared in known.items():
        within = _keys_within(declared.kind)
        if (own := key_said_as(name, within)) is not None:
            return f"write `{outer}: {{{own}: ...}}`: {within[own].means}"
    for depth, outside in reversed([*enumerate(around)]):
        beside = next((key for key, declared in outside.items() if name in _keys_within(declared.kind)), None)
        if name in outside and depth == 0:
            return f"write it at the top of the design, as a section of its own: `{name}: ...`"
        if name in outside:
            return f"write it further out, beside `{next(key for key in outside if key != name)}`"
        if beside is not None:
            return f"it is a key of `{beside}`: `{beside}: {{{name}: ...}}`"
    if section := _section_with(name, around):
        return f"it is a key of what stands under `{section}`: `{section}: {{NAME: {{{name}: ...}}}}`"
    return did_you_mean(name, known)


def key_said_as(word: str, known: Mapping[str, Key]) -> str | None:
    """Returns the key that people also call by a word, however it is spelt: `maxAttempts`, `max-attempts`."""
    plain_word = CAPITAL.sub(r"_\1", word).replace("-", "_").lower()
    return next((name for name, declared in known.items() if plain_word in declared.also), None)


def _keys_within(kind: Kind[Any]) -> Mapping[str, Key]:
    """Returns the keys of the record that a kind reads, or none where it reads something else."""
    schemas = [kind.schema, *kind.schema.get("anyOf", ())]
    return next((schema["record"].keys for schema in schemas if "record" in schema), {})


def _section_with(name: str, around: Sequence[Mapping[str, Key]]) -> str:
    """Returns the section of a design whose entries, by their names, have this key; or nothing."""
    for section, declared in (around[0] if around else {}).items():
        entries = declared.kind.schema.get("additionalProperties", {}).get("record")
        if entries is not None and name in entries.keys and not entries.keys[name].rest:
            return section
    return ""


def read_record(cls: type[R], node: Node, reading: Reading, **fixed: Any) -> R | None:
    """Fills the record from a mapping; `fixed` are fields that do not come from keys (name, place)."""
    if not isinstance(node, Table):
        known = ", ".join(k for k, f in cls.keys.items() if not f.rest)
        reading.problem(
            node.place, f"a mapping expected, {_saw(node)} found", f"write `key: value` with the keys {known}"
        )
        return None
    known_keys: Mapping[str, Key] = cls.keys
    values: dict[str, Any] = dict(fixed)
    rest = next((f for f in known_keys.values() if f.rest), None)
    for name, child in node.entries.items():
        if name in known_keys and not known_keys[name].rest:
            reading.around.append(known_keys)
            _fill(values, known_keys[name], child, reading)
            reading.around.pop()
        elif rest is not None and NAME.fullmatch(name) and not _belongs_outside(name, child, reading):
            values.setdefault(rest.name, {})[name] = rest.kind.read(child, reading)
        else:
            reading.problem(
                node.key_place(name),
                f"unknown key '{units.shorten(name)}'",
                _key_remedy(name, known_keys, reading.around),
            )
    for name, declared in known_keys.items():
        if declared.required and name not in node:
            reading.problem(node.place, f"the key '{name}' is missing", f"add `{name}: ...`")
    _exclude(cls, node, reading)
    if rest is not None:
        values[rest.name] = {k: v for k, v in values.get(rest.name, {}).items() if v is not None}
    return cls(**values)


def _belongs_outside(name: str, child: Node, reading: Reading) -> bool:
    """Decides whether more than a value stands under a key of another record, where any name may have a value."""
    if isinstance(child, Scalar) or (isinstance(child, Table) and list(child.entries) == ["varies"]):
        return False
    return any(name in outside for outside in reading.around) or bool(_section_with(name, reading.around))


def _exclude(cls: type[Record], node: Table, reading: Reading) -> None:
    """Refuses keys of which only one can count, naming both places."""
    given = [name for name in cls.exclusive if name in node]
    if len(given) < 2 or cls.decided_by in node:
        return
    first, *others = given
    for other in others:
        line = node.key_place(first).line
        unless = f", or state `{cls.decided_by}`" if cls.decided_by else ""
        message = f"'{other}' stands beside '{first}' (line {line}): only one of them can count"
        reading.problem(node.key_place(other), message, f"remove one of the two{unless}")


def _fill(values: dict[str, Any], declared: Key, child: Node, reading: Reading) -> None:
    value = declared.kind.read(child, reading)
    if value is not None:
        values[declared.name] = value


def _saw(node: Node) -> str:
    return f"'{units.shorten(node.text)}'" if isinstance(node, Scalar) else type_of[type(node)]


def scalar(node: Node, reading: Reading, wanted: str) -> Scalar | None:
    """Returns the node as a non-empty scalar."""
    if isinstance(node, Scalar) and (node.text or node.quoted):
        return node
    kind = "nothing" if isinstance(node, Scalar) else type_of[type(node)]
    reading.problem(node.place, f"{wanted} expected, {kind} found", "write a value")
    return None


def or_word(kind: Kind[Any], *words: str) -> Kind[Any]:
    """Returns the kind, or one of the words."""

    def read(node: Node, reading: Reading) -> Any:
        if isinstance(node, Scalar) and node.text in words:
            return Word(node.text, node.place)
        return kind.read(node, reading)

    holds = ", ".join([kind.holds, *(f"`{word}`" for word in words)])
    return Kind(read, {"anyOf": [{"enum": list(words)}, dict(kind.schema)]}, " or ".join(holds.rsplit(", ", 1)))


def record(cls: type[R]) -> Kind[R]:
    """Returns a mapping with the keys of the record."""

    def read(node: Node, reading: Reading) -> R | None:
        own = {"place": node.place} if "place" in cls.fields else {}
        return read_record(cls, node, reading, **own)

    return Kind(read, {"record": cls}, "keys of its own")


def mapping(kind: Kind[T], *, names: bool = True, paths: bool = False) -> Kind[dict[str, T]]:
    """Returns a mapping from names (with `paths` also of a thing's value, `db.connections`) to values of one kind."""
    allowed = PATH if paths else NAME

    def read(node: Node, reading: Reading) -> dict[str, T] | None:
        if not isinstance(node, Table):
            reading.problem(node.place, f"a mapping expected, {_saw(node)} found", "write `name: value`")
            return None
        values = {}
        for name, child in node.entries.items():
            if names and not allowed.fullmatch(name):
                reading.problem(
                    node.key_place(name),
                    f"'{units.shorten(name)}' is not a name",
                    "use lower-case letters, digits and _, starting with a letter",
                )
            value = kind.read(child, reading)
            if value is not None:
                values[name] = value
        return values

    return Kind(read, {"type": "object", "additionalProperties": dict(kind.schema)}, f"for each name {kind.holds}")


def named(cls: type[R]) -> Kind[dict[str, R]]:
    """Returns a mapping from names to records that know their name and their place (that of their key)."""

    def read(node: Node, reading: Reading) -> dict[str, R] | None:
        if not isinstance(node, Table):
            reading.problem(node.place, f"a mapping of names expected, {_saw(node)} found", "write `name: {...}`")
            return None
        records = {}
        for name, child in node.entries.items():
            if not NAME.fullmatch(name):
                reading.problem(
                    node.key_place(name),
                    f"'{units.shorten(name)}' is not a name",
                    "use lower-case letters, digits and _, starting with a letter",
                )
                continue
            empty = isinstance(child, Scalar) and child.is_null()
            block = Table({}, {}, node.key_place(name)) if empty else child
            value = read_record(cls, block, reading, name=name, place=node.key_place(name))
            if value is not None:
                records[name] = value
        return records

    return Kind(read, {"type": "object", "additionalProperties": {"record": cls}}, "for each name keys of its own")


def listing(kind: Kind[T], *, or_one: bool = False) -> Kind[tuple[T, ...]]:
    """Returns a list of one kind; with `or_one` a single value stands for a list of one."""

    def read(node: Node, reading: Reading) -> tuple[T, ...] | None:
        if not isinstance(node, Items):
            if or_one:
                single = kind.read(node, reading)
                return None if single is None else (single,)
            item = "{" + ", ".join(f"{key}: ..." for key in [*_keys_within(kind)][:2]) + "}"
            remedy = f"write one `- {item}` for each" if item != "{}" else "write `[a, b]` or one `- item` a line"
            reading.problem(node.place, f"a list expected, {_saw(node)} found", remedy)
            return None
        values = (kind.read(child, reading) for child in node)
        return tuple(value for value in values if value is not None)

    schema: dict[str, Any] = {"type": "array", "items": dict(kind.schema)}
    if or_one:
        return Kind(read, {"anyOf": [schema, dict(kind.schema)]}, f"{kind.holds}, or a list")
    return Kind(read, schema, f"a list: {kind.holds}")


def either(table: Kind[T], other: Kind[Any]) -> Kind[Any]:
    """Returns a mapping read as `table`, anything else as `other`."""
    return Kind(
        lambda node, reading: (table if isinstance(node, Table) else other).read(node, reading),
        {"anyOf": [dict(table.schema), dict(other.schema)]},
        f"{other.holds}, or {table.holds}",
    )
