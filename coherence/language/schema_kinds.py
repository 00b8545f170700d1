"""Declares how a node of the document becomes a typed value, with every problem collected.

A `Kind` reads one node and knows its JSON Schema.  A record is a class whose fields are
made with `key(kind)`; `read_record` fills it, reports unknown, missing and malformed keys all at
once, and keeps the place of everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from coherence.base import number_text, units
from coherence.base.errors import Problem, did_you_mean
from coherence.base.places import Place
from coherence.base.records import Key, Record
from coherence.base.units import ONE, SECOND, Dimension, UnitError
from coherence.language.document import Items, Node, Scalar, Table, type_of
from coherence.language.expressions import ExpressionError, parse
from coherence.language.expressions.tree import Number, Tree

T = TypeVar("T")
R = TypeVar("R", bound=Record)
NAME = re.compile(r"[a-z][a-z0-9_]*")


class Reading:
    """Collects the problems of one document."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def problem(self, place: Place, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(place, message, remedy))


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Reads one node to a T, or reports a problem and gives None."""

    read: Callable[[Node, Reading], T | None]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Word:
    """A text with its place; equal to its text."""

    text: str
    place: Place = field(compare=False)

    def __str__(self) -> str:
        return self.text


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


@dataclass(frozen=True)
class Formula:
    """An expression with the text and the place it was read from."""

    tree: Tree
    text: str
    place: Place = field(compare=False)

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


def key(
    kind: Kind[Any],
    name: str = "",
    *,
    required: bool = False,
    rest: bool = False,
    many: bool = False,
    table: bool = False,
) -> Any:
    """Returns a field of a record: its kind, its key where it differs from the field's name, and whether it must stand.

    An absent field is None; with `many` the empty tuple; with `table` the empty dict.  `rest` takes all other keys.
    """
    return Key(kind, name, required=required, rest=rest, absent=tuple if many else dict if table or rest else None)


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
            _fill(values, known_keys[name], child, reading)
        elif rest is not None and NAME.fullmatch(name):
            values.setdefault(rest.name, {})[name] = rest.kind.read(child, reading)
        else:
            remedy = "merge keys are not used: write the keys out" if name == "<<" else did_you_mean(name, known_keys)
            reading.problem(node.key_place(name), f"unknown key '{units.shorten(name)}'", remedy)
    for name, declared in known_keys.items():
        if declared.required and name not in node:
            reading.problem(node.place, f"the key '{name}' is missing", f"add `{name}: ...`")
    _exclude(cls, node, reading)
    if rest is not None:
        values[rest.name] = {k: v for k, v in values.get(rest.name, {}).items() if v is not None}
    return cls(**values)


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


def _read_text(node: Node, reading: Reading) -> Word | None:
    leaf = scalar(node, reading, "a text")
    return Word(leaf.text, leaf.place) if leaf else None


TEXT: Kind[Word] = Kind(_read_text, {"type": "string"})


def word(*allowed: str) -> Kind[Word]:
    """Returns one of the words given."""

    def read(node: Node, reading: Reading) -> Word | None:
        leaf = scalar(node, reading, f"one of {', '.join(allowed)}")
        if leaf and leaf.text not in allowed:
            reading.problem(
                leaf.place,
                f"'{units.shorten(leaf.text)}' is not one of {', '.join(allowed)}",
                did_you_mean(leaf.text, allowed),
            )
            return None
        return Word(leaf.text, leaf.place) if leaf else None

    return Kind(read, {"enum": list(allowed)})


def _read_name(node: Node, reading: Reading) -> Word | None:
    leaf = scalar(node, reading, "a name")
    if leaf and not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*", leaf.text):
        reading.problem(
            leaf.place,
            f"'{units.shorten(leaf.text)}' is not a name",
            "names are lower-case letters, digits and _, starting with a letter",
        )
        return None
    return Word(leaf.text, leaf.place) if leaf else None


NAME_KIND: Kind[Word] = Kind(_read_name, {"type": "string", "pattern": r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"})


def parse_quantity(
    leaf: Scalar, reading: Reading, dimension: Dimension | None, *, varies: bool = False
) -> Quantity | None:
    """Returns the quantity of `5 s`, `60 s .. 120 s` or `3 .. 20`; None (with a problem) for other text."""
    text = leaf.text.strip()
    if text.startswith("varies:"):
        text, varies = text[len("varies:") :].strip(), True
    ends = text.split("..") if ".." in text else [text]
    if len(ends) > 2:
        reading.problem(leaf.place, f"'{units.shorten(text)}' has more than two ends", "write `a .. b`")
        return None
    try:
        values = [units.quantity(end) for end in ends]
    except UnitError as error:
        reading.problem(leaf.place, str(error), error.remedy)
        return None
    (low, first), (high, last) = values[0], values[-1]
    own = last if low == 0 and first == ONE else first
    if not first.fits(last) and low != 0:
        reading.problem(leaf.place, f"'{text}' mixes {first} and {last}", "give both ends the same unit")
        return None
    if low > high:
        reading.problem(
            leaf.place,
            f"'{text}' is empty: {number_text.render_quantity(low, first)} > {number_text.render_quantity(high, last)}",
            "write the smaller end first",
        )
        return None
    if dimension is not None and not _fits(own, dimension, low, high):
        _mismatch(leaf, reading, own, dimension)
        return None
    return Quantity(low, high, own, text, leaf.place, varies)


def _fits(dimension: Dimension, wanted: Dimension, low: Fraction, high: Fraction) -> bool:
    return dimension.fits(wanted) or low == high == 0


def _mismatch(leaf: Scalar, reading: Reading, dimension: Dimension, wanted: Dimension) -> None:
    example = "500 ms" if wanted == SECOND else f"5 {wanted}"
    if wanted == ONE:
        example = "5 or 20 %"
    reading.problem(
        leaf.place,
        f"'{units.shorten(leaf.text)}' is {dimension}, {wanted if wanted != SECOND else 'a duration'} expected",
        f"write for example {example}",
    )


def quantity(
    dimension: Dimension | None = None,
    *,
    low: Fraction | int | None = None,
    positive: bool = False,
    whole: bool = False,
) -> Kind[Quantity]:
    """Returns a value or range of one dimension (None: any), at least `low`; `{varies: a .. b}` as a mapping too."""

    def read(node: Node, reading: Reading) -> Quantity | None:
        varies = isinstance(node, Table) and list(node.entries) == ["varies"]
        inner = node.entries["varies"] if varies and isinstance(node, Table) else node
        leaf = scalar(inner, reading, "a quantity")
        value = parse_quantity(leaf, reading, dimension, varies=varies) if leaf else None
        if value and low is not None and value.low < low:
            reading.problem(value.place, f"'{value.text}' is below {low}", f"write a value of at least {low}")
            return None
        if value and positive and value.low <= 0:
            reading.problem(value.place, f"'{value.text}' is not above zero", "write a value above zero")
            return None
        if value and whole and any(end.denominator != 1 for end in (value.low, value.high)):
            reading.problem(value.place, f"'{value.text}' is no whole number", "it counts: write for example 3")
            return None
        return value

    return Kind(read, {"type": ["string", "number", "object"]})


def or_word(kind: Kind[Any], *words: str) -> Kind[Any]:
    """Returns the kind, or one of the words."""

    def read(node: Node, reading: Reading) -> Any:
        if isinstance(node, Scalar) and node.text in words:
            return Word(node.text, node.place)
        return kind.read(node, reading)

    return Kind(read, {"anyOf": [{"enum": list(words)}, dict(kind.schema)]})


def formula_of(leaf: Scalar, reading: Reading) -> Formula | None:
    """Returns the expression in a scalar."""
    try:
        return Formula(parse(leaf.text), leaf.text, leaf.place)
    except ExpressionError as error:
        place = Formula(Number(Fraction(0)), leaf.text, leaf.place).at(error.span)
        reading.problem(place, f"{error} in '{units.shorten(leaf.text)}'", error.remedy)
        return None


def _read_formula(node: Node, reading: Reading) -> Formula | None:
    leaf = scalar(node, reading, "an expression")
    return formula_of(leaf, reading) if leaf else None


FORMULA: Kind[Formula] = Kind(_read_formula, {"type": ["string", "number"]})
DURATION = quantity(SECOND, low=0)
PERIOD = quantity(SECOND, positive=True)
ANY_QUANTITY = quantity()
COUNT = quantity(ONE, low=0)
WHOLE = quantity(ONE, low=0, whole=True)


def _read_value(node: Node, reading: Reading) -> Quantity | Formula | Word | None:
    if isinstance(node, Table):
        return ANY_QUANTITY.read(node, reading)
    leaf = scalar(node, reading, "a value")
    if leaf is None:
        return None
    if leaf.text in ("unlimited", "absent", "unset"):
        return Word(leaf.text, leaf.place)
    if ".." in leaf.text or leaf.text.startswith("varies:"):
        return parse_quantity(leaf, reading, None)
    try:
        value, dimension = units.quantity(leaf.text)
        return Quantity(value, value, dimension, leaf.text.strip(), leaf.place)
    except UnitError:
        return formula_of(leaf, reading)


VALUE: Kind[Quantity | Formula | Word] = Kind(_read_value, {"type": ["string", "number", "object"]})


def record(cls: type[R]) -> Kind[R]:
    """Returns a mapping with the keys of the record."""

    def read(node: Node, reading: Reading) -> R | None:
        own = {"place": node.place} if "place" in cls.fields else {}
        return read_record(cls, node, reading, **own)

    return Kind(read, {"record": cls})


def mapping(kind: Kind[T], *, names: bool = True) -> Kind[dict[str, T]]:
    """Returns a mapping from names to values of one kind."""

    def read(node: Node, reading: Reading) -> dict[str, T] | None:
        if not isinstance(node, Table):
            reading.problem(node.place, f"a mapping expected, {_saw(node)} found", "write `name: value`")
            return None
        values = {}
        for name, child in node.entries.items():
            if names and not NAME.fullmatch(name):
                reading.problem(
                    node.key_place(name),
                    f"'{units.shorten(name)}' is not a name",
                    "use lower-case letters, digits and _, starting with a letter",
                )
            value = kind.read(child, reading)
            if value is not None:
                values[name] = value
        return values

    return Kind(read, {"type": "object", "additionalProperties": dict(kind.schema)})


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

    return Kind(read, {"type": "object", "additionalProperties": {"record": cls}})


def listing(kind: Kind[T], *, or_one: bool = False) -> Kind[tuple[T, ...]]:
    """Returns a list of one kind; with `or_one` a single value stands for a list of one."""

    def read(node: Node, reading: Reading) -> tuple[T, ...] | None:
        if not isinstance(node, Items):
            if or_one:
                single = kind.read(node, reading)
                return None if single is None else (single,)
            reading.problem(node.place, f"a list expected, {_saw(node)} found", "write `[a, b]` or one `- item` a line")
            return None
        values = (kind.read(child, reading) for child in node)
        return tuple(value for value in values if value is not None)

    schema: dict[str, Any] = {"type": "array", "items": dict(kind.schema)}
    return Kind(read, {"anyOf": [schema, dict(kind.schema)]} if or_one else schema)


def either(table: Kind[T], other: Kind[Any]) -> Kind[Any]:
    """Returns a mapping read as `table`, anything else as `other`."""
    return Kind(
        lambda node, reading: (table if isinstance(node, Table) else other).read(node, reading),
        {"anyOf": [dict(table.schema), dict(other.schema)]},
    )
